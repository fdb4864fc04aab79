"""The bounds of `tree_odds`, averaged over all drafts of an instance."""

from dataclasses import replace

import torch
from torch import Tensor

from draftproof.gpu.checks.against_exact.drafts import Drafted, every, mean, places
from draftproof.gpu.checks.models.bounds import tree_odds
from draftproof.gpu.sampling.tree import Tree as Shape
from draftproof.gpu.verify import Drafts
from draftproof.theory.draft import Node
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance


def mean_odds(instance: Instance) -> tuple[Tensor, Tensor]:
    """([depth], [depth]): the means of `tree_odds` over all drafts, "stateless" and "full information".

    For chains, for trees drawn with or without replacement, and for K paths, which are merged. Float64.
    """
    rows, weights = placed(instance)
    if isinstance(instance.draft, Paths):
        rows = merged(rows, instance.draft.count)
    tree = planned(instance.draft)
    stateless, full = tree_odds(tree, rows.tree, rows.target, rows.q, rows.tokens, rows.strata)
    return weights @ stateless, weights @ full


def planned(scheme: Scheme) -> Shape:
    """The tree as it is drawn, with equal tokens as separate nodes."""
    if isinstance(scheme, Paths):
        return Shape.paths(scheme.count, scheme.depth)
    if isinstance(scheme, Chain):
        return Shape.chain(scheme.depth)
    if isinstance(scheme, Stratified):
        return Shape.of_shape(scheme.shape, stratified=True)
    if isinstance(scheme, Tree):
        return Shape.of_shape(scheme.shape, scheme.replacement)
    raise BadInput(f"a draft of the kind {scheme.label} is not a tree of fixed shape")


def placed(instance: Instance) -> tuple[Drafts, Tensor]:
    """All drafts as tokens of the planned tree (-1 if q ran out of tokens), and their probabilities."""
    if isinstance(instance.draft, Paths):
        return _side_by_side(instance, instance.draft)
    tree, drafts = planned(instance.draft), list(every(instance))
    found = [_place(each, tree) for each in drafts]
    *given, tokens = zip(*found, strict=True)
    target, proposal, among = (torch.tensor(each, dtype=torch.float64) for each in given)
    weights = torch.tensor([float(each.weight) for each in drafts], dtype=torch.float64)
    strata = among if tree.stratified else None
    return Drafts(tree, target, proposal, torch.tensor(tokens), strata=strata), weights


def merged(rows: Drafts, count: int) -> Drafts:
    """K paths side by side, merged by prefix."""
    tree, tokens = Shape.merged(rows.tokens.view(len(rows.tokens), count, -1))
    return Drafts(tree, rows.target, rows.proposal, tokens)


def _place(drafted: Drafted, tree: Shape) -> tuple[list, list, list, list[int]]:
    parents, instance = tree.parents[0].tolist(), drafted.instance
    nodes: list[Node | None] = [drafted.draft.root]
    for i in range(1, tree.size):
        above, rank = nodes[parents[i]], parents[1:i].count(parents[i])
        nodes.append(above.children[rank] if above is not None and rank < len(above.children) else None)
    even = [1 / instance.vocab] * instance.vocab
    target = [list(map(float, instance.target[node.prefix])) if node else even for node in nodes]
    inner = map(nodes.__getitem__, tree.inner or ())
    laws = [drafted.draft.laws(node) if node else () for node in inner]
    proposal = [list(map(float, mean(rows))) if rows else even for rows in laws]
    strata = [list(map(float, places(rows))) if rows else even for rows in laws]
    return target, proposal, strata, [node.token if node else -1 for node in nodes[1:]]


def _side_by_side(instance: Instance, scheme: Paths) -> tuple[Drafts, Tensor]:
    chains, weights = placed(replace(instance, draft=Chain(scheme.depth)))
    chosen = torch.cartesian_prod(*[torch.arange(len(weights))] * scheme.count).view(-1, scheme.count)
    paths = [chains.take(which) for which in chosen.unbind(1)]
    target = torch.cat([path.target[:, min(k, 1) :] for k, path in enumerate(paths)], 1)
    proposal = torch.cat([path.q[:, min(k, 1) :] for k, path in enumerate(paths)], 1)
    tokens = torch.cat([path.tokens for path in paths], 1)
    return Drafts(planned(scheme), target, proposal, tokens), weights[chosen].prod(1)
