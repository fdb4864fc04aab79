"""The law of the block that one iteration emits, and its distance from the target."""

from collections.abc import Generator, Iterator
from typing import Any

from draftproof.theory.draft import Node
from draftproof.theory.law import Law
from draftproof.theory.rows import Number, Prefix, Row, add, one, scale
from draftproof.theory.table import Rows


class Emission:
    """The law of the emitted block (accepted tokens and the extra one), as masses by stop.

    A stop whose extra token comes from the target's own row is kept as one number, so memory
    grows with the number of distinct stops and not with their words. The numbers may be exact,
    floats or lanes.
    """

    __slots__ = ("bonus", "residual", "stopped", "target")

    def __init__(self, target: Rows):
        self.target = target
        self.bonus: dict[Prefix, Any] = {}
        self.residual: dict[Prefix, Row] = {}
        self.stopped: dict[int, Any] = {}

    def add(self, weight: Number, node: Node, row: Row) -> None:
        """Adds a stop: with probability `weight` at `node`, and then Y ~ row."""
        prefix = node.prefix
        if row is self.target[prefix]:
            self.bonus[prefix] = self.bonus[prefix] + weight if prefix in self.bonus else weight
        else:
            row = scale(weight, row)
            known = self.residual.get(prefix)
            self.residual[prefix] = row if known is None else add(known, row)
        tau = len(prefix)
        self.stopped[tau] = self.stopped[tau] + weight if tau in self.stopped else weight

    @property
    def expected_accepted(self) -> Any:
        """E[tau], the mean number of accepted drafted tokens."""
        zero = self._one * 0
        return sum((mass * tau for tau, mass in self.stopped.items()), zero)

    @property
    def total_variation(self) -> Any:
        """The total variation between the block, completed by the target, and the target's own law."""
        return sum(map(abs, self.differences()), self._one * 0) / 2

    def differences(self) -> Iterator[Any]:
        """By how much each word of the block, completed by the target, is too likely."""
        return (got - want for _, got, want, is_last in self._prefixes() if is_last)

    def wrong_prefix(self, slack: Any = 0) -> tuple[Prefix, Any, Any] | None:
        """The shortest wrong prefix, in the order of token ids: (prefix, got, want); None if the total
        variation is at most `slack`, what rounding may cause.
        """
        wrong = [(len(prefix), prefix, got, want) for prefix, got, want, _ in self._prefixes() if got != want]
        if slack and wrong:
            far = [each for each in wrong if abs(each[2] - each[3]) > slack / 2] or wrong
            wrong = far if self.total_variation > slack else []
        return min(wrong)[1:] if wrong else None

    @property
    def words(self) -> int:
        """The largest number of words that the law can have."""
        return (len(self.bonus) + len(self.residual)) * len(self.target[()])

    def law(self) -> Law:
        """The exact law of the emitted block, without completion."""
        words = [
            ((*prefix, x), mass * share)
            for prefix, mass in self.bonus.items()
            for x, share in enumerate(self.target[prefix])
        ]
        words += [((*prefix, x), mass) for prefix, row in self.residual.items() for x, mass in enumerate(row)]
        return Law(words)

    @property
    def _one(self) -> Any:
        return one(self.target[()])

    def _prefixes(self) -> Iterator[tuple[Prefix, Any, Any, bool]]:
        # (prefix, probability that the completed block starts with it, that of the target, is_last), longer
        # prefixes first. After a last prefix the completed block follows the target.
        inner = set(self.residual)  # prefixes after which the emitted tokens do not simply follow the target
        for prefix in [*self.bonus, *self.residual]:
            while prefix:
                prefix = prefix[:-1]
                if prefix in inner:
                    break
                inner.add(prefix)
        zero = self._one * 0
        yield from self._walk((), self.bonus.get((), zero), self._one, zero, inner)

    def _walk(
        self, prefix: Prefix, got: Any, want: Any, zero: Any, inner: set[Prefix]
    ) -> Generator[tuple[Prefix, Any, Any, bool], None, Any]:
        # Those from this prefix on, `got` of it emitted here; returns the probability that it comes first.
        if prefix in inner:
            p, residual = self.target[prefix], self.residual.get(prefix)
            mass, got = got, zero
            for x in range(len(p)):
                child, part, wanted = (*prefix, x), mass * p[x], want * p[x]
                if residual is not None:
                    part = part + residual[x]
                if (bonus := self.bonus.get(child)) is not None:
                    part = part + bonus
                if child in inner:
                    part = yield from self._walk(child, part, wanted, zero, inner)
                else:
                    yield child, part, wanted, True
                got = got + part
        yield prefix, got, want, prefix not in inner
        return got
