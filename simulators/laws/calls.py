"""Calls of the target over many iterations: what a verifier needs, with its state, and the horizon optimum.

A state of decoding is what later calls depend on: the last tokens, and the target's rows ahead that a stopped
block has modified. Equal states are merged, so a verifier without state has one for each context.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from heapq import heappop, heappush
from itertools import product
from typing import TypeAlias

import numpy as np
from flint import fmpq
from scipy.sparse import csr_array

from draftproof.simulators.laws.enumerate import Invalid, iteration, outcomes
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix, Row, one
from draftproof.theory.table import Rows, Table
from draftproof.theory.transport import horizon, long_run
from draftproof.theory.transport.block import Drafted, merged
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers.shared.modified_target import Replaced

State: TypeAlias = tuple[Prefix, tuple[tuple[Prefix, Row], ...]]
"""The last tokens, and modified rows after words that may follow them."""

FEW, STATES = 100, 1_000
"""Most states for exact bounds of a verifier's long run, and for an estimate, which leaves others out."""

STEPS = 100_000


INDEPENDENT = "chain", "paths", "tree with replacement"
"""Kinds of draft in which tokens of equal p/q may be merged; all others draw such siblings differently."""


def order(instance: Instance) -> int:
    """The number of last tokens on which rows depend.

    >>> from draftproof.simulators.instances.scenarios import scenario
    >>> from draftproof.theory.drafts.chain import Chain
    >>> order(scenario("toy", Chain(2)))
    0
    """
    given = [(table, u) for table in (instance.target, instance.proposal) for u, _ in table.given()]
    longest = max(len(u) for _, u in given)
    same = (
        k for k in range(longest) if all(table[u] == table[u[max(len(u) - k, 0) :]] for table, u in given)
    )
    return next(same, longest)


def merged_tokens(instance: Instance) -> Instance:
    """The instance with tokens merged if they have equal p/q in every context and equal rows after them. Its
    horizon optimum is the same: a rule can draw the token from p, given the merged one.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.instance import context_free
    >>> merged_tokens(context_free(["1/2", "1/6", "1/3"], ["1/4", "1/4", "1/2"], Chain(1))).target[()]
    (1/2, 1/2)
    """
    tables, V = (instance.target, instance.proposal), instance.vocab
    words = [word for n in range(order(instance) + 1) for word in product(range(V), repeat=n)]

    def alike(a: int, b: int) -> bool:
        for word in words:
            p, q = (table[word] for table in tables)
            if p[a] * q[b] != p[b] * q[a]:
                return False
            named = tuple(a if x == b else x for x in word)
            if (p, q) != tuple(table[named] for table in tables):
                return False
        return True

    groups: list[list[int]] = []
    for x in range(V):
        for group in groups:
            if alike(group[0], x):
                group.append(x)
                break
        else:
            groups.append([x])
    if len(groups) == V or instance.draft.label not in INDEPENDENT:
        return instance

    def table(rows: Table) -> Table:
        kept = [word for n in range(order(instance) + 1) for word in product(range(len(groups)), repeat=n)]
        of = {word: rows[tuple(groups[i][0] for i in word)] for word in kept}
        sums = {
            word: tuple(sum((row[x] for x in group), ZERO) for group in groups) for word, row in of.items()
        }
        return Table(len(groups), sums)

    return Instance(table(instance.target), table(instance.proposal), instance.draft, instance.name)


