"""What every verifier comes to: a rate for each drafted node, a cut for each row, and an order of coins."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.verify.batch import Batch, Drafts, Outcome
from draftproof.gpu.verify.residual import draw, remainder
from draftproof.theory.errors import BadInput

CHAIN, WITH, WITHOUT = "chain", "tree with replacement", "tree without replacement"
DETERMINISTIC = "deterministic"
TREES = (CHAIN, WITH, WITHOUT)
ALL = (*TREES, DETERMINISTIC)
"""Drafts a verifier can be made for."""

BELOW_ONE = 1 - 2**-24
"""The largest float32 below 1; a coin of 1 counts as this."""


@dataclass(frozen=True)
class Rates:
    """What a verifier computes before it looks at any coin.

    accept [B, N]: node i is accepted if its coin is below its rate (column 0, the root's, is unused);
    cut [B, N]: after a stop at node f the extra token Y has the law in proportion to (p - cut q)+, without
    the tokens of f's drawn children.
    """

    accept: Tensor
    cut: Tensor


@dataclass(frozen=True)
class Verifier:
    """A verification algorithm on batches; the exact verifier of the same name in theory/verifiers cites it.

    drafts: the kinds of drafts it is made for. rates: what it computes from the rows. upwards: coins are
    compared from leaf to root, and the first accepted node is the stop; otherwise from the root down, child
    by child. one_coin: siblings share the coin of the first of them. modifies_target: a stop changes the
    target rows of the tokens after it (theory/verifiers/greedy_block.py).
    """

    name: str
    drafts: tuple[str, ...]
    rates: Callable[[Drafts], Rates]
    upwards: bool = False
    one_coin: bool = False
    modifies_target: bool = False

    def verify(self, batch: Batch) -> Outcome:
        """Where verification stops, and the extra token; all shapes are static, nothing is read back.

        Rows are probabilities: float32 or float64; narrower types are widened and renormalised. Raises
        BadInput as `fitted` does; what is wrong with one row of the batch is in that row's `error`.
        """
        batch = self.fitted(batch).map_rows(widened)
        error = batch.errors()
        rates = self.rates(batch)
        node = self.decide(batch.tree, rates.accept, batch.drawn, batch.coins)
        token = draw(remainder(batch, rates.cut, node), batch.extra.clamp(max=BELOW_ONE))
        fine = error == 0
        return Outcome(torch.where(fine, node, 0), torch.where(fine, token, -1), error)

    def decide(self, tree: Tree, accept: Tensor, drawn: Tensor, coins: Tensor) -> Tensor:
        """[B]: the node where verification stops."""
        B = len(coins)
        root = coins.new_zeros(B, 1)
        coins = torch.cat((root, coins.clamp(max=BELOW_ONE)), 1)
        if self.one_coin:
            coins = coins.gather(1, tree.first.expand(B, -1))
        taken = drawn & (coins < accept)
        if self.upwards:
            taken[:, 0].fill_(True)
            return torch.where(taken, tree.turn, tree.size).argmin(1)
        at = torch.zeros(B, dtype=torch.long, device=coins.device)
        parents = tree.parents.expand(B, -1)
        for i in range(1, tree.size):
            at = torch.where(taken[:, i] & (parents[:, i] == at), i, at)
        return at

    def fits(self, tree: Tree) -> bool:
        """Whether this verifier is made for such a draft."""
        return label(tree) in self.drafts

    def fitted(self, batch: Batch) -> Batch:
        """The batch as this verifier reads it: without the proposal if it is made for deterministic drafts.

        Raises BadInput unless it is made for the draft, shapes and devices agree, and no rows are missing.
        """
        if not self.fits(batch.tree):
            raise BadInput(f"{self.name} is made for {', '.join(self.drafts)}, not for a {label(batch.tree)}")
        if DETERMINISTIC in self.drafts:
            batch = replace(batch, proposal=None)
        elif batch.proposal is None:
            raise BadInput(f"{self.name} needs the proposal's rows; drafts without any take one-hot or nss")
        batch.must_fit()
        return batch


def stop_law(verifier: Verifier, tree: Tree, accept: Tensor, drawn: Tensor) -> Tensor:
    """[B, N] float64: the probability of a stop at each node, given the draft; rows sum to 1.

    It is the law of `Verifier.decide` over independent coins that are uniform on [0, 1), with the same
    `accept` and `drawn`.

    >>> from draftproof.gpu.verify import named
    >>> half, drawn = torch.full((1, 3), 0.5), torch.ones(1, 3, dtype=torch.bool)
    >>> stop_law(named("token"), Tree.chain(2), half, drawn).tolist()
    [[0.5, 0.25, 0.25]]
    >>> stop_law(named("block"), Tree.chain(2), half, drawn).tolist()
    [[0.25, 0.25, 0.5]]
    """
    rates = torch.where(drawn, accept.double().clamp(0, 1), 0.0)
    return _upwards(tree, rates) if verifier.upwards else _downwards(tree, rates, verifier.one_coin)


def level_law(tree: Tree, stops: Tensor) -> Tensor:
    """[B, depth + 1]: the law of tau, the depth of the stop, from `stop_law`."""
    levels = tree.levels.expand(len(stops), -1)
    return stops.new_zeros(len(stops), tree.depth + 1).scatter_add(1, levels, stops)


def _upwards(tree: Tree, rates: Tensor) -> Tensor:
    order = tree.turn.expand(len(rates), -1).argsort(1)
    rates = rates.scatter(1, torch.zeros_like(order[:, :1]), 1.0).gather(1, order)
    rejected = torch.cat((torch.ones_like(rates[:, :1]), (1 - rates).cumprod(1)[:, :-1]), 1)
    return torch.zeros_like(rates).scatter(1, order, rates * rejected)


def _downwards(tree: Tree, rates: Tensor, one_coin: bool) -> Tensor:
    reach = torch.zeros_like(rates)
    reach[:, 0] = 1
    left = torch.ones_like(rates)  # of each node: the probability that no child so far was accepted
    parents = tree.parents.expand(len(rates), -1)
    for i in range(1, tree.size):
        up, rate = parents[:, i : i + 1], rates[:, i : i + 1]
        before = left.gather(1, up)
        after = torch.minimum(before, 1 - rate) if one_coin else before * (1 - rate)
        reach[:, i : i + 1] = reach.gather(1, up) * (before - after)
        left = left.scatter(1, up, after)
    return reach * left


def label(tree: Tree) -> str:
    """The kind of draft that a tree is, as verifiers name them."""
    return CHAIN if tree.is_chain else WITH if tree.replacement else WITHOUT


def widened(rows: Tensor) -> Tensor:
    """Rows in float32, those of narrower types renormalised; float64 stays."""
    if rows.dtype in (torch.float32, torch.float64):
        return rows
    rows = rows.float()
    return rows / rows.sum(-1, keepdim=True)
