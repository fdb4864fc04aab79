"""Siblings one after the other: recursive rejection, traversal, and the rule without a proposal."""

from collections.abc import Iterator

import torch
from torch import Tensor

from draftproof.gpu.verify.batch import Drafts
from draftproof.gpu.verify.residual import LARGEST, among, excess, pick, rate, share
from draftproof.gpu.verify.verifier import ALL, CHAIN, TREES, WITH, WITHOUT, Rates, Verifier
from draftproof.theory.verifiers import one_hot


def rates(drafts: Drafts) -> Rates:
    """Accept a child with probability min(1, p/q); a rejection makes p <- norm((p - q)+)."""
    accept, _, cut = rejections(drafts, joint=False)
    return Rates(accept, cut)


def traversal_rates(drafts: Drafts) -> Rates:
    """Subtrees are decided from leaf to root: a node's coin is compared after those of all its descendants.

    a(root) = 1, a(x) = min(1, a(parent) p(x)/q(x)); a rejected child x makes, at its parent f,
    p <- norm((a p - q)+) and a <- S / (S + 1 - a).
    """
    _, left, cut = rejections(drafts, joint=True)
    return Rates(left, cut)


def rejections(drafts: Drafts, joint: bool) -> tuple[Tensor, Tensor, Tensor]:
    """(entry, left, cut), each [B, N]: the rate at which a node is entered; and, after all its children were
    rejected, its rate and the cut of its row.

    After j rejections at a node its row is (p - c q)+ / T and its rate a. The next sibling's law is q without
    the earlier tokens, divided by its mass D. If the next child is rejected too,

        c <- c + T / (a D);  T <- sum (p - c q)+;  S = a T_new / T_old;  a <- S / (S + 1 - a)

    so that no new row has to be stored. With `joint` a child's rate starts at its entry rate (traversal),
    otherwise at 1.
    """
    tree, target, proposal = drafts.tree, drafts.target, drafts.q
    tokens, drawn = drafts.ids, drafts.drawn
    B, N = drawn.shape
    entry = target.new_ones(B, N)
    a, c, T = entry, torch.zeros_like(entry), entry
    parents, rows = tree.parents.expand(B, -1), tree.rows.expand(B, -1)
    for nodes in tree.steps:
        f, x, there = parents[:, nodes], tokens[:, nodes - 1], drawn[:, nodes]
        p, q = pick(target, f), pick(proposal, rows.gather(1, f))
        D = _left(drafts, q, nodes)
        a_f, c_f, T_f = a.gather(1, f), c.gather(1, f), T.gather(1, f)
        p_x, q_x = p.gather(2, x[..., None])[..., 0], q.gather(2, x[..., None])[..., 0]
        into = rate(a_f * (p_x - c_f * q_x).clamp(min=0) * D, T_f * q_x)
        cut = (c_f + T_f / (a_f * D)).clamp(max=LARGEST)
        cut = torch.where((a_f > 0) & (D > 0) & (T_f > 0), cut, c_f)
        mass = excess(p, cut, q).sum(-1)
        S = torch.where(T_f > 0, a_f * mass / T_f, 0.0)
        a = a.scatter(1, f, torch.where(there, share(S, S + (1 - a_f)), a_f))
        c = c.scatter(1, f, torch.where(there, cut, c_f))
        T = T.scatter(1, f, torch.where(there, mass, T_f))
        entry = entry.index_copy(1, nodes, into)
        if joint:
            a = a.index_copy(1, nodes, into)
    return entry, a, c


def _left(drafts: Drafts, q: Tensor, nodes: Tensor) -> Tensor:
    # The mass of q without the earlier siblings' tokens, as a sum: 1 minus their mass would lose digits.
    tree, parents = drafts.tree, drafts.tree.parents
    if tree.replacement or tree.is_chain:
        return torch.ones_like(q[..., 0])
    others = torch.arange(1, tree.size, device=q.device)
    earlier = (parents[:, None, 1:] == parents[:, nodes, None]) & (others < nodes[:, None])
    earlier = earlier & drafts.drawn[:, None, 1:]
    ids = among(drafts.ids[:, None].expand_as(earlier), earlier, q.shape[-1])
    return torch.where(earlier.any(-1), torch.where(ids, 0.0, q).sum(-1), 1.0)


def top_k_rates(drafts: Drafts) -> Rates:
    """The rule of EAGLE-2 and EAGLE-3, which treats every drafted child as a proposal with q(x) = 1: accept
    the child with probability p(x), else p(x) <- 0 and p <- norm(p).
    """
    accept = [torch.ones_like(drafts.target[:, 0, 0])]
    for p, x, earlier in _children(drafts):
        left = torch.where(earlier, 0.0, p)
        accept.append(rate(left.gather(1, x)[:, 0], torch.where(earlier.any(-1), left.sum(-1), 1.0)))
    accept = torch.stack(accept, 1)
    return Rates(accept, torch.zeros_like(accept))


def _children(drafts: Drafts) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    # For each node: its parent's row p [B, V], its token [B, 1], and its earlier siblings' tokens [B, V].
    tree, target, tokens, drawn = drafts.tree, drafts.target, drafts.ids, drafts.drawn
    for i in range(1, tree.size):
        up = tree.parents[:, i]
        earlier = drawn[:, 1:i] & (tree.parents[:, 1:i] == up[:, None])
        ids = among(tokens[:, : i - 1], earlier, target.shape[-1])
        yield pick(target, up.expand(len(target))), tokens[:, i - 1 : i], ids


RRS = Verifier((CHAIN, WITHOUT), rates)
SPECINFER = Verifier((CHAIN, WITH), rates)
TRAVERSAL = Verifier(TREES, traversal_rates, upwards=True)
ONE_HOT = Verifier(ALL, top_k_rates)
NSS = Verifier(ALL, top_k_rates, exact=one_hot.verify)  # y ~ p, compared with one child after the other
