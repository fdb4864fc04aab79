"""The exact law of a rounded verifier, its rates and rows read back as dyadic rationals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from flint import fmpq

from draftproof.gpu.checks.against_exact.drafts import Drafted, batch, every, from_leaf_to_root
from draftproof.gpu.checks.against_exact.rounding import STEPS, UNIT, rates_and_rows
from draftproof.gpu.verify import Verifier
from draftproof.gpu.verify.verifier import widened
from draftproof.simulators.laws.enumerate import outcomes
from draftproof.theory.draft import Node
from draftproof.theory.emission import Emission
from draftproof.theory.instance import Instance
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row, normalise
from draftproof.theory.table import Table

ROUNDING = STEPS * UNIT[torch.float32]
"""Largest total variation allowed to float32 arithmetic: a relative error of STEPS u in each entry."""


@dataclass(frozen=True)
class Rounded:
    """Total variation between the rounded algorithm's law and the law it should have."""

    own: fmpq  # the law for the rounded rows that it was given
    ideal: fmpq  # the law for the rational rows before rounding


def rounded(verifier: Verifier, instance: Instance, dtype: torch.dtype, device: str = "cpu") -> Rounded:
    """One iteration of a batched verifier on an instance whose rows were rounded to `dtype`.

    The draft is drawn from the rounded proposal, and Y from the verifier's last row, both renormalised
    exactly. Coins are uniform on [0, 1), so each computed rate is the probability of acceptance.
    """
    read = Instance(as_read(instance.target, dtype), as_read(instance.proposal, dtype), instance.draft)
    drafts = list(every(instance, read.proposal))
    own, ideal = Emission(read.target), Emission(instance.target)
    for drafted, accept, rows in zip(drafts, *_computed(verifier, drafts, dtype, device), strict=True):
        place = {node: i for i, node in enumerate(drafted.nodes)}
        program = partial(_stop, verifier=verifier, root=drafted.draft.root, accept=accept, place=place)
        for weight, node in outcomes(program, drafted.weight):
            own.add(weight, node, rows[place[node]])
            ideal.add(weight, node, rows[place[node]])
    return Rounded(own.total_variation, ideal.total_variation)


def as_read(table: Table, dtype: torch.dtype) -> Table:
    """The table rounded to `dtype`, its floats read as exact rationals and renormalised exactly."""
    rows = {}
    for prefix, row in table.given():
        given = torch.tensor([float(mass) for mass in row], dtype=torch.float64).to(dtype)
        rows[prefix] = normalise(tuple(dyadic(mass) for mass in given.tolist()))
    return Table(table.vocab, rows)


def dyadic(number: float) -> fmpq:
    """The exact rational value of a binary float."""
    return fmpq(*number.as_integer_ratio())


def _computed(
    verifier: Verifier, drafts: Sequence[Drafted], dtype: torch.dtype, device: str
) -> tuple[list[list[fmpq]], list[list[Row]]]:
    # For every draft and node: its acceptance probability, and the extra token's law after a stop there.
    given = batch(drafts).to(device)
    rows = given.to(device, dtype).map_rows(widened)
    if given.strata is not None:  # whose mean is computed from the rounded proposal, and not rounded again
        rows = replace(rows, proposal=given.q.float(), strata=given.strata.float())
    rates, left = rates_and_rows(verifier, rows)
    accept = [[dyadic(rate) for rate in row] for row in torch.where(rows.drawn, rates.accept, 0.0).tolist()]
    laws = [
        [normalise(tuple(map(dyadic, row))) for row in by_node[: len(drafted.nodes)]]
        for drafted, by_node in zip(drafts, left.tolist(), strict=True)
    ]
    return accept, laws


def _stop(oracle: Oracle, verifier: Verifier, root: Node, accept: list[fmpq], place: dict[Node, int]) -> Node:
    # Compares coins with rates in the order of Verifier.decide.
    if verifier.upwards:
        order = from_leaf_to_root(root)
        return next(node for node in order if node is root or oracle.accept(accept[place[node]]))
    node = root
    siblings = iter(root.children)
    while (child := next(siblings, None)) is not None:
        if oracle.accept(accept[place[child]]):
            node, siblings = child, iter(child.children)
    return node
