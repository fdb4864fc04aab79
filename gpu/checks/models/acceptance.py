"""Compares measured acceptance with the prediction from the rows of the same steps."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from draftproof.gpu.checks.models.bounds import chain_odds, covered, tree_odds
from draftproof.gpu.checks.models.intervals import Agreement, Ceiling, Interval
from draftproof.gpu.drafters.structures import Sampled
from draftproof.gpu.engine.output import Step
from draftproof.gpu.network.session import Structure
from draftproof.gpu.verify.residual import share
from draftproof.gpu.verify.verifier import CHAIN, Verifier, level_law, stop_law
from draftproof.simulators.support.anytime import ERROR


def tau_law(verifier: Verifier, step: Step) -> Tensor:
    """[B, depth + 1]: a verifier's law of tau on a step's draft; any verifier, not only the one that ran."""
    drafts = step.drafts
    law = level_law(step.tree, stop_law(verifier, step.tree, verifier.rates(drafts).accept, drafts.drawn))
    if step.kept is None:
        return law
    most = torch.tensor(step.kept, device=law.device)[:, None]  # a later token is the extra one
    places = torch.arange(law.shape[1], device=law.device).expand(law.shape)
    return torch.zeros_like(law).scatter_add(1, places.minimum(most), law)


def mean_accepted(verifier: Verifier, step: Step) -> Tensor:
    """[B]: E[tau | draft] of a verifier on a step's draft."""
    law = tau_law(verifier, step)
    return law @ torch.arange(law.shape[1], dtype=law.dtype, device=law.device)


class Acceptance:
    """Collects steps; `result` gives means over steps and rows. `by_value`: whether tokens were selected by
    their values, so that those which are left are not draws from q, and no bound holds. Stratified trees have
    bounds if all nodes of a level have as many children (see `tree_odds`).
    """

    def __init__(
        self, verifier: Verifier, structure: Structure, error: float = ERROR, by_value: bool = False
    ) -> None:
        self.verifier, self.depth, self.by_value = verifier, structure.depth, by_value
        self.planned = structure.tree if isinstance(structure, Sampled) and structure.kind != CHAIN else None
        self.uneven = self.planned is not None and not self.planned.even
        each = error / 2 / (1 + 3 * self.depth)  # of the other intervals; half is for E[tau]
        self.total, self.drawn = Agreement(error / 2), Agreement(each)
        self.positions = [Agreement(each) for _ in range(self.depth)]
        self.bounds = {name: self._bounds(each) for name in ("stateless", "full_information")}
        self.drafted = 0

    def _bounds(self, error: float) -> Sequence[Agreement | Ceiling]:
        if self.planned is None:
            return [Agreement(error) for _ in range(self.depth)]
        return [Ceiling(len(nodes), error) for nodes in self.planned.generations]

    @property
    def half_width(self) -> float:
        """The half-width of the interval of E[tau] so far."""
        return self.total.interval.half_width

    def add(self, step: Step) -> None:
        """Adds a step."""
        drawn, proposal, tau = step.tree.drawn(step.tokens), step.proposal, torch.tensor(step.accepted)
        law = self._wide(tau_law(self.verifier, step).cpu(), self.depth + 1)
        self.total.add(law, tau)
        self._add(self.positions, law.flip(1).cumsum(1).flip(1)[:, 1:], tau)
        self.drafted += int(drawn[:, 1:].sum())
        if self.by_value:
            return
        if proposal is not None:
            self._draws(step, drawn, proposal)
        if step.strata is not None and self.uneven:
            return
        stateless, full = self._odds(step)
        if not self.verifier.modifies_target:  # otherwise the step's rows are of the modified target
            self._add(self.bounds["stateless"], self._wide(stateless.cpu(), self.depth), tau)
        self._add(self.bounds["full_information"], self._wide(full.cpu(), self.depth), tau)

    @staticmethod
    def _add(intervals: Sequence[Agreement | Ceiling], odds: Tensor, tau: Tensor) -> None:
        for length, (each, chance) in enumerate(zip(intervals, odds.unbind(1), strict=True), 1):
            each.add_odds(chance, tau >= length)

    @staticmethod
    def _wide(law: Tensor, size: int) -> Tensor:
        """A selection may leave shorter drafts than the structure's."""
        return pad(law, (0, size - law.shape[1]))

    def _odds(self, step: Step) -> tuple[Tensor, Tensor]:
        tree, tokens, target, proposal = step.tree, step.tokens, step.target, step.proposal
        if proposal is None:
            odds = covered(tree, target, tokens)
            return odds, odds
        if self.planned is not None:
            return tree_odds(self.planned, tree, target, proposal, tokens, step.strata)
        return chain_odds(target, proposal, tokens, True), chain_odds(target, proposal, tokens, False)

    def _draws(self, step: Step, drawn: Tensor, proposal: Tensor) -> None:
        # min(1, p/q)(x), x ~ q, has mean sum min(p, q); a coin with that probability gives an outcome 0 or 1.
        tree, B = step.tree, len(drawn)
        first = drawn & (tree.first.expand(B, -1) == torch.arange(tree.size, device=drawn.device))
        row, node = first[:, 1:].nonzero(as_tuple=True)
        up = tree.parents.expand(B, -1)[row, node + 1]
        p, q = step.target[row, up].double(), proposal[row, tree.rows.expand(B, -1)[row, up]].double()
        if step.strata is not None:  # a first child is drawn from the first stratum
            q = q * (1 - step.strata[row, tree.rows.expand(B, -1)[row, up]]).clamp(min=0)
            q = q / q.sum(-1, keepdim=True)
        x = step.tokens[row, node][:, None]
        rate = share(p.gather(1, x), q.gather(1, x))[:, 0].cpu()
        random = torch.Generator().manual_seed(self.drafted)
        coin = torch.rand(len(rate), dtype=torch.float64, generator=random)
        self.drawn.add_odds(torch.minimum(p, q).sum(1).cpu(), coin < rate)

    def result(self) -> "Result":
        """All intervals over the steps so far, at least one."""
        total = self.total.interval
        bounds = {name: [one.interval for one in each] for name, each in self.bounds.items() if each[0].steps}
        return Result(
            total,
            [each.interval for each in self.positions],
            self.drawn.interval,
            bounds,
            total.measured * total.steps / max(self.drafted, 1),
        )