class Calls:
    """The calls of one verifier on an instance, as a Markov chain of states."""

    def __init__(self, instance: Instance, verifier: Verifier):
        self.instance, self.verifier, self.order = instance, verifier, order(instance)
        self.one = one(instance.target[()])
        self.exact = isinstance(self.one, fmpq)
        self.after = cache(self._after)
        self.expected = cache(self._expected)

    def _after(self, state: State) -> dict[tuple[int, State], fmpq]:
        # (tokens emitted, the next state) -> probability, of one call.
        context, rows = state
        base = self.instance.target
        target: Rows = Replaced(base, {context + u: row for u, row in rows}) if rows else base
        out: dict[tuple[int, State], fmpq] = {}
        scheme, proposal = self.instance.draft, self.instance.proposal
        for mass, draft, node, row in iteration(
            scheme, proposal, self.verifier, target, context=context, start=self.one
        ):
            carry = self.verifier.carry
            following = target if carry is None else carry(target, proposal, draft, node)
            for token, part in enumerate(row):
                if part > 0:
                    text = (*node.prefix, token)
                    key = len(text) - len(context), self._state(text, following)
                    out[key] = out.get(key, 0) + mass * part
        return out

    def _state(self, text: Prefix, following: Rows) -> State:
        base, changed = self.instance.target, dict[Prefix, Row]()
        reached = [text] if following is not base else []
        for prefix in reached:
            if (row := following[prefix]) != base[prefix]:
                changed[prefix[len(text) :]] = row if self.exact else tuple([round(x, 10) for x in row])
            if len(prefix) < len(text) + self.instance.draft.depth - 1:
                reached.extend((*prefix, x) for x, mass in enumerate(row) if mass > 0)
        return text[max(len(text) - self.order, 0) :], tuple(changed.items())

    def _expected(self, tokens: int, state: State = ((), ())) -> fmpq:
        """The expected calls for at least `tokens` tokens, exact."""
        if tokens <= 0:
            return ZERO
        ways = self.after(state).items()
        return ONE + sum((mass * self.expected(tokens - n, then) for (n, then), mass in ways), ZERO)

    def long_run(self, states: int = STATES) -> "LongRun":
        """Tokens a call in the long run: with exact bounds where there are few states, else an estimate."""
        few = min(states, FEW if self.verifier.carry is None else FEW // 5)
        if self.exact:
            rough = Calls(self.instance.floats(), self.verifier)
            # The rationals of many modified rows are long, so these are counted in floats.
            counted = self if self.verifier.carry is None else rough
            if not counted._reached(few)[1]:
                return rough.long_run(states)
        found, closed = self._reached(few)
        if not closed and states > few:
            found, closed = self._reached(states)
        at, rows, columns, values = {state: i for i, state in enumerate(found)}, [], [], []
        gain = np.zeros(len(found))
        for i, state in enumerate(found):
            for (n, then), mass in self.after(state).items():
                rows.append(i)
                columns.append(at.get(then, at.get((then[0], ()), 0)))
                values.append(float(mass))
                gain[i] += n * float(mass)
        P = csr_array((values, (rows, columns)), shape=(len(found), len(found)))
        if not (closed and self.exact):
            visits = np.eye(1, len(found))[0]
            P = P.multiply(1 / P.sum(axis=1)[:, None]).tocsr()  # rows of floats were rounded
            for step in range(STEPS):
                visits = (visits + (after := visits @ P)) / 2  # the lazy chain has no periods
                if step % 100 == 0 and np.abs(after - visits).max() < 1e-12:
                    break
            return LongRun(float(visits @ gain), None)
        cycles = []
        for state in found:
            tokens, then = ZERO, dict[int, fmpq]()
            for (n, following), mass in self.after(state).items():
                tokens += n * mass
                then[at[following]] = then.get(at[following], ZERO) + mass
            cycles.append(long_run.Cycle(ONE, tokens, then))
        bounds = long_run.rate(cycles)
        return LongRun(float(bounds.lower), bounds)

    def _reached(self, most: int) -> tuple[list[State], bool]:
        # Up to `most` states, more probable ones first, and whether these are all.
        found: dict[State, None] = {}
        heap: list[tuple[float, int, State]] = [(-1.0, 0, ((), ()))]
        while heap and len(found) < most:
            chance, _, state = heappop(heap)
            if state not in found:
                found[state] = None
                for (_, then), mass in self.after(state).items():
                    if then not in found:
                        heappush(heap, (chance * float(mass), len(heap) + len(found) * 1000, then))
        return list(found), all(state in found for _, _, state in heap)


@dataclass(frozen=True)
class LongRun:
    """Tokens a call in the long run: the value, which is an estimate if it has no exact bounds."""

    value: float
    bounds: horizon.Bounds | None


def drafts(instance: Instance) -> horizon.Drafts:
    """The law of the drafted prefixes after a context, relative to it."""
    scheme, q, depends = instance.draft, instance.proposal, order(instance)

    @cache
    def law(context: Prefix) -> Drafted:
        found = merged(outcomes(lambda oracle: scheme.draw(oracle, q, context), ONE))
        return {frozenset(prefix[len(context) :] for prefix in seen): mass for seen, mass in found.items()}

    return lambda context: law(context[max(len(context) - depends, 0) :])


@dataclass(frozen=True)
class CallsGap:
    """Expected calls of the target for `tokens` tokens, and tokens a call in the long run, by verifier; and
    the certified optima of both. `invalid` says why a verifier has neither."""

    instance: Instance
    tokens: int
    calls: dict[str, fmpq]
    long_run: dict[str, LongRun]
    fewest: horizon.Bounds
    most: horizon.Bounds
    invalid: Mapping[str, str] = field(default_factory=dict)


def measure_calls(
    instance: Instance,
    verifiers: Sequence[Verifier],
    tokens: int,
    progress: Callable[[str], object] = lambda name: None,
) -> CallsGap:
    """Raises BadInput when the horizon optimum has too many variables."""
    progress("the horizon optimum")
    small = merged_tokens(instance)
    fewest = horizon.fewest_calls(small.target, drafts(small), tokens)
    most = long_run.tokens_a_call(small.target, drafts(small), order(small), small.draft.depth)
    calls, runs, invalid = dict[str, fmpq](), dict[str, LongRun](), dict[str, str]()
    for verifier in verifiers:
        progress(verifier.name)
        chain = Calls(instance, verifier)
        try:
            calls[verifier.name], runs[verifier.name] = chain.expected(tokens), chain.long_run()
        except Invalid as error:
            invalid[verifier.name] = str(error)
    return CallsGap(instance, tokens, calls, runs, fewest, most, invalid)
