"""A batched verifier: an acceptance probability per drafted node, a cut per row, and an order of coins."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch import constant_pad_nd as pad

from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify.batch import Batch, Drafts, Outcome
from draftproof.gpu.verify.residual import draw, remainder
from draftproof.theory.errors import BadInput
from draftproof.theory.verifier import Stop

CHAIN, WITH, WITHOUT = "chain", "tree with replacement", "tree without replacement"
STRATIFIED, DETERMINISTIC = "stratified", "deterministic"
TREES = (CHAIN, WITH, WITHOUT)
ALL = (*TREES, STRATIFIED, DETERMINISTIC)
"""Drafts a verifier can be made for."""

BELOW_ONE = 1 - 2**-53
"""The largest float64 below 1; a coin of 1 counts as this."""


@dataclass(frozen=True)
class Rates:
    """What a verifier computes before it compares any coin: accept and cut [B, N].

    Node i is accepted if its coin is below accept_i (column 0 is unused). After a stop at node f the extra
    token's law is proportional to (p - cut_f q)+ without the tokens of f's drawn children. Where cut is
    [B, N, C, G], it says what remains of each cell of tokens (`cells.left`), and no token is left out.
    """

    accept: Tensor
    cut: Tensor


@dataclass(frozen=True)
class Verifier:
    """A verification algorithm on batches; the exact one in theory/verifiers that names it cites its source.

    drafts: the kinds it is made for. upwards: coins are compared from leaf to root, and the first accepted
    node is the stop; otherwise from the root down, child by child. exact: the exact form of its decisions,
    where the exact verifier has another. name: that of the exact one.
    """

    drafts: tuple[str, ...]
    rates: Callable[[Drafts], Rates]
    upwards: bool = False
    exact: Callable[..., Stop] | None = None
    name: str = ""

    def verify(self, batch: Batch, softmax: bool = False) -> Outcome:
        """The node where verification stops, and the extra token. Shapes are static; the host never waits.

        Rows are probabilities; types narrower than float32 are widened and renormalised. Raises BadInput as
        `fitted` does; a fault in one row of the batch is reported in that row's `error`. `softmax` is as in
        `Batch.errors`; then a row with an error keeps its node and token.
        """
        batch = self.fitted(batch, made=softmax)
        if batch.target.dtype != torch.float32:
            batch = batch.map_rows(widened)
        error = batch.errors(softmax)
        rates = self.rates(batch)
        noise = batch.coins, batch.extra
        coins, extra = noise if softmax else (each.double().clamp(max=BELOW_ONE) for each in noise)
        node = self.decide(batch.tree, rates.accept, batch.drawn, coins)
        token = draw(self.left(batch, rates.cut, node), extra)
        if softmax:  # the engine takes no row with an error
            return Outcome(node, token, error)
        wrong = error > 0
        return Outcome(node.masked_fill(wrong, 0), token.masked_fill(wrong, -1), error)

    def decide(self, tree: Tree, accept: Tensor, drawn: Tensor, coins: Tensor) -> Tensor:
        """[B]: the node where verification stops; coins [B, N - 1] are below 1."""
        if tree.is_chain and coins.shape[1]:
            taken = drawn[:, 1:] & (coins < accept[:, 1:])
            return (taken * tree.levels[:, 1:]).amax(1) if self.upwards else taken.cumprod(1).sum(1)
        B = len(coins)
        coins = pad(coins, (1, 0))
        taken = drawn & (coins < accept)
        if self.upwards:
            taken[:, 0].fill_(True)
            return tree.turn.expand(B, -1).masked_fill(~taken, tree.size).argmin(1)
        taken = taken & ~(taken[:, None] & tree.older).any(-1)  # by its first sibling alone
        taken[:, 0].fill_(True)
        reached = (taken[:, None] | ~tree.above).all(-1)
        return torch.where(reached, tree.levels, -1).argmax(1)

    def left(self, drafts: Drafts, cut: Tensor, node: Tensor) -> Tensor:
        """[B, V], not normalised: the law of the extra token after a stop at node [B]."""
        return remainder(drafts, cut, node)

    def fits(self, tree: Tree) -> bool:
        """Whether this verifier is made for the tree's kind of draft."""
        return label(tree) in self.drafts

    def fitted(self, batch: Batch, made: bool = False) -> Batch:
        """The batch, without the proposal if the verifier is made for deterministic drafts. Raises BadInput
        unless it is made for this draft, shapes and devices agree, and no rows are missing; nothing is looked
        at if the engine `made` the batch.
        """
        if made:
            return replace(batch, proposal=None) if DETERMINISTIC in self.drafts else batch
        if not self.fits(batch.tree):
            raise BadInput(f"{self.name} is made for {', '.join(self.drafts)}, not for a {label(batch.tree)}")
        if DETERMINISTIC in self.drafts:
            batch = replace(batch, proposal=None)
        elif batch.proposal is None:
            raise BadInput(f"{self.name} needs the proposal's rows; drafts without any take one-hot or nss")
        batch.must_fit()
        return batch


def stop_law(verifier: Verifier, tree: Tree, accept: Tensor, drawn: Tensor) -> Tensor:
    """[B, N] float64: the law of `Verifier.decide` over independent uniform coins, given the draft."""
    rates = torch.where(drawn, accept.double().clamp(0, 1), 0.0)
    if verifier.upwards:
        order = tree.turn.expand(len(rates), -1).argsort(1)
        rates = rates.scatter(1, torch.zeros_like(order[:, :1]), 1.0).gather(1, order)
        rejected = pad((1 - rates).cumprod(1)[:, :-1], (1, 0), value=1)
        return torch.zeros_like(rates).scatter(1, order, rates * rejected)
    nodes, refused = torch.arange(tree.size, device=rates.device), (1 - rates)[:, None]
    entered = rates * torch.where(tree.older, refused, 1.0).prod(-1)
    entered[:, 0] = 1
    reach = torch.where(tree.above, entered[:, None], 1.0).prod(-1)
    below = (tree.parents[:, None] == nodes[:, None]) & (nodes > 0)
    return reach * torch.where(below, refused, 1.0).prod(-1)


def level_law(tree: Tree, stops: Tensor) -> Tensor:
    """[B, depth + 1]: the law of tau, the depth of the stop, from `stop_law`."""
    levels = tree.levels.expand(len(stops), -1)
    return stops.new_zeros(len(stops), tree.depth + 1).scatter_add(1, levels, stops)


def label(tree: Tree) -> str:
    """The tree's kind of draft, as `Verifier.drafts` names it."""
    return (
        CHAIN if tree.is_chain else STRATIFIED if tree.stratified else WITH if tree.replacement else WITHOUT
    )


def widened(rows: Tensor) -> Tensor:
    """Rows as float32, renormalised if their type was narrower; float64 rows are returned as they are."""
    if rows.dtype in (torch.float32, torch.float64):
        return rows
    rows = rows.float()
    return rows / rows.sum(-1, keepdim=True)
