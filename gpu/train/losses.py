"""What each model learns: the text, the target's rows, the target's rows along its own rollouts."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from transformers import DynamicCache, PreTrainedModel

from draftproof.gpu.drafters.features import FeatureHead


def text_loss(model: PreTrainedModel, batch: Tensor) -> Tensor:
    """Mean negative log-likelihood of the tokens of a batch [B, T], in nats."""
    logits = model(input_ids=batch, use_cache=False).logits[:, :-1].float()
    return functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def row_loss(logits: Tensor, target: Tensor) -> Tensor:
    """Mean cross-entropy of drafted rows (logits) against the target's rows (probabilities), in nats."""
    return -(target * functional.log_softmax(logits.float(), dim=-1)).sum(-1).mean()


def overlap(logits: Tensor, target: Tensor) -> Tensor:
    """Mean of sum min(p, q): how often token verification accepts one drafted token."""
    return torch.minimum(logits.float().softmax(-1), target).sum(-1).mean()


@torch.no_grad()
def target_rows(target: Any, batch: Tensor) -> Tensor:
    """The target's rows [B, T, V], without gradients."""
    return target(input_ids=batch, use_cache=False).logits.float().softmax(-1)


@torch.no_grad()
def rows_and_hidden(target: Any, batch: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The target's rows [B, T, V] and all its hidden states, without gradients."""
    seen = target(input_ids=batch, use_cache=False, output_hidden_states=True)
    return seen.logits.float().softmax(-1), seen.hidden_states


def drafter_loss(drafter: Any, target: Any, batch: Tensor) -> Tensor:
    """Row loss of a drafter on a batch [B, T]."""
    return row_loss(drafter(input_ids=batch, use_cache=False).logits, target_rows(target, batch))


def rollouts(
    head: FeatureHead, target: Any, hidden: tuple[Tensor, ...], batch: Tensor, depth: int
) -> Iterator[Tensor]:
    """Yields the head's logits [B, T - k, V] for k = 0..depth-1 steps on its own outputs, from position k on.

    The k-th pass sees what drafting sees: the target's features up to k positions back, its own
    outputs of the passes 1..k on the way from there.
    """
    length = batch.shape[1]
    embedded = target.get_input_embeddings()(batch)
    feature = head.fused(hidden)
    positions = torch.arange(length, device=batch.device)
    back = positions[:, None] - positions[None, :]
    cache = DynamicCache()
    for step in range(depth):
        feature = functional.pad(feature[:, :-1], (0, 0, 1, 0))
        earlier = [back >= step, *(back == step - own for own in range(1, step + 1))]
        visible = torch.cat(earlier, dim=1)
        feature = head(embedded, feature, visible[None, None], positions[None], cache)
        yield target.get_output_embeddings()(feature[:, step:])


def rollout_loss(head: FeatureHead, target: Any, batch: Tensor, depth: int) -> Tensor:
    """Mean row loss over the head's own rollouts."""
    rows, hidden = rows_and_hidden(target, batch)
    passes = enumerate(rollouts(head, target, hidden, batch, depth))
    return torch.stack([row_loss(logits, rows[:, step:]) for step, logits in passes]).mean()
