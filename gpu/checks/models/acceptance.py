"""Compares measured acceptance with the prediction from the rows of the same steps, and with upper bounds
on Pr(tau >= l) of any verifier.
"""

from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from draftproof.gpu.checks.models.intervals import Agreement
from draftproof.gpu.engine.output import Step
from draftproof.gpu.network.session import Structure
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import Drafts
from draftproof.gpu.verify.residual import drafted, pick, share
from draftproof.gpu.verify.verifier import CHAIN, DETERMINISTIC, Verifier, level_law, stop_law
from draftproof.simulators.support.anytime import ERROR

BOUNDS = "stateless", "full_information"


def tau_law(verifier: Verifier, step: Step) -> Tensor:
    """[B, depth + 1]: a verifier's law of tau on a step's draft; any verifier, not only the one that ran."""
    drafts = step.drafts
    tree, accept = drafts.tree, verifier.rates(drafts).accept
    law = level_law(tree, stop_law(verifier, tree, accept, drafts.drawn))
    if step.kept is None:
        return law
    most = torch.tensor(step.kept, device=law.device)[:, None]  # a later token is the extra one
    places = torch.arange(law.shape[1], device=law.device).expand(law.shape)
    return torch.zeros_like(law).scatter_add(1, places.minimum(most), law)


def chain_odds(target: Tensor, proposal: Tensor, tokens: Tensor, capped: bool) -> Tensor:
    """[B, gamma]: the largest possible Pr(tau >= l) given the draft up to l - 1, averaged over token l.

    The value is the sum over x of min(q(x), w p(x)). With `capped`, w = min(1, w rho) along the drafted
    tokens: this is block verification's value, the optimum of valid verification of one path in one iteration
    ("stateless"). Otherwise w is the uncapped product R: this is the mass min(p(x^l), q(x^l)) of block
    transport ("full information"), divided by q. Source: sun2025block.
    """
    p, q = (drafted(rows, tokens.clamp(min=0)).double() for rows in (target, proposal))
    joint = pad((p / q).nan_to_num(0.0, posinf=0.0).cumprod(1), (1, 0), value=1.0)
    w = joint / joint.cummax(1).values if capped else joint
    pairs = zip(target.unbind(1), proposal.unbind(1), w[:, :-1, None].unbind(1), strict=False)
    odds = [torch.minimum(q.double(), w * p.double()).sum(-1) for p, q, w in pairs]
    return torch.stack(odds or [joint[:, 0]], 1)[:, : tokens.shape[1]] * (tokens >= 0).cumprod(1)


def covered(tree: Tree, target: Tensor, tokens: Tensor) -> Tensor:
    """[B, depth]: the target's mass on the drafted words of each length. On a deterministic draft this is
    Pr(tau >= l) of every lossless rule, with or without full information.
    """
    parents = tree.parents.expand(len(tokens), -1)
    x = torch.cat((torch.zeros_like(tokens[:, :1]), tokens.clamp(min=0)), 1)
    mass = pick(target, parents).gather(2, x[..., None])[..., 0].double()
    mass[:, 0] = 1
    mass = torch.where(tree.above, mass[:, None], 1.0).prod(-1)
    return level_law(tree, torch.where(tree.drawn(tokens), mass, 0.0))[:, 1:]


