"""Input and output of verifiers: a batch of drafts with its noise, and one outcome per row."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import ClassVar, NamedTuple, Self

import torch
from torch import Tensor

from draftproof.gpu.sampling.tree import Tree
from draftproof.theory.errors import BadInput

BAD_TARGET, BAD_PROPOSAL, BAD_TOKEN, BAD_COIN = 1, 2, 3, 4
ERRORS = {
    BAD_TARGET: "a target row of a drawn node is not a distribution (NaN, infinite, negative, or sum not 1)",
    BAD_PROPOSAL: "a proposal row that was drawn from is not a distribution",
    BAD_TOKEN: "a token id is below -1 or beyond the vocabulary",
    BAD_COIN: "a coin or the extra uniform is outside [0, 1]",
}
"""Meaning of the codes in `Outcome.error`; the lowest that applies is given."""


@dataclass(frozen=True)
class Drafts:
    """One draft per row of the batch: everything from which acceptance probabilities are computed.

    target [B, N, V]: the target's row after each node. proposal [B, I, V]: the rows that children of inner
    nodes were drawn from, None for deterministic drafts. tokens [B, N - 1]: the ids of nodes 1 to N - 1, -1
    where none was drawn. Rows are probabilities, or logits for functions that say so. strata [B, I, V]: for
    stratified trees, each token's place in the strata (`gpu.strata`); `proposal` holds the strata's mean.
    """

    tree: Tree
    target: Tensor
    proposal: Tensor | None
    tokens: Tensor
    strata: Tensor | None = field(default=None, kw_only=True)
    _drawn: ClassVar[Tensor | None] = None

    @property
    def q(self) -> Tensor:
        """The proposal of drafts that have one."""
        assert self.proposal is not None, "deterministic drafts have no proposal"
        return self.proposal

    @property
    def drawn(self) -> Tensor:
        """[B, N]: whether each node was drawn, as in `Tree.drawn`; computed once."""
        if self._drawn is None:  # torch.compile does not take functools.cached_property
            object.__setattr__(self, "_drawn", self.tree.drawn(self.tokens))
        assert self._drawn is not None
        return self._drawn

    @property
    def there(self) -> Tensor:
        """[B, N - 1]: whether each drafted node was drawn."""
        return self.drawn[:, 1:]

    @property
    def ids(self) -> Tensor:
        """[B, N - 1]: the tokens, clamped into the vocabulary so that they can index it."""
        return self.tokens.clamp(0, self.target.shape[-1] - 1)

    def map_rows(self, change: Callable[[Tensor], Tensor]) -> Self:
        """The same drafts with `change` applied to the target, then to the proposal."""
        target = change(self.target)
        return replace(self, target=target, proposal=None if self.proposal is None else change(self.proposal))

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> Self:
        """The same drafts on a device, their rows in another type if one is given."""
        moved = self if dtype is None else self.map_rows(lambda rows: rows.to(dtype))
        return moved._map(lambda part: part.to(device))

    def take(self, which: Tensor) -> Self:
        """The given rows of the batch; order and repetitions are free."""
        return self._map(lambda part: part.take(which) if isinstance(part, Tree) else part[which])

    def with_noise(self, coins: Tensor, extra: Tensor) -> "Batch":
        """These drafts with their uniforms, ready to be verified."""
        return Batch(self.tree, self.target, self.proposal, self.tokens, coins, extra, strata=self.strata)

    def _map(self, change: Callable) -> Self:
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        moved = {name: change(part) for name, part in parts.items() if isinstance(part, Tree | Tensor)}
        return replace(self, **moved)


@dataclass(frozen=True)
class Batch(Drafts):
    """Drafts and uniforms in [0, 1): coin i - 1 of coins [B, N - 1] decides on node i, extra [B] draws the
    extra token.
    """

    coins: Tensor
    extra: Tensor

    def must_fit(self) -> None:
        """Raises BadInput unless shapes and devices agree."""
        tree, target = self.tree, self.target
        if target.dim() != 3 or target.shape[1] != tree.size or not target.shape[2]:
            raise BadInput(f"target must be [B, {tree.size}, V], not {list(target.shape)}")
        B, N, V = target.shape
        if tree.parents.shape[0] not in (1, B):
            raise BadInput(f"the tree has {tree.parents.shape[0]} rows, the batch {B}")
        parts = {"tokens": self.tokens, "coins": self.coins, "extra": self.extra}
        for name, part in parts.items():
            shape = [B] if name == "extra" else [B, N - 1]
            if list(part.shape) != shape:
                raise BadInput(f"{name} must be {shape}, not {list(part.shape)}")
        rows = {"proposal": self.proposal, "strata": self.strata}
        for name, part in (parts | {"the tree": tree.parents} | rows).items():
            if part is not None and part.device != target.device:
                raise BadInput(f"{name} is on {part.device}, target on {target.device}: move it with .to()")
        if (rows := self.proposal) is not None:
            least = len(tree.inner or ())
            if rows.dim() != 3 or rows.shape[0] != B or rows.shape[2] != V or rows.shape[1] < least:
                raise BadInput(f"proposal must be [{B}, {least}, {V}], not {list(rows.shape)}")
            if tree.stratified and (self.strata is None or self.strata.shape != rows.shape):
                given = None if self.strata is None else list(self.strata.shape)
                raise BadInput(f"strata must be {list(rows.shape)} for a stratified tree, not {given}")

    def errors(self, softmax: bool = False) -> Tensor:
        """[B]: 0, or the key of `ERRORS` that applies. Rows of nodes that were not drawn are not checked, nor
        are proposal rows that no token was drawn from. If `softmax`, the target's rows are softmaxes, which
        are laws or NaN in every entry, and all else was drawn from such rows and uniforms.
        """
        if softmax:
            return (self.target[..., 0].isnan() & self.drawn).any(1) * BAD_TARGET
        B, _, V = self.target.shape
        error = torch.zeros(B, dtype=torch.long, device=self.target.device)
        noise = torch.cat((self.coins, self.extra[:, None]), 1)
        error = torch.where(((noise >= 0) & (noise <= 1)).all(1), error, BAD_COIN)
        error = torch.where(((self.tokens >= -1) & (self.tokens < V)).all(1), error, BAD_TOKEN)
        if self.proposal is not None and self.proposal.shape[1]:
            fine = _is_law(self.proposal).gather(1, self.tree.drawn_from.expand(B, -1))
            error = torch.where((fine | ~self.drawn[:, 1:]).all(1), error, BAD_PROPOSAL)
        return torch.where((_is_law(self.target) | ~self.drawn).all(1), error, BAD_TARGET)


class Outcome(NamedTuple):
    """One iteration's result for each row: the last accepted node [B] (0 for none), the extra token [B], and
    the error [B], which is 0 or a key of `ERRORS`. A row with an error has node 0 and token -1.
    """

    node: Tensor
    token: Tensor
    error: Tensor


def _is_law(rows: Tensor) -> Tensor:
    # The sum may be off by 1e-3: much more than float32 rounding, much less than a wrong tensor.
    return ((rows.sum(-1) - 1).abs() <= 1e-3) & (rows.amin(-1) >= 0)
