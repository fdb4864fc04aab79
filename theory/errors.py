"""The error for wrong input, and how it quotes the input."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from math import inf
from reprlib import Repr

_brief = Repr()
_brief.maxlevel, _brief.maxstring, _brief.maxlong, _brief.maxother = 2, 40, 40, 40


MOST = 60
"""Most names that an error line lists."""


class BadInput(ValueError):
    """Input that cannot be used, explained in one line that names the place and the fault.

    Commands print the line and leave with status 2.

    >>> raise BadInput("toy.json: target row '0': sums to 9/10, not 1")
    Traceback (most recent call last):
    draftproof.theory.errors.BadInput: toy.json: target row '0': sums to 9/10, not 1
    """


def quoted(value: object) -> str:
    """A short printable form of a value for an error line, however large or deep the value is.

    >>> quoted("a\\nb"), quoted([[[[]]]])
    ("'a\\\\nb'", '[[[...]]]')
    """
    return _brief.repr(value)


def printable(text: str) -> str:
    """The text with control characters spelled out: names may hold the escapes of a terminal.

    >>> printable("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    return "".join(x if x.isprintable() else ascii(x)[1:-1] for x in text)


def whole(name: str, value: object, least: int, most: float = inf) -> int:
    """The value. Raises BadInput unless it is a whole number of that range.

    >>> whole("depth", True, 1)
    Traceback (most recent call last):
    draftproof.theory.errors.BadInput: depth must be a whole number from 1, not True
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        end = "" if most == inf else f" to {most}"
        raise BadInput(f"{name} must be a whole number from {least}{end}, not {quoted(value)}")
    return value


def unknown(what: str, name: object, known: Iterable[str]) -> BadInput:
    """The error for a name that nothing has: the names most like it, else all if they are few.

    >>> print(unknown("verifier", "blok", ["block", "token"]))
    no verifier is named 'blok'; did you mean block?
    >>> print(unknown("verifier", "x", ["block", "token"]))
    no verifier is named 'x'; there are block, token
    """
    names = list(known)
    like = get_close_matches(name, names) if isinstance(name, str) else []
    there = ", ".join(names) if len(names) <= MOST else f"{len(names)} others"
    hint = f"did you mean {' or '.join(like)}?" if like else f"there are {there}"
    return BadInput(f"no {what} is named {quoted(name)}; {hint}")


@contextmanager
def extra(name: str) -> Iterator[None]:
    """BadInput that names the extra to install for a package that is absent; other faults stay."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "draftproof").partition(".")[0] == "draftproof":
            raise
        raise BadInput(f"{name} needs {error.name}: pip install 'draftproof[{name}]'") from None


@contextmanager
def located(place: object) -> Iterator[None]:
    """Puts the place before the line of a BadInput that is raised inside.

    >>> with located("toy.json"):
    ...     raise BadInput("is empty")
    Traceback (most recent call last):
    draftproof.theory.errors.BadInput: toy.json: is empty
    """
    try:
        yield
    except BadInput as error:
        raise BadInput(f"{place}: {error}") from None
