"""Calls of the target for a number of tokens: what a verifier needs, with its state, and the horizon optimum.

A state of decoding is what later calls depend on: the last tokens, and the target's rows ahead that a stopped
block has modified. Equal states are merged, so a verifier without state has one for each context.
"""

from functools import cache
from itertools import product
from typing import TypeAlias

from flint import fmpq

from draftproof.simulators.laws.enumerate import iteration, outcomes
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix, Row, one
from draftproof.theory.table import Rows, Table
from draftproof.theory.transport.block import Drafted, merged
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers.shared.modified_target import Replaced
from studies.fewest_calls import Bounds, Drafts, fewest_calls

State: TypeAlias = tuple[Prefix, tuple[tuple[Prefix, Row], ...]]
"""The last tokens, and modified rows after words that may follow them."""

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


def drafts(instance: Instance) -> Drafts:
    """The law of the drafted prefixes after a context, relative to it."""
    scheme, q, depends = instance.draft, instance.proposal, order(instance)

    @cache
    def law(context: Prefix) -> Drafted:
        found = merged(outcomes(lambda oracle: scheme.draw(oracle, q, context), ONE))
        return {frozenset(prefix[len(context) :] for prefix in seen): mass for seen, mass in found.items()}

    return lambda context: law(context[max(len(context) - depends, 0) :])


def fewest(instance: Instance, tokens: int) -> Bounds:
    """Certified bounds of the fewest expected calls for `tokens` tokens of any lossless rule, with memory or
    without. Raises BadInput when the program has too many variables.

    >>> from draftproof.simulators.instances.scenarios import scenario
    >>> from draftproof.theory.drafts.chain import Chain
    >>> round(float(fewest(scenario("toy", Chain(2)), 9).lower), 4)
    4.2088
    """
    small = merged_tokens(instance)
    return fewest_calls(small.target, drafts(small), tokens)
