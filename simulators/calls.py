"""Target calls over many iterations: what a verifier needs, with or without state, beside the horizon optimum.

A state of decoding is what later calls depend on: the last tokens, and the target's rows ahead that a stopped
block has modified. Equal states are merged, so a verifier without state has one for each context.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from heapq import heappop, heappush
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq
from scipy.sparse import csr_array

from draftproof.simulators.enumerate import iteration, outcomes
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.modified_target import Replaced
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix, Row, one
from draftproof.theory.table import Rows
from draftproof.theory.transport import horizon
from draftproof.theory.transport.block import Drafted, merged
from draftproof.theory.verifier import Verifier

State: TypeAlias = tuple[Prefix, tuple[tuple[Prefix, Row], ...]]
"""The last tokens, and modified rows after words that may follow them."""

FEW, STATES = 100, 1_000
"""Most states of a verifier for exact bounds of its long run, and for an estimate, which leaves others out."""

STEPS = 2_000


def order(instance: Instance) -> int:
    """The number of last tokens on which rows depend."""
    tables = instance.target, instance.proposal
    return max(len(prefix) for table in tables for prefix, _ in table.given())


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
        found, closed = self._reached(few := min(states, FEW))
        if not closed and self.exact:
            return Calls(self.instance.floats(), self.verifier).long_run(states)
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
            for _ in range(STEPS):
                visits = (visits + visits @ P) / 2  # the lazy chain has no periods
            return LongRun(float(visits @ gain), None)
        # gain + P h - h is the rate everywhere for one h; for any h its least and largest values are bounds.
        matrix = np.hstack([np.eye(len(found)) - P.toarray(), np.ones((len(found), 1))])
        *solved, rate = np.linalg.lstsq(matrix, gain, rcond=None)[0]
        h = [horizon.rounded(x) for x in solved]
        rates = [
            sum((mass * (n + h[at[then]]) for (n, then), mass in self.after(state).items()), -h[i])
            for i, state in enumerate(found)
        ]
        return LongRun(float(rate), horizon.Bounds(min(rates), max(rates)))

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
