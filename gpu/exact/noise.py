"""The same noise, the same decision: every draft, every way through it, both ends of every interval."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import torch
from flint import fmpq
from torch import Tensor

from draftproof.gpu.exact.drafts import Drafted, batch, every
from draftproof.gpu.exact.margin import UNIT, margins, rates_and_sums
from draftproof.gpu.exact.paths import ways
from draftproof.gpu.verify import VERIFIERS, Drafts, Verifier
from draftproof.gpu.verify.verifier import BELOW_ONE
from draftproof.simulators.check import Family, applies
from draftproof.theory.instance import Instance
from draftproof.theory.verifiers import VERIFIERS as EXACT

ROWS = 1 << 16
"""Rows of one call."""

FREE = -1.0, 2.0
"""Ends of an interval without thresholds."""


@dataclass(frozen=True)
class Agreement:
    """What was compared for one verifier: instances, drafts, rows of noise; how many rows came out
    otherwise than in the exact engine; how many intervals were too narrow for the rounding; the widest
    margin that was kept from a threshold.
    """

    verifier: str
    instances: int = 0
    drafts: int = 0
    rows: int = 0
    wrong: int = 0
    narrow: int = 0
    margin: float = 0.0

    def __add__(self, other: "Agreement") -> "Agreement":
        return Agreement(
            self.verifier,
            self.instances + other.instances,
            self.drafts + other.drafts,
            self.rows + other.rows,
            self.wrong + other.wrong,
            self.narrow + other.narrow,
            max(self.margin, other.margin),
        )


class _Case(NamedTuple):
    """A way and a token Y of it: draft index, coin intervals, stop, Y, its cumulative ends."""

    draft: int
    coins: list[tuple[float, float]]
    node: int
    token: int
    ends: tuple[float, float]


def agreement(family: Family, device: str = "cpu", verifiers: Sequence[Verifier] = ()) -> Iterator[Agreement]:
    """Every verifier that fits on all instances of one family.

    A case is a way through a draft and a token Y. All its coins and its extra uniform are put at the
    low ends of their intervals, then at the high ends; ends at 0 and 1 are met as 0 and 1 - 2^-24,
    thresholds from a distance that rounding cannot move them by (`margin`).
    """
    instances = list(family)
    drafts = [drafted for instance in instances for drafted in every(instance)]
    rows = batch(drafts)
    for verifier in verifiers or VERIFIERS.values():
        if fits(verifier, instances[0]):
            found = _compare(verifier, rows, _cases(verifier, drafts, rows.tree.size), device)
            yield replace(found, instances=len(instances), drafts=len(drafts))


def fits(verifier: Verifier, instance: Instance) -> bool:
    """Whether the exact verifier of that name is made for the instance's draft."""
    return applies(EXACT[verifier.name], instance)


def _cases(verifier: Verifier, drafts: Sequence[Drafted], N: int) -> list[_Case]:
    cases = []
    for index, drafted in enumerate(drafts):
        place = {node: i for i, node in enumerate(drafted.nodes)}
        for way in ways(verifier, drafted):
            coins = [FREE] * (N - 1)
            for node, (low, high) in way.coins.items():
                if place[node]:
                    coins[place[node] - 1] = _end(low, FREE[0]), _end(high, FREE[1])
            below = FREE[0]
            reach = way.row[0] * 0
            for x, mass in enumerate(way.row):
                reach = reach + mass
                if mass > 0:
                    ends = below, float(reach) if x < len(way.row) - 1 else FREE[1]
                    cases.append(_Case(index, coins, place[way.node], x, ends))
                below = float(reach)
    return cases


def _end(threshold: fmpq | None, free: float) -> float:
    return free if threshold is None else float(threshold)


def _compare(verifier: Verifier, rows: Drafts, cases: Sequence[_Case], device: str) -> Agreement:
    index = torch.tensor([case.draft for case in cases])
    node, token = torch.tensor([(case.node, case.token) for case in cases]).unbind(1)
    coins = torch.tensor([case.coins for case in cases], dtype=torch.float64).reshape(len(index), -1, 2)
    ends = torch.tensor([case.ends for case in cases], dtype=torch.float64)
    slack = _slack(verifier, rows)
    N, V = rows.tree.size, rows.target.shape[-1]
    by_coin = slack[index, 1:N]
    if verifier.one_coin:
        by_coin = slack[index, :N].amax(1, keepdim=True).expand(-1, N - 1)
    by_end = slack[index, N:].reshape(len(index), N, V)[torch.arange(len(index)), node].amax(1)
    inputs = torch.cat((coins, ends[:, None]), 1)
    margin = torch.cat((by_coin, by_end[:, None]), 1)
    placed, narrow = _placed(inputs, margin)
    single = rows.to(device, torch.float32)
    wrong = 0
    for side in placed:
        for at in range(0, len(index), ROWS):
            part = slice(at, at + ROWS)
            noise = side[part].float().to(device)
            drafts = single.take(index[part].to(device))
            out = verifier.verify(drafts.with_noise(noise[:, :-1], noise[:, -1]))
            same = (out.node.cpu() == node[part]) & (out.token.cpu() == token[part]) & (out.error.cpu() == 0)
            wrong += int((~same & ~narrow[part]).sum())
    kept = torch.where(narrow[:, None] | (inputs == torch.tensor(FREE)).all(-1), 0.0, margin)
    return Agreement(
        verifier.name,
        rows=2 * int((~narrow).sum()),
        wrong=wrong,
        narrow=int(narrow.sum()),
        margin=float(kept.max()) if kept.numel() else 0.0,
    )


def _placed(intervals: Tensor, margin: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor]:
    # (all at the low ends, all at the high ends), and which cases have no room for it.
    low, high = intervals.unbind(-1)
    first = torch.where(low < 0, 0.0, low + margin)
    last = torch.where(high > 1, BELOW_ONE, high - margin)
    return (first, last), (first > last).any(1)


def _slack(verifier: Verifier, rows: Drafts) -> Tensor:
    count = len(rows.tokens)
    parts = [torch.arange(at, min(at + ROWS, count)) for at in range(0, count, ROWS)]
    outputs = partial(rates_and_sums, verifier)
    return torch.cat([margins(outputs, rows.take(part), UNIT[torch.float32]) for part in parts])


def grouped(families: Sequence[Family]) -> Iterator[list[Instance]]:
    """The instances of all families, those of one vocabulary and scheme together."""
    groups: dict[tuple, list[Instance]] = {}
    for family in families:
        for instance in family:
            groups.setdefault((instance.vocab, instance.draft), []).append(instance)
    yield from groups.values()
