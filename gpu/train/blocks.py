"""The loss of a block drafter (DFlash, chen2026dflash): all tokens of a block from random anchors."""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from transformers import DynamicCache

from draftproof.gpu.drafters.block_diffusion import BlockNetwork

ANCHORS = 32
"""Blocks for each text of a batch, at most."""


class Blocks(NamedTuple):
    """Blocks of a batch: logits and the target's rows [B, A, block - 1, V] of the tokens after each of the A
    anchors, and the logit of each row's confidence [B, A, block - 1] if the network has a head for it.
    """

    logits: Tensor
    rows: Tensor
    confidence: Tensor | None


def blocks(
    network: BlockNetwork, target: Any, hidden: tuple[Tensor, ...], rows: Tensor, batch: Tensor
) -> Blocks:
    """What the network drafts at random anchors of a batch [B, T], which determines the anchors. `rows` [B,
    T, V] and `hidden` are the target's.
    """
    T, b = batch.shape[1], network.block
    generator = torch.Generator().manual_seed(int(batch.sum()))
    anchors = torch.randperm(T - b + 1, generator=generator)[:ANCHORS].sort().values.to(batch.device)
    places = anchors[:, None] + torch.arange(b, device=batch.device)
    cache, positions = DynamicCache(), torch.arange(T, device=batch.device)[None]
    network(hidden=network.chosen(hidden), position_ids=positions, past_key_values=cache)
    own = torch.arange(len(anchors), device=batch.device).repeat_interleave(b)
    sees = torch.cat((positions < anchors[own][:, None], own == own[:, None]), 1)
    states = network(
        network.opening(batch[:, anchors], target.get_input_embeddings()).flatten(1, 2),
        attention_mask=sees[None, None],
        position_ids=places.view(1, -1),
        past_key_values=cache,
    )
    states = states.unflatten(1, places.shape)[:, :, 1:]
    before = batch[:, places[:, :-1]]
    logits = network.biased(target.get_output_embeddings()(states), before)
    sure = network.confidence(states, before) if network.variant.confidence else None
    return Blocks(logits, rows[:, places[:, :-1]], sure)


def weights(count: int, scale: float, device: torch.device | None = None) -> Tensor:
    """The weight [count] of each token of a block, exp(-(k - 1) / scale), of mean 1; all equal if scale is 0.

    >>> weights(3, 0.0)
    tensor([1., 1., 1.])
    """
    made = torch.arange(count, device=device).div(-scale).exp() if scale else torch.ones(count, device=device)
    return made / made.mean()


def block_loss(drafted: Blocks, scale: float) -> Tensor:
    """Weighted mean cross-entropy of the drafter's rows against the target's; of a confidence, also its
    cross-entropy against sum min(p, q), which DSpark takes for its label.
    """
    logits, rows, sure = drafted
    each = -(rows * functional.log_softmax(logits.float(), dim=-1)).sum(-1)
    weight = weights(each.shape[-1], scale, each.device)
    if sure is not None:
        label = shared(drafted).detach()
        each = each + functional.binary_cross_entropy_with_logits(sure.float(), label, reduction="none")
    return (weight * each).mean()


def shared(drafted: Blocks) -> Tensor:
    """sum min(p, q) of each row, [B, A, block - 1]."""
    return torch.minimum(drafted.logits.float().softmax(-1), drafted.rows).sum(-1)
