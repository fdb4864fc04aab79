"""Traversal Verification: subtrees are judged from leaf to root."""

from draftproof.gpu.verify.batch import Drafts
from draftproof.gpu.verify.recursive import rejections
from draftproof.gpu.verify.verifier import TREES, Rates, Verifier


def rates(drafts: Drafts) -> Rates:
    """a(root) = 1, a(x) = min(1, a(parent) p(x)/q(x)); a rejected child x makes, at its parent f,
    p <- norm((a p - q)+) and a <- S / (S + 1 - a). A node is asked after all below it.
    """
    _, left, cut = rejections(drafts, joint=True)
    return Rates(left, cut)


VERIFIER = Verifier("traversal", TREES, rates, upwards=True)
