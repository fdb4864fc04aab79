"""Bounds that are read off single drafts, averaged over all drafts of an instance."""

from dataclasses import replace

import torch
from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.exact.drafts import Batch, Drafted, every
from draftproof.gpu.validate.bounds import tree_odds
from draftproof.theory.draft import Node
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.tree import Tree as Drawn
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance


def mean_odds(instance: Instance) -> tuple[Tensor, Tensor]:
    """([depth], [depth]): the means of `tree_odds` over all drafts, "stateless" and "full information".

    For chains, for trees drawn with or without replacement, and for K paths, which are merged. Float64.

    >>> from draftproof.theory.instance import context_free
    >>> toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
    >>> [round(float(odds.sum()), 9) for odds in mean_odds(toy)]
    [1.222222222, 1.333333333]
    """
    rows, weights = placed(instance)
    if isinstance(instance.draft, Paths):
        rows = merged(rows, instance.draft.count)
    tree = planned(instance.draft)
    stateless, full = tree_odds(tree, rows.tree, rows.target, rows.proposal, rows.tokens)
    return weights @ stateless, weights @ full


def planned(scheme: Scheme) -> Tree:
    """The tree as it is drawn, equal tokens kept apart."""
    if isinstance(scheme, Paths):
        return Tree.paths(scheme.count, scheme.depth)
    if isinstance(scheme, Chain):
        return Tree.chain(scheme.depth)
    if isinstance(scheme, Drawn):
        return Tree.of_shape(scheme.shape, scheme.replacement)
    raise BadInput(f"a draft of the kind {scheme.label} is not drawn as a tree of one shape")


def placed(instance: Instance) -> tuple[Batch, Tensor]:
    """All drafts in the places of the planned tree, -1 where q ran out of tokens, and their probabilities."""
    if isinstance(instance.draft, Paths):
        return _side_by_side(instance, instance.draft)
    tree, drafts = planned(instance.draft), list(every(instance))
    places = [_place(each, tree) for each in drafts]
    target, proposal, tokens = (list(parts) for parts in zip(*places, strict=True))
    rows = torch.tensor(target, dtype=torch.float64), torch.tensor(proposal, dtype=torch.float64)
    weights = torch.tensor([float(each.weight) for each in drafts], dtype=torch.float64)
    return Batch(tree, *rows, torch.tensor(tokens)), weights


def merged(rows: Batch, count: int) -> Batch:
    """K paths side by side, merged by prefix."""
    tree, tokens = Tree.merged(rows.tokens.view(len(rows.tokens), count, -1))
    return Batch(tree, rows.target, rows.proposal, tokens)


def _place(drafted: Drafted, tree: Tree) -> tuple[list[list[float]], list[list[float]], list[int]]:
    parents, instance = tree.parents[0].tolist(), drafted.instance
    nodes: list[Node | None] = [drafted.draft.root]
    for i in range(1, tree.size):
        above, rank = nodes[parents[i]], parents[1:i].count(parents[i])
        nodes.append(above.children[rank] if above is not None and rank < len(above.children) else None)
    even = [1 / instance.vocab] * instance.vocab
    target = [list(map(float, instance.target[node.prefix])) if node else even for node in nodes]
    proposal = [
        list(map(float, instance.proposal[node.prefix])) if node else even
        for node in map(nodes.__getitem__, tree.inner or ())
    ]
    return target, proposal, [node.token if node else -1 for node in nodes[1:]]


def _side_by_side(instance: Instance, scheme: Paths) -> tuple[Batch, Tensor]:
    chains, weights = placed(replace(instance, draft=Chain(scheme.depth)))
    chosen = torch.cartesian_prod(*[torch.arange(len(weights))] * scheme.count).view(-1, scheme.count)
    paths = [chains.take(which) for which in chosen.unbind(1)]
    target = torch.cat([path.target[:, min(k, 1) :] for k, path in enumerate(paths)], 1)
    proposal = torch.cat([path.proposal[:, min(k, 1) :] for k, path in enumerate(paths)], 1)
    tokens = torch.cat([path.tokens for path in paths], 1)
    return Batch(planned(scheme), target, proposal, tokens), weights[chosen].prod(1)
