"""What no verifier can exceed on trees that were drawn."""

from typing import TypeAlias

import torch
from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.validate.inclusion import escapes, included
from draftproof.gpu.verify.residual import pick

Shape: TypeAlias = "tuple[Shape, ...]"


def tree_odds(
    planned: Tree, tree: Tree, target: Tensor, proposal: Tensor, tokens: Tensor
) -> tuple[Tensor, Tensor]:
    """([B, depth], [B, depth]): from each sampled draft, unbiased estimates of bounds on Pr(tau >= 1), ...,
    Pr(tau >= depth): of verifiers that are valid in one iteration ("stateless"), of all ("full information").

    `planned` is the tree as it is drawn; `tree` is another one where i.i.d. paths were merged. Let A(w) be
    the chance that the word w is accepted, and H any set of tokens. Words w x with x in H are accepted with
    chance C(w) p(H|w) at most, those with x beside H with the chance esc(H) that the draft holds any. So

        Pr(tau > |w|, w accepted) <= min over H of  C(w) p(H|w) + esc(H).

    Whatever a verifier knows, and may it be every row and the whole draft, this holds with C(w) = p(w). A
    valid one goes on behind w with chance A(w), and must then follow p(.|w): what it emits begins with w x
    with chance A(w) p(x|w), of which A(w x) is a part. Hence it holds with A <= C, where

        C(root) = 1,  C(w x) = min(C(w) p(x|w), chance that the draft holds w x).

    H goes through the prefixes of the tokens by q/p, largest first, from none to all. The draft goes on
    behind w with chance esc(none); where it did, w counts its bound over that chance, which is at most 1. On
    one level of draws both are the optimum (hu2025towards, Theorem 3), on a chain block verification's and
    block transport's (sun2025block); on deeper trees they are bounds, not optima.
    """
    B, levels = len(tokens), tree.levels[0].tolist()
    parents, rows = tree.parents.expand(B, -1), tree.rows.expand(B, -1)
    shape, widths, counted = _nested(planned), _widths(planned), _words(planned, tree, tokens)
    turns = [1] * tree.depth if planned.replacement else widths
    most = target.new_ones(2, B, tree.size, dtype=torch.float64)  # C by node
    steps = most.new_zeros(B, tree.size, max(turns))  # by node: how its token is drawn
    found = most.new_zeros(2, B, tree.depth)
    for node, level in enumerate(levels):
        if 0 < level < tree.depth:
            up, x = parents[:, node : node + 1], tokens[:, node - 1 : node].clamp(min=0)
            p, q = pick(target, up)[:, 0].double(), pick(proposal, rows.gather(1, up))[:, 0]
            among = included(q, x[:, 0], turns[level - 1])  # the first turn, the first two, ...
            steps[:, node, : turns[level - 1]] = among.diff(prepend=torch.zeros_like(x))
            way = _way(steps, parents, up[:, 0], level - 1)
            held = _chance(shape, way, among[:, None], planned.replacement)[:, 0]
            here = most.gather(2, up.expand(2, -1, -1))[..., 0] * p.gather(1, x)[:, 0]
            most[:, :, node] = torch.stack((here[0].minimum(held), here[1]))
        if level < tree.depth and bool(counted[:, node].any()):
            p, q = target[:, node].double(), pick(proposal, rows[:, node : node + 1])[:, 0].double()
            order = torch.where(p > 0, q / p, torch.inf).argsort(dim=-1, descending=True, stable=True)
            inside = (p / p.sum(-1, keepdim=True)).gather(1, order).cumsum(-1)
            inside = torch.cat((inside.new_zeros(B, 1), inside), -1)
            way = _way(steps, parents, torch.full_like(parents[:, 0], node), level)
            leaves = _chance(shape, way, escapes(q.gather(1, order), turns[level]), planned.replacement)
            bound = (most[:, :, node, None] * inside + leaves).amin(-1)
            found[:, :, level] += torch.where(counted[:, node], bound / leaves[:, 0], 0.0)
    return found[0], found[1]


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


def _way(steps: Tensor, parents: Tensor, at: Tensor, level: int) -> list[Tensor]:
    """The entries of `steps` from the root's child down to the nodes at [B] of that level."""
    way = []
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
