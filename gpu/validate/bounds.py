"""What no verifier can exceed on the rows of a chain or of a deterministic tree."""

import torch
from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.verify.residual import pick, share
from draftproof.gpu.verify.verifier import level_law


def chain_odds(target: Tensor, proposal: Tensor, tokens: Tensor, capped: bool) -> Tensor:
    """[B, gamma]: the most that Pr(tau >= l) can be, given the draft up to l - 1 and averaged over token l.

    sum over x of min(q(x), w p(x)), with w = min(1, w rho) along the drafted tokens (`capped`): block
    verification's, the optimum of valid verification of one path in one iteration ("stateless"); or with
    w the uncapped product R: the mass min(p(x^l), q(x^l)) of block transport ("full information"), over q.
    Source: sun2025block.
    """
    w = torch.ones_like(target[:, 0, 0]).double()
    odds = []
    for i in range(tokens.shape[1]):
        p, q = target[:, i].double(), proposal[:, i].double()
        odds.append(torch.minimum(q, w[:, None] * p).sum(-1))
        x = tokens[:, i : i + 1].clamp(min=0)
        p_x, q_x = p.gather(1, x)[:, 0], q.gather(1, x)[:, 0]
        w = share(w * p_x, q_x) if capped else torch.where(q_x > 0, w * p_x / q_x, 0.0)
    there = (tokens >= 0).cumprod(1)
    return torch.stack(odds, 1) * there


def covered(tree: Tree, target: Tensor, tokens: Tensor) -> Tensor:
    """[B, depth]: the target's mass on the drafted words of each length: Pr(tau >= l) of every lossless
    rule on a deterministic draft, with or without full information.
    """
    parents = tree.parents.expand(len(tokens), -1)
    x = torch.cat((torch.zeros_like(tokens[:, :1]), tokens.clamp(min=0)), 1)
    mass = pick(target, parents).gather(2, x[..., None])[..., 0].double()
    mass[:, 0] = 1
    for i in range(1, tree.size):
        mass[:, i] *= mass.gather(1, parents[:, i : i + 1])[:, 0]
    return level_law(tree, torch.where(tree.drawn(tokens), mass, 0.0))[:, 1:]
