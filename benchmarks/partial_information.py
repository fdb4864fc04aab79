"""The partial-information optimum, which two benchmarks measure: rows are seen only on the drafted tree.

A verifier reads p and q at the drafted prefixes, and must be valid for any rows elsewhere. Each completion of
the tables has the program of `draftproof.theory.transport.bounds`; all completions that agree on the rows
that D shows share the masses f(D, o). The result depends on the completions' weights:

* With all weight on the true completion, partial information costs nothing. A rule can *guess* the hidden
  rows and follow the optimal rule for the guess; if a drafted node shows other rows than guessed, it redraws
  the subtree below from the guess and cuts the output there. That is valid for every completion.
* With weight on many completions one plan must serve them all. The value is at most the weighted mean of
  their stateless optima; the difference is the cost of not seeing the rows.

On chains block verification is optimal in every completion at once, so both values are its E[tau].
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

import numpy as np
from flint import fmpq

from draftproof.simulators.laws.enumerate import drafts
from draftproof.theory.draft import Draft
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ZERO
from draftproof.theory.rows import Prefix, Row, point
from draftproof.theory.table import Rows, Table
from draftproof.theory.transport.block import drafted
from draftproof.theory.transport.bounds import VARIABLES, Output, Program
from draftproof.theory.transport.linear import Linear

COMPLETIONS = 5000
"""Largest number of completions in a family."""

Seen: TypeAlias = tuple[frozenset[Prefix], object]
"""The drafted prefixes, and the rows that are seen there."""


def completions(
    instance: Instance, choices: Sequence[tuple[Row | None, Row | None]] | None = None
) -> list[Instance]:
    """The instance, and copies with other rows at the prefixes that some drafts contain and others do not.

    `choices` are pairs (target row, proposal row), with None for the instance's own row. By default the
    target row is one-hot on each token in turn. Raises BadInput for more than COMPLETIONS.
    """
    prefixes = [drafted(draft.root) for _, draft in drafts(instance)]
    sometimes = frozenset.union(*prefixes) - frozenset.intersection(*prefixes)
    hidden = sorted(prefix for prefix in sometimes if len(prefix) < instance.draft.depth)
    if choices is None:
        like = instance.target[()]
        choices = [(point(x, like), None) for x in range(len(like))]
    options = [(None, None), *choices]
    if (count := len(options) ** len(hidden)) > COMPLETIONS:
        raise BadInput(f"{count} completions; at most {COMPLETIONS} make a family")
    found: dict[tuple[Table, Table], None] = {}
    for picks in product(options, repeat=len(hidden)):
        p = {at: row for at, (row, _) in zip(hidden, picks, strict=True) if row is not None}
        q = {at: row for at, (_, row) in zip(hidden, picks, strict=True) if row is not None}
        tables = (instance.target, p), (instance.proposal, q)
        found.setdefault(tuple(_replaced(table, hidden, rows) for table, rows in tables))  # type: ignore[arg-type]
    return [Instance(p, q, instance.draft, instance.name) for p, q in found]


def partial_information(family: Sequence[Instance], weights: Sequence[fmpq] | None = None) -> float:
    """The optimum of verifiers that see only the rows on the drafted tree and are valid on the whole family,
    from HiGHS in floats.

    `weights` are the instances' weights in the mean of E[tau]; by default all are equal.
    """
    lp, seen = Linear(VARIABLES), dict[Seen, Shared]()
    inner: set[Prefix] = set()
    for instance, weight in zip(family, weights or [fmpq(1, len(family))] * len(family), strict=True):
        law = visible(drafts(instance), instance.target)
        program = Program(instance.target, {prefixes: mass for (prefixes, _), mass in law.items()})
        inner = inner or program.inner
        assert program.inner == inner, "the completions draft prefixes of different lengths"
        rows = program.balanced(lp)
        for key, mass in law.items():
            if key not in seen:
                seen[key] = Shared(lp.row(float(mass)), program.outputs[key[0]])
            seen[key].weight += float(weight)
            seen[key].rows.append(rows)
    for each in seen.values():
        for o in each.outputs:
            ends = [(rows[o.end], 1.0) for rows in each.rows]
            lp.column([(each.row, 1.0), *ends], -each.weight * o.accepted)
    return -float(np.dot(lp.cost, lp.solve()[0]))


@dataclass
class Shared:
    """What completions share that show the same rows: the row of the draft's mass, the outputs, the weight of
    these completions, and the rows of each one's target.
    """

    row: int
    outputs: list[Output]
    weight: float = 0.0
    rows: list[dict[Prefix, int]] = field(default_factory=list)


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


def _replaced(table: Table, contexts: Sequence[Prefix], rows: dict[Prefix, Row]) -> Table:
    # Every context gets its own row, so that none is reached through a replaced shorter suffix.
    return Table(table.vocab, {**dict(table.given()), **{at: table[at] for at in contexts}, **rows})
