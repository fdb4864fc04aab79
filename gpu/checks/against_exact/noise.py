"""Checks that the batched verifiers decide like the exact ones, given the same uniforms.

All drafts and all paths of decisions are tried, with the uniforms at both ends of every interval.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
from draftproof.theory.rows import Row
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
    margin: float = 0.0  # the largest distance that was kept from a threshold

    def __add__(self, other: "Agreement") -> "Agreement":
        counts = "instances", "drafts", "rows", "wrong", "narrow"
        sums = {name: getattr(self, name) + getattr(other, name) for name in counts}
        return replace(self, **sums, margin=max(self.margin, other.margin))


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


class _Path(NamedTuple):
    """The stop, the extra token's row there, and the interval of every coin that was compared."""

    node: Node
    row: Row
    coins: dict[Node, Interval]


class _Recorder(Enumerator):
    """Notes the interval of every coin that a run asks for."""

    intervals: list[Interval]

    def accept(self, probability: Any) -> bool:
        accepted, threshold = super().accept(probability), float(probability)
        self.intervals.append((FREE[0], threshold) if accepted else (threshold, FREE[1]))
        return accepted


def _paths(verifier: Verifier, drafted: Drafted) -> Iterator[_Path]:
    # Every path of positive probability; thresholds and rows are those of the exact verifier.
    exact = verifier.exact or EXACT[verifier.name].verify
    target, oracle = drafted.instance.target, _Recorder(ONE)
    root = drafted.draft.root
    order = from_leaf_to_root(root) if verifier.upwards else []
    while True:
        oracle.intervals = []
        node, row = exact(oracle, drafted.draft, target)
        if verifier.upwards:
            yield _Path(node, row, dict(zip(order, oracle.intervals, strict=False)))
        else:
            yield _Path(node, row, _downward_coins(root, oracle.intervals))
        if not oracle.next():
            return


def _downward_coins(node: Node, intervals: list[Interval]) -> dict[Node, Interval]:
    coins, siblings = {}, iter(node.children)
    for interval in intervals:
        child = next(siblings)
        coins[child] = interval
        if interval[0] == FREE[0]:  # accepted
            siblings = iter(child.children)
    return coins


class _Case(NamedTuple):
    """A path and one of its extra tokens: draft index, coin intervals, stop, token, the token's interval."""

    draft: int
    coins: list[Interval]
    node: int
    token: int
    ends: Interval


def _cases(verifier: Verifier, drafts: Sequence[Drafted], N: int) -> list[_Case]:
    cases = []
    for index, drafted in enumerate(drafts):
        place = {node: i for i, node in enumerate(drafted.nodes)}
        for path in _paths(verifier, drafted):
            coins = [FREE] * (N - 1)
            for node, ends in path.coins.items():
                if place[node]:
                    coins[place[node] - 1] = ends
            below = FREE[0]
            for x, (mass, reach) in enumerate(zip(path.row, accumulate(path.row), strict=True)):
                if mass > 0:
                    ends = below, float(reach) if x < len(path.row) - 1 else FREE[1]
                    cases.append(_Case(index, coins, place[path.node], x, ends))
                below = float(reach)
    return cases


def _compare(verifier: Verifier, rows: Drafts, cases: Sequence[_Case], device: str) -> Agreement:
    index = torch.tensor([case.draft for case in cases])
    node, token = torch.tensor([(case.node, case.token) for case in cases]).unbind(1)
    coins = torch.tensor([case.coins for case in cases], dtype=torch.float64).reshape(len(index), -1, 2)
    ends = torch.tensor([case.ends for case in cases], dtype=torch.float64)
    margin = _margins(verifier, rows, index, node)
    intervals = torch.cat((coins, ends[:, None]), 1)
    low, high = intervals.unbind(-1)
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
    kept = torch.where(narrow[:, None] | (intervals == torch.tensor(FREE)).all(-1), 0.0, margin)
    return Agreement(
        verifier.name,
        rows=2 * int((~narrow).sum()),
        wrong=wrong,
        narrow=int(narrow.sum()),
        margin=float(kept.max()) if kept.numel() else 0.0,
    )


def _margins(verifier: Verifier, rows: Drafts, index: Tensor, node: Tensor) -> Tensor:
    # [cases, N]: how far rounding can move each coin's threshold, and the ends of the extra token's interval.
    count, outputs = len(rows.tokens), partial(rates_and_sums, verifier)
    parts = [torch.arange(at, min(at + ROWS, count)) for at in range(0, count, ROWS)]
    every = torch.cat([margins(outputs, rows.take(part), UNIT[torch.float32]) for part in parts])[index]
    N, V = rows.tree.size, rows.target.shape[-1]
    by_end = every[:, N:].reshape(len(index), N, V)[torch.arange(len(index)), node].amax(1, keepdim=True)
    return torch.cat((every[:, 1:N], by_end), 1)
