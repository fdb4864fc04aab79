"""The exact law of the rounded algorithm: its rates and rows read back as dyadic rationals."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from flint import fmpq

from draftproof.gpu.exact.drafts import Drafted, batch, every, remainders
from draftproof.gpu.exact.paths import from_leaf_to_root
from draftproof.gpu.verify import Verifier
from draftproof.gpu.verify.verifier import widened
from draftproof.simulators.enumerate import emission, outcomes
from draftproof.theory.draft import Node
from draftproof.theory.emission import Emission
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row, normalise
from draftproof.theory.table import Table
from draftproof.theory.verifiers import named


@dataclass(frozen=True)
class Rounded:
    """How far, in total variation, the rounded algorithm's law is from what it should be: `own` for the
    rows as they were given to it, already rounded; `ideal` for the rational rows before that.
    """

    own: fmpq
    ideal: fmpq


def rounded(verifier: Verifier, instance: Instance, dtype: torch.dtype, device: str = "cpu") -> Rounded:
    """One iteration of a batched verifier on an instance whose rows were rounded to `dtype`.

    The draft is drawn from the rounded proposal, renormalised exactly. Coins are uniform on [0, 1),
    so a rate is a probability as it stands; Y follows the verifier's last row, renormalised exactly.

    >>> from draftproof.gpu.verify import named
    >>> from draftproof.simulators.instances.scenarios import scenario
    >>> from draftproof.theory.drafts.chain import Chain
    >>> found = rounded(named("block"), scenario("toy", Chain(2)), torch.float32)
    >>> float(found.own) < 1e-7, float(found.ideal) < 1e-7
    (True, True)
    """
    read = Instance(as_read(instance.target, dtype), as_read(instance.proposal, dtype), instance.draft)
    drafts = list(every(instance, read.proposal))
    own, ideal = Emission(read.target), Emission(instance.target)
    for drafted, accept, rows in zip(drafts, *_judged(verifier, drafts, dtype, device), strict=True):
        place = {node: i for i, node in enumerate(drafted.nodes)}
        program = partial(_stop, verifier=verifier, root=drafted.draft.root, accept=accept, place=place)
        for weight, node in outcomes(program, drafted.weight):
            own.add(weight, node, rows[place[node]])
            ideal.add(weight, node, rows[place[node]])
    return Rounded(_distance(own, verifier, read), _distance(ideal, verifier, instance))


def _distance(found: Emission, verifier: Verifier, instance: Instance) -> fmpq:
    # From the target; where the next iteration must make up for this one, from the exact verifier.
    exact = named(verifier.name)
    if exact.carry is None:
        return found.total_variation
    got, want = found.law(), emission(instance, exact).law()
    words = {word for word, _ in (*got.items(), *want.items())}
    return sum((abs(got[word] - want[word]) for word in words), ZERO) / 2


def as_read(table: Table, dtype: torch.dtype) -> Table:
    """The table in numbers of that type, read back as the rationals they are, renormalised exactly."""
    rows = {}
    for prefix, row in table.given():
        given = torch.tensor([float(mass) for mass in row], dtype=torch.float64).to(dtype)
        rows[prefix] = normalise(tuple(dyadic(mass) for mass in given.tolist()))
    return Table(table.vocab, rows)


def dyadic(number: float) -> fmpq:
    """The rational that a binary float is.

    >>> dyadic(0.75)
    3/4
    """
    return fmpq(*number.as_integer_ratio())


def _judged(
    verifier: Verifier, drafts: Sequence[Drafted], dtype: torch.dtype, device: str
) -> tuple[list[list[fmpq]], list[list[Row]]]:
    # For every draft: the rate of each node, and the row of Y at each node.
    rows = batch(drafts).to(device, dtype).map_rows(widened)
    rates = verifier.rates(rows)
    left = remainders(rows, rates.cut)
    accept = [[dyadic(rate) for rate in row] for row in torch.where(rows.drawn, rates.accept, 0.0).tolist()]
    laws = [
        [normalise(tuple(map(dyadic, row))) for row in there[: len(drafted.nodes)]]
        for drafted, there in zip(drafts, left.tolist(), strict=True)
    ]
    return accept, laws


def _stop(oracle: Oracle, verifier: Verifier, root: Node, accept: list[fmpq], place: dict[Node, int]) -> Node:
    # The order in which coins are asked, as in Verifier.decide.
    if verifier.upwards:
        order = from_leaf_to_root(root)
        return next(node for node in order if node is root or oracle.accept(accept[place[node]]))
    node, before = root, None
    siblings = iter(root.children)
    while (child := next(siblings, None)) is not None:
        rate = accept[place[child]]
        if verifier.one_coin:
            reach, rate = rate, _beyond(before, rate)
            before = max(reach, before or reach)
        if oracle.accept(rate):
            node, before, siblings = child, None, iter(child.children)
    return node


def _beyond(before: fmpq | None, reach: fmpq) -> fmpq:
    # The chance that a coin which reached `before` stays below `reach`.
    if before is None:
        return reach
    return max(reach - before, 0 * reach) / (1 - before) if before < 1 else 0 * ONE
