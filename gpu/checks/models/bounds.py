"""Upper bounds on Pr(tau >= l) of any verifier, from the rows along a drafted chain or deterministic tree."""

import torch
from torch import Tensor

from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify.residual import pick, share
from draftproof.gpu.verify.verifier import level_law


def chain_odds(target: Tensor, proposal: Tensor, tokens: Tensor, capped: bool) -> Tensor:
    """[B, gamma]: the largest possible Pr(tau >= l) given the draft up to l - 1, averaged over token l.

    The value is the sum over x of min(q(x), w p(x)). With `capped`, w = min(1, w rho) along the drafted
    tokens: this is block verification's value, the optimum of valid verification of one path in one iteration
    ("stateless"). Otherwise w is the uncapped product R: this is the mass min(p(x^l), q(x^l)) of block
    transport ("full information"), divided by q. Source: sun2025block.
    """
    w = torch.ones_like(target[:, 0, 0]).double()
    odds = []
    for i in range(tokens.shape[1]):
        p, q = target[:, i].double(), proposal[:, i].double()
        odds.append(torch.minimum(q, w[:, None] * p).sum(-1))
        x = tokens[:, i : i + 1].clamp(min=0)
        p_x, q_x = p.gather(1, x)[:, 0], q.gather(1, x)[:, 0]
        w = share(w * p_x, q_x) if capped else torch.where(q_x > 0, w * p_x / q_x, 0.0)
    return torch.stack(odds, 1) * (tokens >= 0).cumprod(1)


def covered(tree: Tree, target: Tensor, tokens: Tensor) -> Tensor:
    """[B, depth]: the target's mass on the drafted words of each length. On a deterministic draft this is
    Pr(tau >= l) of every lossless rule, with or without full information.
    """
    parents = tree.parents.expand(len(tokens), -1)
    x = torch.cat((torch.zeros_like(tokens[:, :1]), tokens.clamp(min=0)), 1)
    mass = pick(target, parents).gather(2, x[..., None])[..., 0].double()
    mass[:, 0] = 1
    for i in range(1, tree.size):
        mass[:, i] *= mass.gather(1, parents[:, i : i + 1])[:, 0]
    return level_law(tree, torch.where(tree.drawn(tokens), mass, 0.0))[:, 1:]
