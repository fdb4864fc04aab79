"""Where verification stops, as a law: what the coins would do with a verifier's rates."""

import torch
from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.verify.verifier import Verifier


def stop_law(verifier: Verifier, tree: Tree, accept: Tensor, drawn: Tensor) -> Tensor:
    """[B, N] float64: the probability of a stop at each node, given the draft; rows sum to 1.

    accept [B, N] are the rates of `Verifier.rates`, drawn [B, N] as in `Tree.drawn`. It is the law of
    `Verifier.decide` over independent coins that are uniform on [0, 1).

    >>> from draftproof.gpu.verify import named
    >>> half, drawn = torch.full((1, 3), 0.5), torch.ones(1, 3, dtype=torch.bool)
    >>> stop_law(named("token"), Tree.chain(2), half, drawn).tolist()
    [[0.5, 0.25, 0.25]]
    >>> stop_law(named("block"), Tree.chain(2), half, drawn).tolist()
    [[0.25, 0.25, 0.5]]
    """
    rates = torch.where(drawn, accept.double().clamp(0, 1), 0.0)
    return _upwards(tree, rates) if verifier.upwards else _downwards(tree, rates, verifier.one_coin)


def level_law(tree: Tree, stops: Tensor) -> Tensor:
    """[B, depth + 1]: the law of tau, the depth of the stop."""
    levels = tree.levels.expand(len(stops), -1)
    return stops.new_zeros(len(stops), tree.depth + 1).scatter_add(1, levels, stops)


def _upwards(tree: Tree, rates: Tensor) -> Tensor:
    order = tree.turn.expand(len(rates), -1).argsort(1)
    asked = rates.scatter(1, torch.zeros_like(order[:, :1]), 1.0).gather(1, order)
    refused = torch.cat((torch.ones_like(asked[:, :1]), (1 - asked).cumprod(1)[:, :-1]), 1)
    return torch.zeros_like(rates).scatter(1, order, asked * refused)


def _downwards(tree: Tree, rates: Tensor, one_coin: bool) -> Tensor:
    reach = torch.zeros_like(rates)
    reach[:, 0] = 1
    left = torch.ones_like(rates)  # of each node: the chance that no child so far was taken
    parents = tree.parents.expand(len(rates), -1)
    for i in range(1, tree.size):
        up, rate = parents[:, i : i + 1], rates[:, i : i + 1]
        still = left.gather(1, up)
        after = torch.minimum(still, 1 - rate) if one_coin else still * (1 - rate)
        reach[:, i : i + 1] = reach.gather(1, up) * (still - after)
        left = left.scatter(1, up, after)
    return reach * left
