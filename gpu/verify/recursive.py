"""Siblings one after the other: recursive rejection, traversal, and the rule without a proposal."""

import torch
from torch import Tensor

from draftproof.gpu.verify.batch import Drafts
from draftproof.gpu.verify.residual import LARGEST, excess, pick, rate, share, without
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
        D = torch.ones_like(q[..., 0]) if tree.replacement or tree.is_chain else _left(drafts, q, nodes)[1]
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


def _left(drafts: Drafts, rows: Tensor, nodes: Tensor) -> tuple[Tensor, Tensor]:
    # The rows [B, n, V] at the parents of nodes [n] without the tokens of earlier siblings, and the mass that
    # is left, as a sum: 1 minus their mass would lose digits.
    earlier = drafts.tree.older[:, nodes, 1:] & drafts.there[:, None]
    left = without(rows, drafts.ids[:, None].expand_as(earlier), earlier)
    return left, torch.where(earlier.any(-1), left.sum(-1), 1.0)


def top_k_rates(drafts: Drafts) -> Rates:
    """The rule of EAGLE-2 and EAGLE-3, which treats every drafted child as a proposal with q(x) = 1: accept
    the child with probability p(x), else p(x) <- 0 and p <- norm(p).
    """
    target, tokens, parents = drafts.target, drafts.ids, drafts.tree.parents
    accept = torch.ones_like(target[..., 0])
    for nodes in drafts.tree.steps:
        left, mass = _left(drafts, pick(target, parents[:, nodes].expand(len(target), -1)), nodes)
        into = left.gather(2, tokens[:, nodes - 1, None])[..., 0]
        accept = accept.index_copy(1, nodes, rate(into, mass))
    return Rates(accept, torch.zeros_like(accept))


RRS = Verifier((CHAIN, WITHOUT), rates)
SPECINFER = Verifier((CHAIN, WITH), rates)
TRAVERSAL = Verifier(TREES, traversal_rates, upwards=True)
ONE_HOT = Verifier(ALL, top_k_rates)
NSS = Verifier(ALL, top_k_rates, exact=one_hot.verify)  # y ~ p, compared with one child after the other
