"""The error for wrong input, and how it quotes the input."""

from collections.abc import Iterator
from contextlib import contextmanager
from reprlib import Repr

_brief = Repr()
_brief.maxlevel, _brief.maxstring, _brief.maxlong, _brief.maxother = 2, 40, 40, 40


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
