"""Checks that the batched verifiers decide like the exact ones, given the same uniforms.

All drafts and all paths of decisions are tried, with the uniforms at both ends of every interval.
"""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from itertools import accumulate, chain
from typing import Any, NamedTuple

import torch
from torch import Tensor

from draftproof.gpu.checks.against_exact.drafts import Drafted, batch, every, from_leaf_to_root
from draftproof.gpu.checks.against_exact.rounding import UNIT, margins, rates_and_sums
from draftproof.gpu.verify import VERIFIERS, Drafts, Rates, Verifier
from draftproof.gpu.verify.verifier import BELOW_ONE, DETERMINISTIC
from draftproof.simulators.laws.check import Family, applies
from draftproof.simulators.laws.enumerate import Enumerator
from draftproof.theory.draft import Node
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE
from draftproof.theory.verifiers import VERIFIERS as EXACT

ROWS = 1 << 11  # drafts, or rows of noise, per call: so few that a processor's cache holds what a plan needs

Interval = tuple[float, float]
"""The two thresholds that a coin lies between, or an end of `FREE` where there is none."""

FREE: Interval = -1.0, 2.0


@dataclass(frozen=True)
class Agreement:
    """The comparison's counts for one verifier."""

    verifier: str
    instances: int = 0
    drafts: int = 0
    rows: int = 0  # rows of noise compared
    wrong: int = 0  # rows of noise that the exact engine decides differently
    narrow: int = 0  # cases left out, because an interval is narrower than the rounding error

    def __add__(self, other: "Agreement") -> "Agreement":
        both = zip(astuple(self)[1:], astuple(other)[1:], strict=True)
        return Agreement(self.verifier, *map(sum, both))


def agreement(family: Family, device: str = "cpu", verifiers: Sequence[Verifier] = ()) -> Iterator[Agreement]:
    """Compares every verifier that fits with the exact engine, on all instances of one family.

    A case is a path of decisions through a draft, and an extra token. All its uniforms are put at the low
    ends of their intervals, then at the high ends. The ends of [0, 1) are 0 and 1 - 2^-53; from a threshold
    the uniform keeps a distance larger than rounding can move the threshold (`rounding.margins`).
    """
    instances = list(family)
    drafts = [drafted for instance in instances for drafted in every(instance)]
    rows = batch(drafts)
    for verifier in verifiers or VERIFIERS.values():
        if fits(verifier, instances[0]):
            found = _compare(verifier, rows, _cases(verifier, drafts, rows.tree.size), device)
            yield replace(found, instances=len(instances), drafts=len(drafts))


def fits(verifier: Verifier, instance: Instance) -> bool:
    """Whether both this and the exact verifier of its name are made for the instance's draft; of greedy ones
    no batched verifier takes the siblings' rows.
    """
    taken = instance.draft.label != "greedy" or DETERMINISTIC in verifier.drafts
    return taken and applies(EXACT[verifier.name], instance)


def grouped(families: Sequence[Family]) -> Iterator[list[Instance]]:
    """The instances of all families, grouped by vocabulary and scheme."""
    groups: dict[tuple, list[Instance]] = {}
    for instance in chain.from_iterable(families):
        groups.setdefault((instance.vocab, instance.draft), []).append(instance)
    yield from groups.values()


class _Recorder(Enumerator):
    """Notes the interval of every coin that a run asks for."""

    intervals: list[Interval]

    def accept(self, probability: Any) -> bool:
        accepted, threshold = super().accept(probability), float(probability)
        self.intervals.append((FREE[0], threshold) if accepted else (threshold, FREE[1]))
        return accepted


def _asked(root: Node, intervals: Sequence[Interval], upwards: bool) -> Iterator[tuple[Node, Interval]]:
    # The node of every coin that was compared on a path, with the coin's interval.
    if upwards:
        yield from zip(from_leaf_to_root(root), intervals, strict=False)
        return
    siblings = iter(root.children)
    for interval in intervals:
        child = next(siblings)
        yield child, interval
        if interval[0] == FREE[0]:  # accepted
            siblings = iter(child.children)


class _Case(NamedTuple):
    """A path and one of its extra tokens: draft index, stop, token; and the intervals [N] of the nodes' coins
    but the root, and at the end that of the extra token's uniform.
    """

    draft: int
    node: int
    token: int
    intervals: list[Interval]


def _cases(verifier: Verifier, drafts: Sequence[Drafted], N: int) -> list[_Case]:
    # Every path of positive probability; thresholds and rows are those of the exact verifier.
    exact, cases = verifier.exact or EXACT[verifier.name].verify, []
    for index, drafted in enumerate(drafts):
        place = {node: i for i, node in enumerate(drafted.nodes)}
        oracle, more = _Recorder(ONE), True
        while more:
            oracle.intervals = []
            stop, row = exact(oracle, drafted.draft, drafted.instance.target)
            coins, below = [FREE] * N, FREE[0]
            for node, ends in _asked(drafted.draft.root, oracle.intervals, verifier.upwards):
                coins[place[node]] = ends
            for x, (mass, reach) in enumerate(zip(row, accumulate(row), strict=True)):
                if mass > 0:
                    ends = below, float(reach) if x < len(row) - 1 else FREE[1]
                    cases.append(_Case(index, place[stop], x, [*coins[1:], ends]))
                below = float(reach)
            more = oracle.next()
    return cases


def _compare(verifier: Verifier, rows: Drafts, cases: Sequence[_Case], device: str) -> Agreement:
    index, node, token = torch.tensor([case[:3] for case in cases]).unbind(1)
    low, high = torch.tensor([case.intervals for case in cases], dtype=torch.float64).unbind(-1)
    margin = _margins(verifier, rows, index, node)
    first = torch.where(low < 0, 0.0, low + margin)
    last = torch.where(high > 1, BELOW_ONE, high - margin)
    narrow = (first > last).any(1)
    single = rows.to(device, torch.float32)
    judged, wrong = verifier.rates(single), 0
    for side in (first, last):
        for at in range(0, len(index), ROWS):
            part = slice(at, at + ROWS)
            noise = side[part].to(device)
            which = index[part].to(device)
            once = replace(verifier, rates=lambda _, of=which: Rates(judged.accept[of], judged.cut[of]))
            out = once.verify(single.take(which).with_noise(noise[:, :-1], noise[:, -1]))
            same = (out.node.cpu() == node[part]) & (out.token.cpu() == token[part]) & (out.error.cpu() == 0)
            wrong += int((~same & ~narrow[part]).sum())
    return Agreement(verifier.name, rows=2 * int((~narrow).sum()), wrong=wrong, narrow=int(narrow.sum()))


def _margins(verifier: Verifier, rows: Drafts, index: Tensor, node: Tensor) -> Tensor:
    # [cases, N]: how far rounding can move each coin's threshold, and the ends of the extra token's interval.
    count, outputs = len(rows.tokens), partial(rates_and_sums, verifier)
    parts = [torch.arange(at, min(at + ROWS, count)) for at in range(0, count, ROWS)]
    every = torch.cat([margins(outputs, rows.take(part), UNIT[torch.float32]) for part in parts])[index]
    N, V = rows.tree.size, rows.target.shape[-1]
    by_end = every[:, N:].reshape(len(index), N, V)[torch.arange(len(index)), node].amax(1, keepdim=True)
    return torch.cat((every[:, 1:N], by_end), 1)
