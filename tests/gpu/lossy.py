"""Verifiers with a known fault, which must be rejected: lossy ones, some from released code, and one that
keeps the law but accepts too little.

`test_faults.py` runs those that show within a few thousand texts; the law of a faint one is computed exactly
in `test_bounds.py`.
"""

from copy import copy
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import pad

from draftproof.gpu.drafters.likeliest import TopK
from draftproof.gpu.network.session import Draft, Structure
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import Batch, Drafts, Outcome, Rates, Verifier, chains, recursive
from draftproof.gpu.verify.residual import LARGEST, drafted, draw, share
from draftproof.gpu.verify.verifier import BELOW_ONE, CHAIN, WITHOUT


def _ratios(drafts: Drafts) -> Tensor:
    return drafted(drafts.target, drafts.ids) / drafted(drafts.q, drafts.ids).clamp(min=1e-30)


def _uncapped_leaf(drafts: Drafts) -> Rates:
    """HSD as released: block verification, but the whole draft is accepted with min(1, R)."""
    rates = chains.block_rates(drafts)
    whole = _ratios(drafts).prod(1).clamp(max=1)
    accept = torch.cat((rates.accept[:, :-1], whole[:, None]), 1)
    return Rates(torch.where(drafts.drawn.all(1, keepdim=True), accept, rates.accept), rates.cut)


def greedy_block_rates(drafts: Drafts) -> Rates:
    """R_i = rho_1 ... rho_i;  D+ = sum (R_i p - q)+, D- = sum (q - R_i p)+, h_i = min(1, D+ / D-);
    min(1, R) at the end;  Y ~ norm((R p - q)+), or p after the last token.

    Lossless only if the next gamma - tau - 1 tokens get the modified target of
    theory/verifiers/greedy_block.py, which they do not get here. If R exceeds 1, R p and q are both
    divided by R to avoid overflow.
    """
    target, proposal, gamma = drafts.target, drafts.q, drafts.tokens.shape[1]
    p, q = drafted(target, drafts.ids).double(), drafted(proposal, drafts.ids).double()
    steps = torch.where(p > 0, p / q, 0.0).clamp(max=LARGEST)
    R = pad(steps.cumprod(1).clamp(max=LARGEST), (1, 0), value=1)
    up, down = R.clamp(max=1).to(target), (1 / R).clamp(max=1).to(target)
    apart = up[:, :-1, None] * target[:, :-1] - down[:, :-1, None] * proposal[:, :gamma]
    h = share(apart.clamp(min=0).sum(-1), (-apart).clamp(min=0).sum(-1))
    h, goes_on = pad(h, (0, 1), value=1), pad(drafts.there, (0, 1))
    accept = torch.where(goes_on, torch.where(R > 0, h, 0.0), up)
    cut = (1 / R).clamp(max=LARGEST).to(target)
    return Rates(accept, torch.where(goes_on, cut, 0.0))


def _typical(drafts: Drafts) -> Rates:
    """Medusa's typical acceptance: p(x) > min(0.09, 0.3 exp(-H(p))), without a coin; Y ~ p."""
    target = drafts.target
    entropy = -torch.special.xlogy(target, target).sum(-1)[:, :-1]
    typical = drafted(target, drafts.ids) > (0.3 * (-entropy).exp()).clamp(max=0.09)
    accept = pad(typical.to(target.dtype), (1, 0), value=1)
    return Rates(accept, torch.zeros_like(accept))


def _target_for_residual(drafts: Drafts) -> Rates:
    """After a rejection the extra token is drawn from p itself."""
    accept = chains.token_rates(drafts).accept
    return Rates(accept, torch.zeros_like(accept))


def _with_replacement(drafts: Drafts) -> Rates:
    """The rule for siblings drawn with replacement, applied to siblings drawn without."""
    tree = copy(drafts.tree)
    tree.replacement = True
    return recursive.rates(replace(drafts, tree=tree))


def _plain_ratios(drafts: Drafts) -> Rates:
    accept = pad(_ratios(drafts), (1, 0), value=1)
    return Rates(accept, chains.token_rates(drafts).cut)


def _unscaled(drafts: Drafts) -> Rates:
    """Block verification with the residual (p - q)+, not (w p - q)+."""
    rates = chains.block_rates(drafts)
    return Rates(rates.accept, (rates.cut > 0).to(rates.cut))


