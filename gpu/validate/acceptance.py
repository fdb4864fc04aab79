"""Measured acceptance beside what the rows of the same steps predict."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from draftproof.gpu.engine.output import Step
from draftproof.gpu.structures import Sampled, Structure
from draftproof.gpu.validate.bounds import chain_odds, covered, tree_odds
from draftproof.gpu.validate.intervals import Agreement, Ceiling, Interval
from draftproof.gpu.verify import Drafts
from draftproof.gpu.verify.residual import share
from draftproof.gpu.verify.verifier import CHAIN, Verifier, level_law, stop_law
from draftproof.simulators.anytime import ERROR


def tau_law(verifier: Verifier, step: Step) -> Tensor:
    """[B, depth + 1]: the law of tau of a verifier, which need not be the one that ran, on a step's draft."""
    drafts = Drafts(step.tree, step.target, step.proposal, step.tokens)
    return level_law(step.tree, stop_law(verifier, step.tree, verifier.rates(drafts).accept, drafts.drawn))


def mean_accepted(verifier: Verifier, step: Step) -> Tensor:
    """[B]: E[tau | draft] of a verifier on a step's draft."""
    law = tau_law(verifier, step)
    return law @ torch.arange(law.shape[1], dtype=law.dtype, device=law.device)


class Acceptance:
    """Gathers steps; every figure is a mean over steps and rows.

    `total`: tau beside E[tau | draft, rows]. `positions[l - 1]`: tau >= l beside its probability.
    `drawn`: min(1, p/q) of first drafted children beside its mean under q, sum min(p, q), which shows whether
    the tokens were drawn from the rows that the verifier was given. `bounds[name][l - 1]`: tau >= l beside
    its bound, on sampled trees beside an estimate of it.
    """

    def __init__(self, verifier: Verifier, structure: Structure, error: float = ERROR) -> None:
        self.verifier, depth = verifier, structure.depth
        bits = torch.arange(2)
        part = error / (2 + 3 * depth)
        self.total = Agreement(torch.arange(depth + 1), part)
        self.positions = [Agreement(bits, part) for _ in range(depth)]
        self.drawn = Agreement(bits, part)
        self.planned = structure.tree if isinstance(structure, Sampled) and structure.kind != CHAIN else None
        self.bounds: dict[str, list[Agreement] | list[Ceiling]] = {
            name: [Ceiling(len(nodes), part) for nodes in self.planned.generations]
            if self.planned
            else [Agreement(bits, part) for _ in range(depth)]
            for name in ("stateless", "full_information")
        }
        self.drafted = 0

    def add(self, step: Step) -> None:
        """Takes a step in."""
        drawn, proposal = step.tree.drawn(step.tokens), step.proposal
        law = tau_law(self.verifier, step)
        tau = torch.tensor(step.accepted)
        self.drafted += int(drawn[:, 1:].sum())
        self.total.add(law, tau)
        _compare(self.positions, law.flip(1).cumsum(1).flip(1)[:, 1:], tau)
        if proposal is not None:
            self._draws(step, drawn, proposal)
        stateless, full = self._odds(step)
        if not self.verifier.modifies_target:  # its rows are those of the modified target
            _compare(self.bounds["stateless"], stateless, tau)
        _compare(self.bounds["full_information"], full, tau)

    def _odds(self, step: Step) -> tuple[Tensor, Tensor]:
        tree, tokens, target, proposal = step.tree, step.tokens, step.target, step.proposal
        if proposal is None:
            odds = covered(tree, target, tokens)
            return odds, odds
        if self.planned is not None:
            return tree_odds(self.planned, tree, target, proposal, tokens)
        return chain_odds(target, proposal, tokens, True), chain_odds(target, proposal, tokens, False)

    def _draws(self, step: Step, drawn: Tensor, proposal: Tensor) -> None:
        # min(1, p/q)(x), x ~ q, has mean sum min(p, q); a coin of that rate makes it an outcome 0 or 1.
        tree, B = step.tree, len(drawn)
        first = drawn & (tree.first.expand(B, -1) == torch.arange(tree.size, device=drawn.device))
        row, node = first[:, 1:].nonzero(as_tuple=True)
        up = tree.parents.expand(B, -1)[row, node + 1]
        p, q = step.target[row, up].double(), proposal[row, tree.rows.expand(B, -1)[row, up]].double()
        x = step.tokens[row, node][:, None]
        rate = share(p.gather(1, x), q.gather(1, x))[:, 0].cpu()
        random = torch.Generator().manual_seed(self.drafted)
        coin = torch.rand(len(rate), dtype=torch.float64, generator=random)
        self.drawn.add_odds(torch.minimum(p, q).sum(1), coin < rate)

    def result(self) -> "Result":
        """All intervals."""
        return Result(self)


def _compare(parts: Sequence[Agreement] | Sequence[Ceiling], odds: Tensor, tau: Tensor) -> None:
    for length, part in enumerate(parts, 1):
        part.add_odds(odds[:, length - 1], tau >= length)


class Result:
    """What an `Acceptance` found, as intervals and bounds; `problems` is empty if all agrees.

    `bounds_by_position` has the bounds of Pr(tau >= l), and how far above them chance may put a measurement;
    `bounds` their sums, the bounds of E[tau], None if not computed. `drafts_accepted` is accepted over
    drafted tokens.
    """

    def __init__(self, found: Acceptance) -> None:
        self.total, self.drawn = found.total.interval(), found.drawn.interval()
        self.positions = [each.interval() for each in found.positions]
        self.drafts_accepted = self.total.measured * self.total.steps / max(found.drafted, 1)
        intervals = {name: [each.interval() for each in parts] for name, parts in found.bounds.items()}
        self.bounds_by_position = {
            name: [{"bound": each.predicted, "above": each.above} for each in parts if each.steps]
            for name, parts in intervals.items()
        }
        self.bounds = {
            name: sum(each["bound"] for each in parts) if parts else None
            for name, parts in self.bounds_by_position.items()
        }
        predicted = [("E[tau]", self.total)]
        predicted += [(f"Pr(tau >= {length})", each) for length, each in enumerate(self.positions, 1)]
        predicted.append(("draws from q", self.drawn))
        self.problems = [_apart(what, each) for what, each in predicted if not each.agrees] + [
            f"Pr(tau >= {length}) above the {name.replace('_', '-')} bound: measured {each.measured:.4f}, "
            f"bound {each.predicted:.4f} (+{each.above:.4f}), {each.steps} steps"
            for name, parts in intervals.items()
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


def _apart(what: str, found: Interval) -> str:
    return (
        f"{what}: measured {found.measured:.4f}, expected {found.predicted:.4f} "
        f"(-{found.below:.4f}, +{found.above:.4f}), {found.steps} steps"
    )
