"""What every verifier comes to: a rate for each drafted node, a cut for each row, and an order."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.verify.outcome import Outcome, checked
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
    """What a verifier computes before any coin is looked at.

    accept [B, N]: the rate of node i: its coin must fall below it (column 0, the root's, is unused);
    cut [B, N]: a stop at node f draws Y from the law in proportion to (p - cut q)+, off the tokens of
    f's drawn children.
    """

    accept: Tensor
    cut: Tensor


@dataclass(frozen=True)
class Verifier:
    """A verification algorithm on batches.

    `rates(tree, target, proposal, tokens, drawn)` judges; `upwards` says that nodes are asked from
    leaf to root, the first accepted one being the stop, and not from the root down, child by child;
    `one_coin` that siblings share the coin of the first of them; `modifies_target` that a stop changes the
    target rows of the tokens after it (theory/modified.py); `source` is that of the exact verifier
    of the same name in theory/verifiers.
    """

    name: str
    drafts: tuple[str, ...]
    rates: Callable[..., Rates]
    upwards: bool = False
    one_coin: bool = False
    modifies_target: bool = False

    def verify(
        self,
        tree: Tree,
        target: Tensor,
        proposal: Tensor | None,
        tokens: Tensor,
        coins: Tensor,
        extra: Tensor,
    ) -> Outcome:
        """Where verification stops, and the extra token; all shapes are static, nothing is read back.

        target [B, N, V] and proposal [B, I, V] are laws (float32; bfloat16 is widened and
        renormalised), tokens [B, N-1] ids with -1 for nodes not drawn, coins [B, N-1] and extra [B]
        uniforms in [0, 1). Coin i-1 decides about node i, where it is asked. Raises BadInput when
        shapes or the draft do not fit; what is wrong with one row is in that row's `error`.
        """
        if DETERMINISTIC in self.drafts:
            proposal = None
        self.must_fit(tree, target, proposal, tokens, coins, extra)
        target, proposal = widened(target), None if proposal is None else widened(proposal)
        drawn = tree.drawn(tokens)
        error = checked(tree, target, proposal, tokens, drawn, coins, extra)
        ids = tokens.clamp(0, target.shape[-1] - 1)
        rates = self.rates(tree, target, proposal, ids, drawn)
        node = self.decide(tree, rates.accept, drawn, coins)
        row = remainder(tree, target, proposal, ids, drawn, rates.cut, node)
        fine = error == 0
        return Outcome(
            torch.where(fine, node, 0),
            torch.where(fine, draw(row, extra.clamp(max=BELOW_ONE)), -1),
            error,
        )

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

    def must_fit(
        self,
        tree: Tree,
        target: Tensor,
        proposal: Tensor | None,
        tokens: Tensor,
        coins: Tensor,
        extra: Tensor,
    ) -> None:
        """Raises BadInput unless the draft is one this verifier is made for, shapes and devices agree."""
        if not self.fits(tree):
            raise BadInput(f"{self.name} is made for {', '.join(self.drafts)}, not for a {label(tree)}")
        if target.dim() != 3 or target.shape[1] != tree.size or not target.shape[2]:
            raise BadInput(f"target must be [B, {tree.size}, V], not {list(target.shape)}")
        B, N, V = target.shape
        if tree.parents.shape[0] not in (1, B):
            raise BadInput(f"the tree has {tree.parents.shape[0]} rows, the batch {B}")
        wanted = [("tokens", tokens, [B, N - 1]), ("coins", coins, [B, N - 1]), ("extra", extra, [B])]
        for name, given, shape in wanted:
            if list(given.shape) != shape:
                raise BadInput(f"{name} must be {shape}, not {list(given.shape)}")
        placed = [("the tree", tree.parents), *((name, given) for name, given, _ in wanted)]
        if proposal is not None:
            placed.append(("proposal", proposal))
        for name, given in placed:
            if given.device != target.device:
                raise BadInput(f"{name} is on {given.device}, target on {target.device}: move it with .to()")
        if DETERMINISTIC in self.drafts:
            return
        if proposal is None:
            raise BadInput(f"{self.name} needs the proposal's rows; drafts without any take one-hot or nss")
        least = len(tree.inner) if tree.inner is not None else 0
        if (
            proposal.dim() != 3
            or proposal.shape[0] != B
            or proposal.shape[2] != V
            or proposal.shape[1] < least
        ):
            raise BadInput(f"proposal must be [{B}, {least}, {V}], not {list(proposal.shape)}")


def label(tree: Tree) -> str:
    """The kind of draft that a tree is, as verifiers name them."""
    return CHAIN if tree.is_chain else WITH if tree.replacement else WITHOUT


def widened(rows: Tensor) -> Tensor:
    """Rows in float32, those of narrower types renormalised; float64 stays."""
    if rows.dtype in (torch.float32, torch.float64):
        return rows
    rows = rows.float()
    return rows / rows.sum(-1, keepdim=True)
