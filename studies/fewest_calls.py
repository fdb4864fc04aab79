"""The horizon optimum: the fewest calls of the target in which a lossless rule with memory emits N tokens.

The rule knows all rows, and may remember everything. For words c shorter than N, M_c(w) >= 0 is the
probability that a call starts after c and that the text goes on as w, so M_() = p. The call after c splits
M_c by its output o, a drafted prefix and one token: m_{c,o}(w), which becomes a part of M_{co}. The draft D
does not know w:

    sum_o m_{c,o}(w) = M_c(w),   |m_{c,o}| = sum_D F_c(D, o),   sum_o F_c(D, o) = |M_c| Pr(D | c),

and sum_c |M_c| is the expected number of calls. Where several calls lead to the same c, their sum is all that
matters, so the best rule with memory is a function of the text so far. Outputs are cut at N tokens.

`fewest_calls` solves this program in floats. Both its bounds are exact:

* *lower*: let a(c, o) be any price of an output, and e(c) = sum_D Pr(D | c) max over the outputs o of D of
  a(c, o). The calls along a word w cost at least the least, over all ways to cut w, of the sum of
  1 - e(c) + a(c, o): on average over drafts a rule collects no more than e(c). The mean over w ~ p bounds
  the calls of every rule.
* *upper*: an exactly lossless rule near the float solution.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import floor
from typing import Any, TypeAlias

from flint import fmpq

from draftproof.theory.errors import BadInput
from draftproof.theory.law import law_of
from draftproof.theory.numbers import ZERO
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows
from draftproof.theory.transport.block import Drafted
from draftproof.theory.transport.bounds import minimised

Drafts: TypeAlias = Callable[[Prefix], Drafted]
"""Context -> law of the drafted prefixes, relative to it."""

VARIABLES = 200_000
"""Largest number of variables of a program."""

GRID = 2**44
"""Float solutions are rounded to multiples of 1/GRID."""


@dataclass(frozen=True)
class Bounds:
    """A value that lies between two exact rationals. Bounds that leave nothing between them are refused."""

    lower: fmpq
    upper: fmpq

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise AssertionError(f"bounds contradict each other: {self.lower} > {self.upper}")

    @property
    def error(self) -> float:
        return float(self.upper - self.lower)


@dataclass
class Call:
    """One context's call: the masses of the drafts, and the outputs of each."""

    masses: list[fmpq]
    outputs: list[list[Prefix]]

    def collected(self, price: Mapping[Prefix, fmpq]) -> fmpq:
        """e: what a rule collects at most on average, if output o brings price[o]."""
        pairs = zip(self.masses, self.outputs, strict=True)
        return sum((mass * max(price[o] for o in outputs) for mass, outputs in pairs), ZERO)


def call(target: Rows, drafts: Drafts, context: Prefix, longest: int) -> Call:
    """The call after `context`, where outputs have at most `longest` tokens. Drafted prefixes that the target
    cannot emit, or that are too long to matter, are dropped, and drafts that are then equal are merged.
    """
    law: dict[frozenset[Prefix], fmpq] = {}
    possible: dict[Prefix, list[int]] = {}

    def after(u: Prefix) -> list[int]:
        if u not in possible:
            possible[u] = [x for x, mass in enumerate(target[context + u]) if mass > ZERO]
        return possible[u]

    def live(u: Prefix) -> bool:
        return len(u) < longest and all(x in after(u[:i]) for i, x in enumerate(u))

    for prefixes, mass in drafts(context).items():
        kept = frozenset(filter(live, prefixes))
        law[kept] = law.get(kept, ZERO) + mass
    outputs = [sorted((*u, x) for u in prefixes for x in after(u)) for prefixes in law]
    return Call(list(law.values()), outputs)


class Linear:
    """Rows, which are equations, and columns of a linear program, numbered as they are added."""

    def __init__(self) -> None:
        self.cost: list[float] = []
        self.sides: list[float] = []
        self.entries: list[tuple[int, int, float]] = []

    def row(self, side: float = 0.0) -> int:
        self.sides.append(side)
        return len(self.sides) - 1

    def column(self, entries: Iterable[tuple[int, float]], cost: float = 0.0) -> int:
        if len(self.cost) == VARIABLES:
            raise BadInput(f"more than {VARIABLES:,} variables: the drafts or the text are too long")
        self.entries.extend((row, len(self.cost), value) for row, value in entries)
        self.cost.append(cost)
        return len(self.cost) - 1