@dataclass(frozen=True)
class Result:
    """Measured acceptance and its prediction.

    `drawn` shows whether tokens were drawn from the rows that the verifier was given: min(1, p/q) of first
    drafted children has mean sum min(p, q) under q.
    """

    total: Interval  # tau against E[tau | draft, rows]
    positions: list[Interval]  # [l - 1]: tau >= l against its probability
    drawn: Interval
    bounded: dict[str, list[Interval]]  # [name][l - 1]: tau >= l against its (estimated) bound
    drafts_accepted: float  # accepted / drafted tokens

    @property
    def bounds_by_position(self) -> dict[str, list[dict[str, float]]]:
        """The bounds of Pr(tau >= l), and how far a measurement may exceed them by chance."""
        return {
            name: [{"bound": each.predicted, "above": each.above} for each in self.bounded.get(name, [])]
            for name in ("stateless", "full_information")
        }

    @property
    def bounds(self) -> dict[str, float | None]:
        """The bounds of E[tau], None if not computed."""
        found = self.bounds_by_position.items()
        return {name: sum(each["bound"] for each in parts) if parts else None for name, parts in found}

    @property
    def problems(self) -> list[str]:
        """Each disagreement as a sentence."""
        tails = [(f"Pr(tau >= {length})", each) for length, each in enumerate(self.positions, 1)]
        predicted = [("E[tau]", self.total), *tails, ("draws from q", self.drawn)]
        return [
            f"{what}: measured {each.measured:.4f}, expected {each.predicted:.4f} "
            f"(-{each.below:.4f}, +{each.above:.4f}), {each.steps} steps"
            for what, each in predicted
            if not each.agrees
        ] + [
            f"Pr(tau >= {length}) above the {name.replace('_', '-')} bound: measured {each.measured:.4f}, "
            f"bound {each.predicted:.4f} (+{each.above:.4f}), {each.steps} steps"
            for name, parts in self.bounded.items()
            for length, each in enumerate(parts, 1)
            if each.exceeds
        ]

    def answer(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "accepted": asdict(self.total),
            "positions": [asdict(each) for each in self.positions],
            "draws": asdict(self.drawn),
            "bounds": self.bounds,
            "bounds_by_position": self.bounds_by_position,
            "problems": self.problems,
        }
