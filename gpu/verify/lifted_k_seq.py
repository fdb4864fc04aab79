"""K-SEQ lifted to trees: subtrees are decided from leaf to root, all siblings against the same row."""

import torch
from torch import Tensor

from draftproof.gpu.verify.batch import Drafts
from draftproof.gpu.verify.residual import LARGEST, pick, rate, share
from draftproof.gpu.verify.verifier import CHAIN, WITH, Rates, Verifier

HALVINGS = 24  # bisections of [1, k], which contains rho: down to float32's resolution
SLACK = 2.0**-48  # relative float64 error in the condition on rho, which is an equality at rho = 1 if p = q


def rates(drafts: Drafts) -> Rates:
    """a(root) = 1; a child x is entered with a(x) = min(1, a p / (rho q)), independently of its siblings. The
    node itself is then accepted with S / (S + 1 - a), S = sum (a p - rho q)+, and Y ~ norm((a p - rho q)+).

    rho solves K-SEQ's equation for the row a p and k children, 1 - (1 - beta)^k = rho beta, so that the
    children take min(a p, rho q) of the row. The search runs in float64 and reads the rows HALVINGS + 2
    times.
    """
    tree, target, proposal = drafts.tree, drafts.target, drafts.q
    tokens, drawn = drafts.ids, drafts.drawn
    B, N = drawn.shape
    parents, rows = tree.parents.expand(B, -1), tree.rows.expand(B, -1)
    up = parents[:, 1:]
    at = torch.arange(B, device=tokens.device)[:, None]
    p_x = target[at, up, tokens].double()
    q_x = proposal[at, rows.gather(1, up), tokens].double() if N > 1 else p_x
    a = target.new_ones(B, N, dtype=torch.float64)
    k = torch.zeros_like(parents).scatter_add(1, up, drawn[:, 1:].long())
    rho, S = a, a
    for nodes in tree.generations:
        f = nodes.expand(B, -1)
        p, q = pick(target, f).double(), pick(proposal, rows.gather(1, f)).double()
        p, q = p / p.sum(-1, keepdim=True), q / q.sum(-1, keepdim=True)
        t = a.gather(1, f)[..., None] * p
        found = a.new_ones(f.shape) if tree.is_chain else smallest_rho(t, q, k.gather(1, f))
        rho = rho.index_copy(1, nodes, found)
        S = S.index_copy(1, nodes, (t - found[..., None] * q).clamp(min=0).sum(-1))
        entry = rate(a.gather(1, up) * p_x, rho.gather(1, up) * q_x)  # final once the parent's level is done
        a = torch.cat((a[:, :1], entry), 1)
    accept = torch.where(k > 0, share(S, S + (1 - a)), a)
    cut = torch.where(k > 0, (rho / a).clamp(max=LARGEST), 0.0)
    return Rates(accept.to(target), cut.to(target))


def smallest_rho(t: Tensor, q: Tensor, k: Tensor) -> Tensor:
    """[...]: the smallest rho in [1, k] with 1 - (1 - beta)^k <= rho beta, beta = sum min(t / rho, q), for
    k [...] children and rows [..., V] in float64, q of mass 1 and t of mass at most 1.
    """
    k = k.clamp(min=1).double()

    def holds(rho: Tensor) -> Tensor:
        beta = torch.minimum(t / rho[..., None], q).sum(-1).clamp(max=1)
        chosen = -torch.expm1(k * torch.log1p(-beta))
        return chosen <= rho * beta * (1 + SLACK)

    low = torch.ones_like(k)
    high = torch.where(holds(low), low, k)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        fits = holds(middle)
        low, high = torch.where(fits, low, middle), torch.where(fits, middle, high)
    return high


VERIFIERS = (Verifier("lifted-k-seq", (CHAIN, WITH), rates, upwards=True),)
