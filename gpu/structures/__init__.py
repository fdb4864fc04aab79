"""Shapes of drafts: chains, paths, fixed trees, trees that follow the drafter's probabilities."""

from draftproof.gpu import spelling
from draftproof.gpu.draft import Tree
from draftproof.gpu.drafters.drafter import Structure
from draftproof.gpu.structures.sampled import Paths, Sampled
from draftproof.gpu.structures.top_k import TopK


def structure(name: str) -> Structure:
    """The structure that is spelled so; BadInput when it is none. The spellings are those of `gpu.spelling`.

    >>> structure("chain:4").size, structure("tree:2x3").size, structure("tree:eagle").depth
    (5, 15, 5)
    """
    kind, given = spelling.draft(name)
    if kind == "paths":
        return Paths(name, *given)
    if kind == "top-k":
        return TopK(name, *given)
    if kind == "chain":
        tree = Tree.chain(*given)
    elif kind == "paths+":
        tree = Tree.paths(*given)
    else:
        tree = Tree.of_shape(given, replacement=kind == "tree+")
    return Sampled(name, tree)


__all__ = ["structure"]
