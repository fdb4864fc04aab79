"""The most tokens a call in the long run that a lossless rule with memory emits, bounded from both sides.

Rows depend on the last `order` tokens. From below: a rule of the horizon optimum's program that may forget,
that is, start anew, after any word d at which M_d is proportional to p. (Forgetting after every call gives
the optimum without state.) From above: prices a(k, o) after the last tokens k, potentials phi and rewards
psi of windows of the text, those tokens and the next ones, with

    phi(before) - phi(after) + (psi of the windows passed)  <=  1 - e(k) + a(k, o)

for each way on; if psi is at least g on average after all k, then N tokens take at least g N calls, up to a
constant. Both have exact rational certificates.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq

from draftproof.theory.law import law_of
from draftproof.theory.numbers import ZERO
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows
from draftproof.theory.transport.horizon import VARIABLES, Bounds, Drafts, Program, call, rounded
from draftproof.theory.transport.linear import Linear

SIZE = 8_000
"""Flows of the programs that bound the long run."""


def contexts(target: Rows, order: int) -> list[Prefix]:
    """The contexts of `order` tokens that the target can come to."""
    found = dict.fromkeys(law_of(target, order))
    for k in (reached := list(found)):
        for x, mass in enumerate(target[k]):
            longer = (*k, x)[1:] if order else ()
            if mass > ZERO and longer not in found:
                found[longer] = None
                reached.append(longer)
    return reached


@dataclass(frozen=True)
class Cycle:
    """What a rule does from one start to the next: mean calls and tokens, and where it starts then."""

    calls: fmpq
    tokens: fmpq
    then: Mapping[int, fmpq]


def rate(cycles: Sequence[Cycle]) -> Bounds:
    """Tokens a call in the long run, wherever it begins. For any potential h of the starts the least and the
    largest (tokens + mean h after - h) / calls are bounds; h is solved for in floats.

    >>> from draftproof.theory.numbers import ONE
    >>> half = fmpq(1, 2)
    >>> rate([Cycle(ONE, 2 * ONE, {1: ONE}), Cycle(ONE, ONE, {0: half, 1: half})]).lower > fmpq(13, 10)
    True
    """
    size = len(cycles)
    matrix = np.hstack([np.eye(size), np.array([[float(cycle.calls)] for cycle in cycles])])
    for i, cycle in enumerate(cycles):
        for j, mass in cycle.then.items():
            matrix[i, j] -= float(mass)
    solved = np.linalg.lstsq(matrix, np.array([float(cycle.tokens) for cycle in cycles]), rcond=None)[0]
    h = [rounded(x) for x in solved[:-1]]
    ahead = (sum((mass * h[j] for j, mass in cycle.then.items()), cycle.tokens) for cycle in cycles)
    rates = [(gain - h[i]) / cycles[i].calls for i, gain in enumerate(ahead)]
    return Bounds(min(rates), max(rates))


def tokens_a_call(target: Rows, drafts: Drafts, order: int, depth: int) -> Bounds:
    """The most tokens a call in the long run of a lossless rule with memory, for rows that depend on the last
    `order` tokens and drafts of up to `depth`; bounds of programs with about SIZE flows.

    >>> from draftproof.theory.table import Table
    >>> p, q = (fmpq(1, 3), fmpq(2, 3)), (fmpq(2, 3), fmpq(1, 3))
    >>> law = {frozenset({(), (x,)}): q[x] for x in (0, 1)}
    >>> found = tokens_a_call(Table(2, {(): p}), lambda c: law, 0, 1)
    >>> float(found.lower) > 1.777 and float(found.upper) < 1.779
    True
    """
    V, starts = target.vocab, len(contexts(target, order))
    tokens, past, ahead = depth + 1, order, 1
    while starts * V ** (tokens + 1) * (tokens + 1) * (depth + 1) <= SIZE:
        tokens += 1
    while 2 * V ** (past + ahead + depth + 2) * (depth + 1) <= SIZE:
        past, ahead = (past + 1, ahead) if past < ahead else (past, ahead + 1)
    lower = at_least(target, drafts, order, tokens)
    return Bounds(lower, at_most(target, drafts, depth, past, ahead))


def at_least(target: Rows, drafts: Drafts, order: int, tokens: int, once: bool = False) -> fmpq:
    """Tokens a call in the long run that a lossless rule reaches which starts anew within `tokens` tokens;
    with `once`, after every call: the optimum without state. Rows depend on the last `order` tokens.
    """
    program = Program(target, drafts, tokens, contexts(target, order), forget=True, once=once)
    at, cycles = {k: i for i, k in enumerate(program.starts)}, []
    for k in program.starts:
        calls, exits = program.rule(k)
        then = dict.fromkeys(at.values(), ZERO)
        for d, mass in exits.items():
            then[at[(k + d)[len(d) :]]] += mass
        cycles.append(Cycle(calls, sum((mass * len(d) for d, mass in exits.items()), ZERO), then))
    return rate(cycles).lower


def at_most(target: Rows, drafts: Drafts, depth: int, past: int, ahead: int) -> fmpq:
    """A bound on the tokens a call in the long run of every lossless rule, from windows of the last `past`
    and the next `ahead` tokens; rows depend on at most `past` tokens, drafts have up to `depth`.
    """
    lp, size, rules = Linear(VARIABLES), past + ahead, []
    ids: dict[Any, int] = {}

    def column(*name: Any, cost: float = 0.0) -> int:
        return ids[name] if name in ids else ids.setdefault(name, lp.column((), cost, free=True))

    g = column("g", cost=-1.0)
    starts = contexts(target, past)
    words = {k: law_of(target, ahead + depth + 1, k) for k in starts}
    windows = {k: law_of(target, ahead, k) for k in starts}
    here = {k: call(target, drafts, k, depth + 1) for k in starts}

    def bound(terms: Iterable[tuple[int, float]], side: float) -> None:
        row = lp.row(side)
        lp.entries.extend((row, column, value) for column, value in terms)

    for k in starts:
        mean = ((column("psi", k + w), -float(mass)) for w, mass in windows[k].items())
        bound([(g, 1.0), *mean], 0.0)
        e = column("e", k)
        most = [column("most", k, D) for D in range(len(here[k].masses))]
        shares = zip(most, here[k].masses, strict=True)
        bound([(e, -1.0), *((column, float(mass)) for column, mass in shares)], 0.0)
        for column_, outputs in zip(most, here[k].outputs, strict=True):
            for o in outputs:
                bound([(column("a", k, o), 1.0), (column_, -1.0)], 0.0)
        priced = set().union(*here[k].outputs)
        for w in words[k]:
            text = k + w
            for n in range(1, depth + 2):
                if w[:n] in priced:
                    passed = tuple(text[i : i + size] for i in range(n))
                    terms = [(column("phi", text[:size]), 1.0), (column("phi", text[n : n + size]), -1.0)]
                    terms += [(column("psi", window), 1.0) for window in passed]
                    bound([*terms, (e, 1.0), (column("a", k, w[:n]), -1.0)], 1.0)
                    rules.append((k, w[:n], text[:size], text[n : n + size], passed))
    x, _ = lp.solve(inequality=True)
    value = {name: rounded(float(x[i])) for name, i in ids.items()}
    collected = {
        k: each.collected({o: value["a", k, o] for o in set().union(*each.outputs)})
        for k, each in here.items()
    }
    worst = max(
        value["phi", before]
        - value["phi", after]
        + sum((value["psi", each] for each in passed), ZERO)
        + collected[k]
        - value["a", k, o]
        for k, o, before, after, passed in rules
    )
    least = min(sum((mass * value["psi", k + w] for w, mass in windows[k].items()), ZERO) for k in starts)
    return max(worst, ZERO) / least
