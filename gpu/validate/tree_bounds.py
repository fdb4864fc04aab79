"""What no verifier can exceed on trees that were drawn."""

from typing import TypeAlias

import torch
from torch import Tensor

from gpu.draft import Tree
from gpu.validate.bounds import joint
from gpu.validate.inclusion import escapes, included
from gpu.verify.residual import pick

Shape: TypeAlias = "tuple[Shape, ...]"


def tree_odds(planned: Tree, tree: Tree, target: Tensor, proposal: Tensor, tokens: Tensor) -> Tensor:
    """[B, depth]: from each sampled draft, unbiased estimates of bounds on Pr(tau >= 1), Pr(tau >= 2), ...

    `planned` is the tree as it is drawn; `tree` is another one where i.i.d. paths were merged. Whatever a
    verifier knows, and may it be every row and the whole draft: for any set H of tokens, the words w x
    that it accepts with x in H have at most their own mass p(w) p(H|w), those with x beside H at most the
    chance esc(H) that the draft holds any of these. So

        Pr(tau > |w|, w accepted) <= min over H of  p(w) p(H|w) + esc(H).

    H goes through the prefixes of the tokens by q/p, largest first, from none to all. The draft goes on
    behind w with chance esc(none); where it did, w counts its bound over that chance. On one level of draws
    this is the optimum (hu2025towards, Theorem 3), on a chain block transport's (sun2025block); on deeper
    trees it is a bound, not the optimum.
    """
    B, levels = len(tokens), tree.levels[0].tolist()
    here = torch.arange(tree.size, device=tokens.device)[None]
    P, counted = joint(tree, target, tokens, here), _words(planned, tree, tokens)
    parents, rows = tree.parents.expand(B, -1), tree.rows.expand(B, -1)
    shape, widths = _nested(planned), _widths(planned)
    steps = tokens.new_zeros(
        B, tree.size, max(widths), dtype=torch.float64
    )  # by node: how its token is drawn
    found = P.new_zeros(B, tree.depth)
    for node, level in enumerate(levels):
        if node:
            q = pick(proposal, rows.gather(1, parents[:, node : node + 1]))[:, 0]
            width = widths[level - 1]
            steps[:, node, :width] = _turns(q, tokens[:, node - 1].clamp(min=0), width, planned.replacement)
        if level < tree.depth and bool(counted[:, node].any()):
            p, q = target[:, node].double(), pick(proposal, rows[:, node : node + 1])[:, 0].double()
            order = torch.where(p > 0, q / p, torch.inf).argsort(dim=-1, descending=True, stable=True)
            inside = torch.cat(
                (P.new_zeros(B, 1), (p / p.sum(-1, keepdim=True)).gather(1, order).cumsum(-1)), -1
            )
            off = escapes(q.gather(1, order), 1 if planned.replacement else widths[level])
            leaves = _chance(shape, _way(steps, parents, node, level), off, planned.replacement)
            bound = (P[:, node, None] * inside + leaves).amin(1)
            found[:, level] += torch.where(counted[:, node], bound / leaves[:, 0], 0.0)
    return found


def _chance(shape: Shape, way: list[Tensor], off: Tensor, replacement: bool) -> Tensor:
    """[B, n]: how likely a tree of this shape holds a word, one entry of `way` [B, width] a token, and
    behind it a token off the first n: off [B, n, width].
    """
    if not shape:
        return torch.zeros_like(off[..., 0])
    if not way and not replacement:
        return off[..., len(shape) - 1]
    if not way:
        return -torch.expm1(len(shape) * torch.log1p(-off[..., 0]))
    step, *rest = way
    below = {child: _chance(child, rest, off, replacement) for child in set(shape)}
    if not replacement:
        return sum((step[:, j : j + 1] * below[child] for j, child in enumerate(shape)), 0 * off[..., 0])
    missed = sum((torch.log1p(-step[:, :1] * below[child]) for child in shape), 0 * off[..., 0])
    return -torch.expm1(missed)


def _turns(q: Tensor, x: Tensor, width: int, replacement: bool) -> Tensor:
    """[B, width]: how likely x [B] is drawn from q [B, V] in the first, second, ... turn."""
    by_turn = included(q, x, 1 if replacement else width)
    before = torch.cat((torch.zeros_like(by_turn[:, :1]), by_turn[:, :-1]), 1)
    return (by_turn - before).expand(-1, width)


def _way(steps: Tensor, parents: Tensor, node: int, level: int) -> list[Tensor]:
    """The entries of `steps` from the root's child down to the node."""
    at, way = torch.full_like(parents[:, 0], node), []
    for _ in range(level):
        way.append(pick(steps, at))
        at = parents.gather(1, at[:, None])[:, 0]
    return way[::-1]


def _words(planned: Tree, tree: Tree, tokens: Tensor) -> Tensor:
    """[B, N]: the nodes behind which the draft goes on, one for each word that several spell."""
    B, N = len(tokens), tree.size
    drawn, parents = tree.drawn(tokens), tree.parents.expand(B, -1)
    goes_on = torch.zeros(N, dtype=torch.bool, device=tokens.device)
    goes_on[planned.parents[0, 1:].to(tokens.device)] = True
    counted = drawn & goes_on
    word = torch.zeros_like(parents)  # the first node that spells the same
    for node in range(1, N):
        up = word.gather(1, parents[:, 1 : node + 1])
        same = (tokens[:, :node] == tokens[:, node - 1 : node]) & (up == up[:, -1:])
        word[:, node] = 1 + same.long().argmax(1)
        earlier = (word[:, 1:node] == word[:, node : node + 1]) & counted[:, 1:node]
        counted[:, node] &= ~earlier.any(1)
    return counted


def _nested(tree: Tree) -> Shape:
    parents = tree.parents[0].tolist()
    shapes: list[list[Shape]] = [[] for _ in parents]
    for node in range(len(parents) - 1, 0, -1):
        shapes[parents[node]].insert(0, tuple(shapes[node]))
    return tuple(shapes[0])


def _widths(tree: Tree) -> list[int]:
    """The largest number of children of a node of each level."""
    parents, levels = tree.parents[0].tolist(), tree.levels[0].tolist()
    widths = [0] * tree.depth
    for node in set(parents[1:]):
        widths[levels[node]] = max(widths[levels[node]], parents[1:].count(node))
    return widths
