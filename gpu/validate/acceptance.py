"""Measured acceptance beside what the rows of the same steps predict."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from draftproof.gpu.engine.output import Step
from draftproof.gpu.structures import Sampled, Structure
from draftproof.gpu.validate.agreement import Agreement, Interval
from draftproof.gpu.validate.bounds import chain_odds, covered
from draftproof.gpu.validate.ceiling import Ceiling
from draftproof.gpu.validate.tree_bounds import tree_odds
from draftproof.gpu.verify.residual import share
from draftproof.gpu.verify.stopping import level_law, stop_law
from draftproof.gpu.verify.verifier import CHAIN, DETERMINISTIC, Verifier
from draftproof.simulators.anytime import ERROR


def tau_law(verifier: Verifier, step: Step) -> Tensor:
    """[B, depth + 1]: the law of tau that a verifier has on a step's draft and rows; another may have run."""
    ids, drawn = step.tokens.clamp(min=0), step.tree.drawn(step.tokens)
    proposal = None if DETERMINISTIC in verifier.drafts else step.proposal
    rates = verifier.rates(step.tree, step.target, proposal, ids, drawn)
    return level_law(step.tree, stop_law(verifier, step.tree, rates.accept, drawn))


def mean_accepted(verifier: Verifier, step: Step) -> Tensor:
    """[B]: E[tau | draft] that a verifier has on a step."""
    law = tau_law(verifier, step)
    return law @ torch.arange(law.shape[1], dtype=law.dtype, device=law.device)


class Acceptance:
    """Gathers steps; every figure below is a mean over steps and rows.

    `total`: tau beside E[tau | draft, rows]. `positions[l - 1]`: tau >= l beside its probability.
    `drawn`: min(1, p/q) of first drafted children beside its mean under q, sum min(p, q): were the tokens
    drawn from the rows that verification was told? `stateless`, `full` by position: tau >= l beside its two
    bounds, or on sampled trees beside estimates of them.
    """

    def __init__(self, verifier: Verifier, structure: Structure, error: float = ERROR) -> None:
        self.verifier, self.structure, depth = verifier, structure, structure.depth
        bits = torch.arange(2)
        part = error / (2 + 3 * depth)
        self.total = Agreement(torch.arange(depth + 1), part)
        self.positions = [Agreement(bits, part) for _ in range(depth)]
        self.drawn = Agreement(bits, part)
        self.planned = structure.tree if isinstance(structure, Sampled) and structure.kind != CHAIN else None

        def bounds() -> list[Agreement] | list[Ceiling]:
            if self.planned is None:
                return [Agreement(bits, part) for _ in range(depth)]
            return [Ceiling(len(nodes), part) for nodes in self.planned.generations]

        self.stateless, self.full = bounds(), bounds()
        self.drafted = 0

    def add(self, step: Step) -> None:
        """Takes a step in."""
        drawn, proposal = step.tree.drawn(step.tokens), step.proposal
        law = tau_law(self.verifier, step)
        tau = torch.tensor(step.accepted)
        self.drafted += int(drawn[:, 1:].sum())
        self.total.add(law, tau)
        self._compare(self.positions, law.flip(1).cumsum(1).flip(1)[:, 1:], tau)
        if proposal is not None:
            self._draws(step, drawn, proposal)
        stateless, full = self._odds(step)
        if not self.verifier.modifies_target:  # it reaches full information
            self._compare(self.stateless, stateless, tau)
        self._compare(self.full, full, tau)

    def _odds(self, step: Step) -> tuple[Tensor, Tensor]:
        tree, tokens, target, proposal = step.tree, step.tokens, step.target, step.proposal
        if proposal is None:
            odds = covered(tree, target, tokens)
            return odds, odds
        if self.planned is not None:
            return tree_odds(self.planned, tree, target, proposal, tokens)
        return chain_odds(target, proposal, tokens, True), chain_odds(target, proposal, tokens, False)

    def _compare(self, parts: Sequence[Agreement] | Sequence[Ceiling], odds: Tensor, tau: Tensor) -> None:
        for length, part in enumerate(parts, 1):
            part.add_odds(odds[:, length - 1], tau >= length)

    def _draws(self, step: Step, drawn: Tensor, proposal: Tensor) -> None:
        # min(1, p/q)(x), x ~ q, has mean sum min(p, q); a coin of that rate makes it an outcome 0 or 1.
        tree, B = step.tree, len(drawn)
        first = drawn & (tree.first.expand(B, -1) == torch.arange(tree.size, device=drawn.device))
        row, node = first[:, 1:].nonzero(as_tuple=True)
        up = tree.parents.expand(B, -1)[row, node + 1]
        p, q = step.target[row, up].double(), proposal[row, tree.rows.expand(B, -1)[row, up]].double()
        x = step.tokens[row, node][:, None]
        rate = share(p.gather(1, x), q.gather(1, x))[:, 0]
        coin = torch.rand(
            len(rate), dtype=torch.float64, generator=torch.Generator().manual_seed(self.drafted)
        )
        self.drawn.add_odds(torch.minimum(p, q).sum(1), coin < rate.cpu())

    def result(self) -> "Result":
        """All intervals."""
        return Result(self)


class Result:
    """What an `Acceptance` found, as intervals and bounds; `problems` is empty when all agrees."""

    def __init__(self, of: Acceptance) -> None:
        self.total, self.drawn = of.total.interval(), of.drawn.interval()
        self.positions = [each.interval() for each in of.positions]
        self.stateless = [each.interval() for each in of.stateless]
        self.full = [each.interval() for each in of.full]
        self.accepted_share = self.total.measured * self.total.steps / max(of.drafted, 1)
        self.problems = self._problems()

    @property
    def bounds(self) -> dict[str, float | None]:
        """The two bounds of E[tau], on sampled trees estimates of them; None where none was computed."""
        return {
            name: sum(each["bound"] for each in parts) if parts else None
            for name, parts in self.bounds_by_position.items()
        }

    @property
    def bounds_by_position(self) -> dict[str, list[dict[str, float]]]:
        """The bounds of Pr(tau >= l), and how far above them chance may put a measurement."""
        named = {"stateless": self.stateless, "full_information": self.full}
        return {
            name: [{"bound": each.predicted, "above": each.above} for each in parts if each.steps]
            for name, parts in named.items()
        }

    def _problems(self) -> list[str]:
        found = []
        if not self.total.agrees:
            found.append(_apart("E[tau]", self.total))
        for length, each in enumerate(self.positions, 1):
            if not each.agrees:
                found.append(_apart(f"Pr(tau >= {length})", each))
        if not self.drawn.agrees:
            found.append(_apart("draws from q", self.drawn))
        for name, parts in (("stateless", self.stateless), ("full-information", self.full)):
            for length, each in enumerate(parts, 1):
                if each.exceeds:
                    found.append(
                        f"Pr(tau >= {length}) above the {name} bound: measured {each.measured:.4f}, "
                        f"bound {each.predicted:.4f} (+{each.above:.4f}), {each.steps} steps"
                    )
        return found

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


def _apart(what: str, found: Interval) -> str:
    return (
        f"{what}: measured {found.measured:.4f}, expected {found.predicted:.4f} "
        f"(-{found.below:.4f}, +{found.above:.4f}), {found.steps} steps"
    )
