"""Token verification: each drafted token on its own, from the first on."""

from torch.nn.functional import pad

from draftproof.gpu.verify.batch import Drafts
from draftproof.gpu.verify.residual import drafted, rate
from draftproof.gpu.verify.verifier import CHAIN, Rates, Verifier


def rates(drafts: Drafts) -> Rates:
    """Accept X_i with probability min(1, p/q); at the first rejection Y ~ norm((p - q)+)."""
    p, q = drafted(drafts.target, drafts.ids), drafted(drafts.q, drafts.ids)
    return Rates(pad(rate(p, q), (1, 0), value=1), pad(drafts.drawn[:, 1:].to(p), (0, 1)))


VERIFIER = Verifier("token", (CHAIN,), rates)
