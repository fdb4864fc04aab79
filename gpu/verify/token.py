"""Token verification: each drafted token on its own, from the first on."""

from torch import Tensor
from torch.nn.functional import pad

from draftproof.gpu.draft import Tree
from draftproof.gpu.verify.residual import drafted, rate
from draftproof.gpu.verify.verifier import CHAIN, Rates, Verifier


def rates(tree: Tree, target: Tensor, proposal: Tensor, tokens: Tensor, drawn: Tensor) -> Rates:
    """Accept X_i with probability min(1, p/q); at the first rejection Y ~ norm((p - q)+)."""
    p, q = drafted(target, tokens), drafted(proposal, tokens)
    return Rates(pad(rate(p, q), (1, 0), value=1), pad(drawn[:, 1:].to(p), (0, 1)))


VERIFIER = Verifier("token", (CHAIN,), rates)