class _KeepsRejected(Verifier):
    """Draws the extra token from (p - cut q)+ without removing the tokens of rejected children."""

    def left(self, drafts: Drafts, cut: Tensor, node: Tensor) -> Tensor:
        return super().left(replace(drafts, tokens=torch.full_like(drafts.tokens, -1)), cut, node)


class _JointProduct(Verifier):
    """tau is the last i at which the product of ratios reaches the product of coins."""

    def decide(self, tree: Tree, accept: Tensor, drawn: Tensor, coins: Tensor) -> Tensor:
        taken = drawn[:, 1:] & (accept[:, 1:].cumprod(1) >= coins.cumprod(1))
        place = torch.arange(1, tree.size, device=coins.device)
        return torch.where(taken, place, 0).amax(1)


REFUSED = 0.05


class _Refusing(Verifier):
    """Refuses one draft in twenty unread, and draws Y ~ p instead: lossless, with 5 % less acceptance than
    its rates say.
    """

    def verify(self, batch: Batch, softmax: bool = False) -> Outcome:
        first = batch.coins[:, :1]  # below REFUSED: refused; otherwise it is uniform again
        coins = torch.cat(((first - REFUSED).clamp(min=0) / (1 - REFUSED), batch.coins[:, 1:]), 1)
        out, refused = super().verify(replace(batch, coins=coins), softmax), first[:, 0] < REFUSED
        token = draw(batch.target[:, 0], batch.extra.clamp(max=BELOW_ONE))
        return out._replace(
            node=torch.where(refused, 0, out.node), token=torch.where(refused, token, out.token)
        )


class Claiming(TopK):
    """Says that its tokens, the likeliest prefixes, were drawn from the rows."""

    kind = WITHOUT

    def grow(self, session, sampling, uniforms, history=None) -> Draft:
        draft = super().grow(session, sampling, uniforms, history)
        logits = session._shut(session.rows)[:, : self.depth]
        levels = draft.tree.levels.clamp(max=self.depth - 1)
        tree = Tree(draft.tree.parents, depth=self.depth, rows=levels)
        return Draft(tree, draft.tokens, logits=sampling.filtered(logits), heat=sampling.heat)


@dataclass(frozen=True)
class Lossy:
    """A verifier and its fault. A faint one takes too many texts to be noticed; of a lossless one acceptance
    is tested. `drawn` is the structure it runs on, if not one of the run's.
    """

    verifier: Verifier
    fault: str
    faint: bool = False
    lossless: bool = False
    drawn: Structure | None = None


_CHAIN = (CHAIN,)
LOSSY = (
    Lossy(_KeepsRejected(_CHAIN, _target_for_residual, name="p-for-residual"), "Y ~ p after a rejection"),
    Lossy(Verifier(_CHAIN, _typical, name="typical"), "accepts what the target finds likely enough"),
    Lossy(_JointProduct(_CHAIN, _plain_ratios, name="joint-product"), "products of ratios and of coins"),
    Lossy(
        Verifier(_CHAIN, _uncapped_leaf, upwards=True, name="hsd-released"),
        "uncapped ratio for the whole draft",
        faint=True,
    ),
    Lossy(
        _KeepsRejected(_CHAIN, _unscaled, upwards=True, name="unscaled-residual"),
        "residual not scaled by w",
        faint=True,
    ),
    Lossy(
        Verifier(_CHAIN, greedy_block_rates, upwards=True, name="greedy-block-alone"),
        "greedy block verification without the modified target",
        faint=True,
    ),
    Lossy(
        Verifier((WITHOUT,), _with_replacement, name="specinfer-on-distinct"),
        "rule for draws with replacement on draws without",
    ),
    Lossy(
        _Refusing(_CHAIN, chains.token_rates, name="refuses-some"),
        "accepts 5 % less than it says",
        lossless=True,
    ),
    Lossy(
        Verifier((WITHOUT,), recursive.rates, name="ratios-of-marginals"),
        "min(1, p/q) on the likeliest prefixes, which nobody drew from q",
        drawn=Claiming("ddtree:8x2", 8, 2, 8),
    ),
)
