"""Block verification: the whole path is judged together, from its end."""

import torch
from torch.nn.functional import pad

from draftproof.gpu.verify.batch import Drafts
from draftproof.gpu.verify.residual import LARGEST, drafted, rate, share
from draftproof.gpu.verify.verifier import CHAIN, Rates, Verifier


def rates(drafts: Drafts) -> Rates:
    """w_i = min(1, w_{i-1} p/q);  A_i = sum (w_i p - q)+;  h_i = A_i / (A_i + 1 - w_i), and w at the end.

    The stop is the last i accepted with probability h_i; Y ~ norm((w p - q)+), p after the last.
    """
    target, proposal, gamma = drafts.target, drafts.q, drafts.tokens.shape[1]
    p, q = drafted(target, drafts.ids), drafted(proposal, drafts.ids)
    w = [torch.ones_like(target[:, 0, 0])]
    for i in range(gamma):
        w.append(rate(w[-1] * p[:, i], q[:, i]))
    w = torch.stack(w, 1)
    goes_on = pad(drafts.drawn[:, 1:], (0, 1))
    A = pad((w[:, :-1, None] * target[:, :-1] - proposal[:, :gamma]).clamp(min=0).sum(-1), (0, 1))
    accept = torch.where(goes_on, share(A, A + (1 - w)), w)
    return Rates(accept, torch.where(goes_on, (1 / w).clamp(max=LARGEST), 0.0))


VERIFIER = Verifier("block", (CHAIN,), rates, upwards=True)