class Program:
    """The program for the words of `tokens` tokens, solved. `below[c]` are the words that start with c, and
    `calls[c]` is the call after c.
    """

    def __init__(self, target: Rows, drafts: Drafts, tokens: int):
        self.tokens, self.words = tokens, dict(law_of(target, tokens))
        below: dict[Prefix, list[Prefix]] = {}
        for w in self.words:
            for n in range(tokens + 1):
                below.setdefault(w[:n], []).append(w)
        self.below = {c: below[c] for c in sorted(below, key=len)}
        self.calls = {c: call(target, drafts, c, tokens - len(c)) for c in self.below if len(c) < tokens}
        self._solve()

    def _solve(self) -> None:
        lp = Linear()
        at = {
            (c, w): lp.row(0.0 if c else float(self.words[w]))
            for c, words in self.below.items()
            for w in words
        }
        self.flows: dict[tuple[Prefix, Prefix], dict[Prefix, int]] = {}
        self.pairs: dict[tuple[Prefix, Prefix], dict[int, int]] = {}
        priced: dict[tuple[Prefix, Prefix], int] = {}
        for w in self.words:
            lp.column([(at[w, w], 1.0)])
        for c, here in self.calls.items():
            drafted = [lp.row() for _ in here.masses]
            lp.column(((row, -float(mass)) for row, mass in zip(drafted, here.masses, strict=True)), cost=1.0)
            for D, outputs in enumerate(here.outputs):
                for o in outputs:
                    if (c, o) not in priced:
                        row = priced[c, o] = lp.row()
                        self.flows[c, o] = {
                            w: lp.column([(at[c, w], 1.0), (at[c + o, w], -1.0), (row, 1.0)])
                            for w in self.below[c + o]
                        }
                        self.pairs[c, o] = {}
                    self.pairs[c, o][D] = lp.column([(drafted[D], 1.0), (priced[c, o], -1.0)])
        self.x, prices = minimised(lp.cost, lp.entries, lp.sides)
        self.price: dict[Prefix, dict[Prefix, fmpq]] = {c: {} for c in self.calls}
        for (c, o), row in priced.items():
            self.price[c][o] = -rounded(float(prices[row]))

    def lower(self) -> fmpq:
        """The least mean cost of the words at the prices found: no rule needs fewer calls."""
        ahead = {c: dict.fromkeys(words, ZERO) for c, words in self.below.items()}
        for c, here in reversed(self.calls.items()):
            price = self.price[c]
            fixed = 1 - here.collected(price)
            for w in self.below[c]:
                ways = (w[len(c) : n] for n in range(len(c) + 1, self.tokens + 1))
                ahead[c][w] = fixed + min(price[o] + ahead[c + o][w] for o in ways if o in price)
        return sum((mass * ahead[()][w] for w, mass in self.words.items()), ZERO)

    def rule(self) -> tuple[fmpq, dict[Prefix, fmpq]]:
        """(calls, ends) of an exactly lossless rule near the solution; ends[w] is the probability that it
        emits the word w.

        Outputs of two tokens or more get the solution's masses, rounded down until words and drafts have
        them; what is left leaves as single tokens, which every draft may emit.
        """
        calls = ZERO
        masses: dict[Prefix, dict[Prefix, fmpq]] = {(): dict(self.words)}
        for c, here in self.calls.items():
            if not (have := masses.pop(c, {})):
                continue
            K = sum(have.values(), ZERO)
            calls += K
            room = [down(K * mass) for mass in here.masses]
            left = {w: down(mass) for w, mass in have.items()}
            for o in self.price[c]:
                if len(o) == 1:
                    continue
                words = {w: min(left.get(w, ZERO), self._float(i)) for w, i in self.flows[c, o].items()}
                given = {D: min(room[D], self._float(i)) for D, i in self.pairs[c, o].items()}
                most = min(sum(words.values(), ZERO), sum(given.values(), ZERO))
                for D, mass in trimmed(given, most).items():
                    room[D] -= mass
                onward = masses.setdefault(c + o, {})
                for w, mass in trimmed(words, most).items():
                    left[w] = left.get(w, ZERO) - mass
                    have[w] = have.get(w, ZERO) - mass
                    onward[w] = onward.get(w, ZERO) + mass
            for w, mass in have.items():
                onward = masses.setdefault(w[: len(c) + 1], {})
                onward[w] = onward.get(w, ZERO) + mass
        return calls, {w: mass for have in masses.values() for w, mass in have.items() if mass > ZERO}

    def _float(self, column: int) -> fmpq:
        return rounded(max(float(self.x[column]), 0.0))


def rounded(x: float) -> fmpq:
    return fmpq(floor(x * GRID), GRID)


def down(x: fmpq) -> fmpq:
    return fmpq(int((x * GRID).floor()), GRID)


def trimmed(parts: Mapping[Any, fmpq], whole: fmpq) -> dict[Any, fmpq]:
    """The parts >= 0, reduced until they sum to `whole`."""
    over, out = sum(parts.values(), ZERO) - whole, dict[Any, fmpq]()
    for key, part in parts.items():
        less = min(over, part)
        out[key], over = part - less, over - less
    return out


def fewest_calls(target: Rows, drafts: Drafts, tokens: int) -> Bounds:
    """The fewest expected calls of a lossless rule with memory for at least `tokens` tokens.

    >>> from draftproof.theory.table import Table
    >>> p, q = (fmpq(1, 3), fmpq(2, 3)), (fmpq(2, 3), fmpq(1, 3))
    >>> found = fewest_calls(Table(2, {(): p}), lambda c: {frozenset({(), (x,)}): q[x] for x in (0, 1)}, 3)
    >>> round(float(found.lower), 9), found.error < 1e-9
    (2.0, True)
    """
    program = Program(target, drafts, tokens)
    calls, ends = program.rule()
    if ends != program.words:
        raise AssertionError("the rule that bounds the calls from above is not lossless")
    return Bounds(program.lower(), calls)