class Acceptance:
    """Measured acceptance beside its prediction, over all steps and rows that were added.

    `total`: tau against E[tau | draft, rows]; `positions` [l - 1]: tau >= l against its probability;
    `bounded` [l - 1]: tau >= l against each of the `BOUNDS`. `drawn` shows whether tokens were drawn from the
    rows that the verifier was given: min(1, p/q) of first drafted children has mean sum min(p, q) under q.

    `by_value`: whether tokens were selected by their values, so that those which are left are not draws from
    q, and no bound holds. Sampled trees have no bounds either.
    """

    def __init__(
        self, verifier: Verifier, structure: Structure, error: float = ERROR, by_value: bool = False
    ) -> None:
        self.verifier, self.depth, self.by_value = verifier, structure.depth, by_value
        self.bounds_hold = structure.kind in (CHAIN, DETERMINISTIC)
        each = error / 2 / (1 + 3 * self.depth)  # of the other intervals; half is for E[tau]
        self.total, self.drawn = Agreement(error / 2), Agreement(each)
        self.positions = Agreement(each, self.depth)
        self.bounded = {name: Agreement(each, self.depth) for name in BOUNDS}
        self.drafted = 0

    def add(self, step: Step) -> None:
        """Adds a step."""
        drafts, tau = step.drafts, torch.tensor(step.accepted)
        reached = tau[:, None] > torch.arange(self.depth)
        law = tau_law(self.verifier, step).cpu()
        missing = self.depth + 1 - law.shape[1]  # a selection may leave shorter drafts than the structure's
        law = pad(law, (0, missing))
        self.total.add(law, tau)
        self.positions.add_odds(law.flip(1).cumsum(1).flip(1)[:, 1:], reached)
        self.drafted += int(drafts.there.sum())
        if self.by_value:
            return
        if drafts.proposal is not None:
            self._draws(drafts, drafts.proposal)
        for name, test in self.bounded.items() if self.bounds_hold else ():
            if drafts.proposal is None:
                odds = covered(drafts.tree, drafts.target, drafts.tokens)
            else:
                odds = chain_odds(drafts.target, drafts.proposal, drafts.tokens, name == "stateless")
            test.add_odds(pad(odds.cpu(), (0, missing)), reached)

    def _draws(self, drafts: Drafts, proposal: Tensor) -> None:
        # min(1, p/q)(x), x ~ q, has mean sum min(p, q); a coin with that probability gives an outcome 0 or 1.
        tree, drawn, B = drafts.tree, drafts.drawn, len(proposal)
        first = drawn & ~tree.older.any(-1)
        row, node = first[:, 1:].nonzero(as_tuple=True)
        up = tree.parents.expand(B, -1)[row, node + 1]
        at = tree.rows.expand(B, -1)[row, up]
        p, q = drafts.target[row, up].double(), proposal[row, at].double()
        if drafts.strata is not None:  # a first child is drawn from the first stratum
            q = q * (1 - drafts.strata[row, at]).clamp(min=0)
            q = q / q.sum(-1, keepdim=True)
        x = drafts.tokens[row, node][:, None]
        rate = share(p.gather(1, x), q.gather(1, x))[:, 0].cpu()
        random = torch.Generator().manual_seed(self.drafted)
        coin = torch.rand(len(rate), dtype=torch.float64, generator=random)
        self.drawn.add_odds(torch.minimum(p, q).sum(1).cpu(), coin < rate)

    @property
    def bounds(self) -> dict[str, float | None]:
        """The bounds of E[tau], None if not computed."""
        tests = self.bounded.items()
        return {name: float(test.mean.sum()) / test.steps if test.steps else None for name, test in tests}

    @property
    def problems(self) -> list[str]:
        """Each disagreement as a sentence."""
        tests = {"E[tau]": self.total, "Pr(tau >= {})": self.positions, "draws from q": self.drawn}
        above = {f"Pr(tau >= {{}}) above the {name} bound": test for name, test in self.bounded.items()}
        return [
            f"{what.format(length).replace('_', '-')}: measured {each.measured:.4f}, expected "
            f"{each.predicted:.4f} (-{each.below:.4f}, +{each.above:.4f}), {each.steps} steps"
            for what, test in (tests | above).items()
            for length, each in enumerate(test.intervals, 1)
            if (each.exceeds if what in above else not each.agrees)
        ]

    def answer(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "accepted": asdict(self.total.interval),
            "positions": [asdict(each) for each in self.positions.intervals],
            "draws": asdict(self.drawn.interval),
            "bounds": self.bounds,
            "problems": self.problems,
        }
