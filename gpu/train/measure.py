"""What a trained pair does on text that it was not trained on."""

from collections import defaultdict
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from draftproof.gpu.drafters.features import FeatureHead
from draftproof.gpu.train.losses import overlap, rollouts, rows_and_hidden, text_loss


@torch.no_grad()
def measured(
    target: PreTrainedModel,
    drafter: PreTrainedModel,
    head: FeatureHead,
    tokenizer: PreTrainedTokenizerBase,
    batches: list[Tensor],
    depth: int,
) -> dict[str, Any]:
    """Losses in nats a token and a character, and mean sum min(p, q), over batches [B, T] of one size.

    Tokens of two tokenizers differ in length, so nats a character are what pairs can be compared by.
    """
    sums: defaultdict[str, float] = defaultdict(float)
    for batch in batches:
        rows, hidden = rows_and_hidden(target, batch)
        sums["target"] += float(text_loss(target, batch))
        sums["drafter"] += float(text_loss(drafter, batch))
        sums["overlap"] += float(overlap(drafter(input_ids=batch, use_cache=False).logits, rows))
        for step, logits in enumerate(rollouts(head, target, hidden, batch, depth)):
            sums[f"own {step}"] += float(overlap(logits, rows[:, step:]))
    mean = {name: each / len(batches) for name, each in sums.items()}
    read = torch.cat(batches)[:, 1:]
    characters = sum(map(len, tokenizer.batch_decode(read.tolist(), skip_special_tokens=True)))
    losses = {name: mean[name] for name in ("target", "drafter")}
    return {
        "held_out_loss": {name: round(each, 4) for name, each in losses.items()},
        "nats_per_character": {
            name: round(each * read.numel() / characters, 4) for name, each in losses.items()
        },
        "overlap": {
            "drafter": round(mean["overlap"], 4),
            "features": [round(mean[f"own {step}"], 4) for step in range(depth)],
        },
    }
