"""The partial-information optimum: the verifier sees rows only on the drafted tree.

A verifier reads p and q at the drafted prefixes, and must be valid for any rows elsewhere. One scenario of
`bounds` is one completion of the tables; all completions that agree on the rows that D shows share the masses
f(D, o). The result depends on the completions' weights:

* With all weight on the true completion, partial information costs nothing. A rule can *guess* the hidden
  rows and follow the optimal rule for the guess; if a drafted node shows other rows than guessed, it redraws
  the subtree below from the guess and cuts the output there. That is valid for every completion.
* With weight on many completions one plan must serve them all. The value is at most the weighted mean of
  their stateless optima; the difference is the cost of not seeing the rows.

On chains block verification is optimal in every completion at once, so both values are its E[tau].
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TypeAlias

from flint import fmpq

from draftproof.theory.draft import Draft
from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import ZERO
from draftproof.theory.rows import Prefix, Row, point
from draftproof.theory.table import Rows, Table
from draftproof.theory.transport.block import drafted
from draftproof.theory.transport.bounds import Optimum, Scenario, Seen, optimum

Completion: TypeAlias = tuple[Table, Table]
"""A target and a proposal that agree with the true ones on the drafted tree."""

SCENARIOS = 5000
"""Largest number of completions in a family."""


def partial(
    scenarios: Sequence[tuple[Iterable[tuple[fmpq, Draft]], Rows]],
    weights: Sequence[fmpq],
    context: Prefix = (),
) -> Optimum:
    """The optimum of the weighted E[tau] over the completions, given as (drafts, target)."""
    pairs = zip(scenarios, weights, strict=True)
    return optimum([Scenario(p, visible(drafts, p), weight) for (drafts, p), weight in pairs], context)


def visible(drafts: Iterable[tuple[fmpq, Draft]], target: Rows) -> dict[Seen, fmpq]:
    """The law of the observation: the drafted prefixes, and p and q at those with drafted children.

    The target's rows at the leaves are also seen but make no difference: only the extra token uses them.
    """
    law: dict[Seen, fmpq] = {}
    for mass, draft in drafts:
        if mass > ZERO:
            rows = {node.prefix: (target[node.prefix], node.proposal) for node in draft.root if node.children}
            seen = drafted(draft.root), tuple(sorted(rows.items(), key=lambda item: item[0]))
            law[seen] = law.get(seen, ZERO) + mass
    return law


def completions(
    target: Table,
    proposal: Table,
    contexts: Sequence[Prefix],
    choices: Sequence[tuple[Row | None, Row | None]],
) -> Iterator[Completion]:
    """The tables themselves, then every way to replace rows at `contexts` by `choices`.

    A choice is a pair (target row, proposal row), None for the true one. Raises BadInput when
    there would be more than SCENARIOS.

    >>> p, q = Table.exact(2, {(): [1, 0]}), Table.exact(2, {(): ["1/2", "1/2"]})
    >>> [a[(1,)] for a, _ in completions(p, q, [(0,), (1,)], points(p[()]))][:3]
    [(1, 0), (0, 1), (1, 0)]
    """
    options = [(None, None), *choices]
    if (count := len(options) ** len(contexts)) > SCENARIOS:
        raise BadInput(f"{count} completions; at most {SCENARIOS} make a family")
    found: dict[Completion, None] = {}
    for picks in product(options, repeat=len(contexts)):
        p = {at: row for at, (row, _) in zip(contexts, picks, strict=True) if row is not None}
        q = {at: row for at, (_, row) in zip(contexts, picks, strict=True) if row is not None}
        found.setdefault((_replaced(target, contexts, p), _replaced(proposal, contexts, q)))
    yield from found


def points(like: Row) -> list[tuple[Row | None, Row | None]]:
    """The choices that make the target row one-hot, on each token in turn, and keep the proposal."""
    return [(point(x, like), None) for x in range(len(like))]


def _replaced(table: Table, contexts: Sequence[Prefix], rows: dict[Prefix, Row]) -> Table:
    # Every context gets its own row, so that none is reached through a replaced shorter suffix.
    return Table(table.vocab, {**dict(table.given()), **{at: table[at] for at in contexts}, **rows})
