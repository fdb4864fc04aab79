"""What no verifier can exceed on the rows of a chain or of a deterministic tree."""

import torch
from torch import Tensor

from gpu.draft import Tree
from gpu.verify.residual import pick, share


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


def joint(tree: Tree, rows: Tensor, tokens: Tensor, index: Tensor) -> Tensor:
    """[B, N] float64: the joint probability of each node's path under rows[b, index[b, parent]]."""
    single = pick(rows, index.expand(len(tokens), -1).gather(1, tree.parents.expand(len(tokens), -1)))
    x = torch.cat((torch.zeros_like(tokens[:, :1]), tokens.clamp(min=0)), 1)
    single = single.gather(2, x[..., None])[..., 0].double()
    single[:, 0] = 1
    for i in range(1, tree.size):
        single[:, i : i + 1] *= single.gather(1, tree.parents[:, i : i + 1].expand(len(tokens), -1))
    return torch.where(tree.drawn(tokens), single, 0.0)


def by_level(tree: Tree, nodes: Tensor) -> Tensor:
    """[B, depth]: sums over the nodes of each depth from 1 on."""
    levels = tree.levels.expand(len(nodes), -1)
    return nodes.new_zeros(len(nodes), tree.depth + 1).scatter_add(1, levels, nodes)[:, 1:]


def covered(tree: Tree, target: Tensor, tokens: Tensor) -> Tensor:
    """[B, depth]: the target's mass on the drafted words of each length: Pr(tau >= l) of every lossless
    rule on a deterministic draft, with or without full information.
    """
    here = torch.arange(tree.size, device=tokens.device)[None]
    return by_level(tree, joint(tree, target, tokens, here))
