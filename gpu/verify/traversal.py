"""Traversal Verification: subtrees are judged from leaf to root."""

from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.verify.recursive import rejections
from draftproof.gpu.verify.verifier import TREES, Rates, Verifier


def rates(tree: Tree, target: Tensor, proposal: Tensor, tokens: Tensor, drawn: Tensor) -> Rates:
    """a(root) = 1, a(x) = min(1, a(parent) p(x)/q(x)); a rejected child x makes, at its parent f,
    p <- norm((a p - q)+) and a <- S / (S + 1 - a). A node is asked after all below it.
    """
    _, left, cut = rejections(tree, target, proposal, tokens, drawn, joint=True)
    return Rates(left, cut)


VERIFIER = Verifier("traversal", TREES, rates, upwards=True)
