"""Exact laws of words, which are compared with `==`, never with a tolerance."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from flint import fmpq

from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import ONE, ZERO, Exact, text
from draftproof.theory.rows import Prefix, above, possible
from draftproof.theory.shared.reportable import Reportable, spelled
from draftproof.theory.table import Rows

WORDS = 250_000
"""Largest number of words of a model's own law."""


class Law(Mapping[Prefix, fmpq], Reportable):
    """An immutable exact law over words (tuples of token ids); words of mass 0 are not kept.

    Raises TypeError for a mass that is not an exact rational, BadInput for a negative one.

    >>> law = Law({(0, 1): fmpq(1, 3), (1,): fmpq(2, 3), (2,): fmpq(0)})
    >>> law[(0, 1)], len(law), law.total
    (1/3, 2, 1)
    """

    __slots__ = ("_mass",)

    def __init__(self, mass: Mapping[Prefix, fmpq] | Iterable[tuple[Prefix, fmpq]]):
        items: Iterable[tuple[Prefix, fmpq]] = mass.items() if isinstance(mass, Mapping) else mass  # type: ignore[assignment]
        kept: dict[Prefix, fmpq] = {}
        for word, weight in items:
            if not isinstance(weight, fmpq):
                raise TypeError(f"mass of {word} is {type(weight).__name__}, not an exact rational")
            if weight:
                if not above(weight):
                    raise BadInput(f"mass of {word} is negative: {weight}")
                kept[word] = kept.get(word, ZERO) + weight
        self._mass = dict(sorted(kept.items()))

    def __getitem__(self, word: Prefix) -> fmpq:
        return self._mass.get(word, ZERO)

    def __contains__(self, word: object) -> bool:
        return word in self._mass

    def __iter__(self) -> Iterator[Prefix]:
        return iter(self._mass)

    def __len__(self) -> int:
        return len(self._mass)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Law) and self._mass == other._mass

    def __hash__(self) -> int:
        return hash(tuple(self._mass))

    def __str__(self) -> str:
        inside = ", ".join(f"{spelled(word)!r}: {mass}" for word, mass in islice(self._mass.items(), 12))
        more = f", and {len(self) - 12} words more" if len(self) > 12 else ""
        return f"of {len(self)} words: {inside}{more}"

    def to_dict(self) -> dict[str, Exact]:
        """Words, as token ids joined by blanks, with their masses."""
        return {spelled(word): text(mass) for word, mass in self._mass.items()}

    def rows(self) -> list[dict[str, Exact | str]]:
        return [{"tokens": word, "probability": mass} for word, mass in self.to_dict().items()]

    @property
    def total(self) -> fmpq:
        """The whole mass: 1 for a probability law."""
        return sum(self._mass.values(), ZERO)

    def map(self, function: Callable[[Prefix], Prefix]) -> "Law":
        """The law of function(word)."""
        return Law((function(word), mass) for word, mass in self._mass.items())

    def marginal(self, length: int) -> "Law":
        """The law of the first `length` tokens (all of a shorter word)."""
        return self.map(lambda word: word[:length])

    def complete(self, target: Rows, length: int) -> "Law":
        """The law after the target has continued every shorter word to `length` tokens."""
        words = (continued(word, mass, target, length) for word, mass in self._mass.items())
        return Law(pair for longer in words for pair in longer)

    def total_variation(self, other: "Law") -> fmpq:
        """Half the sum of absolute differences: the largest difference on any event.

        >>> Law({(0,): ONE}).total_variation(Law({(0,): fmpq(1, 4), (1,): fmpq(3, 4)}))
        3/4
        """
        words = self._mass.keys() | other._mass.keys()
        return sum((abs(self[word] - other[word]) for word in words), ZERO) / 2


def continued(
    word: Prefix, mass: Any, target: Rows, length: int, check: Callable[..., object] = lambda *_: None
) -> list[tuple[Prefix, Any]]:
    """The words of `length` tokens by which the target continues `word`, with their masses, in any numbers.
    `check` is called with each prefix on the way, its mass and its row. BadInput for more than WORDS words.
    """
    words = [(word, mass)]
    for _ in range(len(word), length):
        for word, mass in words:
            check(word, mass, target[word])
        words = [
            ((*word, token), mass * share)
            for word, mass in words
            for token, share in enumerate(target[word])
            if possible(share)
        ]
        if len(words) > WORDS:
            raise BadInput(f"the target has more than {WORDS:,} words of {length} tokens: no law is computed")
    return words


def law_of(target: Rows, length: int, context: Prefix = ()) -> Law:
    """The target's own law of the words of `length` tokens that follow a context: p(x_1 .. x_length). Raises
    BadInput for more than WORDS words.

    >>> from draftproof.theory.table import Table
    >>> law_of(Table.exact(2, {(): ["1/3", "2/3"]}), 2)[(1, 1)]
    4/9
    """
    words = continued(context, ONE, target, len(context) + length)
    return Law((word[len(context) :], mass) for word, mass in words)


def first_difference(got: Law, want: Law, slack: fmpq = ZERO) -> tuple[Prefix, fmpq, fmpq] | None:
    """The shortest prefix (then the first by token ids) of unequal probability: (prefix, got, want).

    Both are laws of words of one length; None when they are equal, or their total variation is at most
    `slack`, what rounding may cause.
    """
    if got == want or (slack and got.total_variation(want) <= slack):
        return None
    longest = max(map(len, (*got, *want)), default=0)
    for length in range(longest + 1):
        a, b = got.marginal(length), want.marginal(length)
        for prefix in sorted(a.keys() | b.keys()):
            if abs(a[prefix] - b[prefix]) > slack / 2:
                return prefix, a[prefix], b[prefix]
    return first_difference(got, want) if slack else None
