"""Makes the pair that ships: tokenizer, target, drafter and block drafter, from scratch.

    python -m studies.train_pair OUT

The text are the sources of Python's standard library. OUT gets target/, drafter/ and block/ (safetensors) and
train.json with measurements on held-out text, as gpu/pair has them. It takes some ten minutes on two cores.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from torch import Tensor, nn
from torch.nn import functional
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, Qwen3Config

from draftproof.gpu.drafters.block_diffusion import BlockNetwork, Variant
from draftproof.gpu.engine.prompts import names, readable, standard_library

END = "<|endoftext|>"
HELD_OUT = 0.02  # fraction of the characters that is held out from training
MEASURED = 16  # batches of held-out text for measuring the finished models
ANCHORS = 32  # blocks for each text of a batch, at most
MUON_RATE, MOMENTUM, DECAY = 0.02, 0.95, 0.05
OUTER = {"embed_tokens", "lm_head", "markov_head", "confidence_head"}  # matrices that AdamW trains
QUINTIC = 3.4445, -4.7750, 2.0315
"""a, b, c of jordan2024muon: repeating s -> a s + b s^3 + c s^5 brings every s in (0, 1] close to 1."""


@dataclass(frozen=True)
class Shape:
    """The size of a Llama decoder."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    feedforward: int

    def untrained(self, vocab: int, context: int, end: int = 0) -> LlamaForCausalLM:
        """A network with random weights; `end` is the id of the end-of-text token."""
        config = LlamaConfig(
            vocab_size=vocab,
            hidden_size=self.hidden,
            intermediate_size=self.feedforward,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            num_key_value_heads=self.kv_heads,
            max_position_embeddings=context,
            tie_word_embeddings=True,
            bos_token_id=end,
            eos_token_id=end,
            pad_token_id=None,
        )
        return LlamaForCausalLM(config)


@dataclass(frozen=True)
class Sizes:
    """Sizes and lengths of a training run; `steps` is for the target, the drafter and the block drafter,
    which drafts blocks of `block` tokens, the anchor included, with `block_layers` layers.
    """

    vocab: int
    context: int
    megabytes: int
    target: Shape
    drafter: Shape
    batch: int
    steps: tuple[int, int, int]
    rate: float
    block: int = 8
    block_layers: int = 2


SHIPPED = Sizes(1024, 256, 8, Shape(128, 4, 4, 2, 344), Shape(64, 2, 2, 1, 172), 8, (800, 500, 900), 3e-3)


def train(out: Path, sizes: Sizes = SHIPPED, seed: int = 0) -> dict[str, Any]:
    """Trains a pair into the folder `out`; returns the contents of train.json."""
    texts = sources(sizes.megabytes * 1_000_000)
    known, unseen = held_out(texts)
    tokenizer = byte_pairs(known, sizes.vocab)
    ids, later = encoded(known, tokenizer), encoded(unseen, tokenizer)
    length = min(sizes.context, len(later) // 2)

    def windows(tokens: np.ndarray, *key: int) -> Tensor:
        starts = np.random.default_rng((seed, *key)).integers(0, len(tokens) - length, sizes.batch)
        return torch.from_numpy(np.stack([tokens[at : at + length] for at in starts]).astype(np.int64))

    def trained(stage: int, model: Any, loss: Callable[[Any, Tensor], Tensor]) -> Any:
        every = (windows(ids, stage, step) for step in range(sizes.steps[stage]))
        fit(model, lambda batch: loss(model, batch), every, sizes.steps[stage], sizes.rate)
        for each in model.parameters():  # they are saved as bfloat16
            each.data = each.data.bfloat16().float()
        return model.eval().requires_grad_(False)

    torch.manual_seed(seed)
    target = trained(0, sizes.target.untrained(len(tokenizer), sizes.context), text_loss)
    drafter = sizes.drafter.untrained(len(tokenizer), sizes.context)
    drafter = trained(1, drafter, lambda model, given: drafter_loss(model, target, given))
    variant, scale = Variant(confidence=True), sizes.block / 2
    block = new_block(target, min(sizes.block, length), sizes.block_layers, variant)
    block = trained(2, block, lambda own, given: block_loss(drawn_blocks(own, target, given), scale))
    models = {"target": target, "drafter": drafter, "block": block}
    for name, model in models.items():
        if isinstance(model, BlockNetwork):
            save_block(model, out / name)
        else:
            deepcopy(model).to(torch.bfloat16).save_pretrained(out / name)
            tokenizer.save_pretrained(out / name)
    answer = {
        "preset": "tiny",
        "seed": seed,
        "corpus": "standard library",
        "block": asdict(variant) | {"scale": scale},
        "sizes": asdict(sizes),
        "characters": sum(map(len, texts)),
        "tokens": len(ids) + len(later),
        "epochs": round(sizes.steps[0] * sizes.batch * length / len(ids), 2),
        "parameters": {name: sum(each.numel() for each in m.parameters()) for name, m in models.items()},
        **measured(models, tokenizer, [windows(later, 4, k) for k in range(MEASURED)]),
    }
    (out / "train.json").write_text(json.dumps(answer, indent=2) + "\n", encoding="utf-8")
    return answer


# The block drafter


def new_block(target: Any, block: int, layers: int, variant: Variant | None = None) -> BlockNetwork:
    """An untrained block drafter for a target, as wide as it; it reads at most five of its layers."""
    heads = "num_attention_heads", "num_key_value_heads"
    names = *heads, "vocab_size", "hidden_size", "intermediate_size", "max_position_embeddings"
    sizes = {name: getattr(target.config, name) for name in names}
    sizes["head_dim"] = sizes["hidden_size"] // sizes["num_attention_heads"]
    config = Qwen3Config(num_hidden_layers=layers, bos_token_id=None, eos_token_id=None, **sizes)
    depth = target.config.num_hidden_layers
    count = min(5, depth)
    sources = tuple(round(k * (depth - 1) / max(1, count - 1)) for k in range(count))
    return BlockNetwork(config, block, sources, variant)


def save_block(network: BlockNetwork, folder: Path) -> None:
    """Writes model.safetensors (bfloat16) and config.json, in DFlash's layout."""
    variant = network.variant
    how = {"target_layer_ids": list(network.sources), "enable_confidence_head": variant.confidence}
    how |= {"confidence_head_with_markov": variant.joined, "markov_head_type": variant.head}
    how |= {"markov_rank": variant.markov} if variant.markov else {}
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: each.bfloat16().contiguous() for name, each in network.state_dict().items()}
    save_file(weights, folder / "model.safetensors")
    about = network.config.to_diff_dict() | {"block_size": network.block, "dflash_config": how}
    (folder / "config.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


# Text


def sources(limit: int) -> list[str]:
    """Distinct sources of the standard library, at most `limit` characters."""
    folder, texts = standard_library(), dict[str, None]()
    for text in readable(folder, names(folder)):
        if limit <= 0:
            break
        if text not in texts:
            texts[text[:limit]] = None
            limit -= len(text)
    return list(texts)


def held_out(texts: list[str]) -> tuple[list[str], list[str]]:
    """(training texts, held-out texts): the last are held out, at least `HELD_OUT` of all characters."""
    least, count, held = HELD_OUT * sum(map(len, texts)), 0, 0
    while held < least:
        count += 1
        held += len(texts[-count])
    return texts[:-count], texts[-count:]


def byte_pairs(texts: Iterable[str], vocab: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer of `vocab` tokens; token 0 ends a text."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevelDecoder()
    alphabet = sorted(ByteLevel.alphabet())
    trainer = BpeTrainer(
        vocab_size=vocab, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=END, eos_token=END, clean_up_tokenization_spaces=False
    )


def encoded(texts: list[str], tokenizer: PreTrainedTokenizerFast) -> np.ndarray:
    """All texts as one row of ids, each followed by the end-of-text token."""
    found = tokenizer.backend_tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    return np.concatenate([np.array([*each.ids, tokenizer.eos_token_id], np.int32) for each in found])


# Losses


def text_loss(model: Any, batch: Tensor) -> Tensor:
    """Mean negative log-likelihood of the tokens of a batch [B, T], in nats."""
    logits = model(input_ids=batch, use_cache=False).logits[:, :-1].float()
    return functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def row_loss(logits: Tensor, rows: Tensor) -> Tensor:
    """Mean cross-entropy of the drafter's rows (logits) against the target's (probabilities), in nats."""
    return -(rows * functional.log_softmax(logits.float(), dim=-1)).sum(-1).mean()


def overlap(logits: Tensor, rows: Tensor) -> Tensor:
    """Mean of sum min(p, q): the probability that token verification accepts one drafted token."""
    return torch.minimum(logits.float().softmax(-1), rows).sum(-1).mean()


@torch.no_grad()
def rows_and_hidden(target: Any, batch: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The target's rows [B, T, V] and all its hidden states, without gradients."""
    out = target(input_ids=batch, use_cache=False, output_hidden_states=True)
    return out.logits.float().softmax(-1), out.hidden_states


def drafter_loss(drafter: Any, target: Any, batch: Tensor) -> Tensor:
    """Row loss of a drafter on a batch [B, T]."""
    rows, _ = rows_and_hidden(target, batch)
    return row_loss(drafter(input_ids=batch, use_cache=False).logits, rows)


class Blocks(NamedTuple):
    """Blocks of a batch: logits and the target's rows [B, A, block - 1, V] of the tokens after each of the A
    anchors, and the logit of each row's confidence [B, A, block - 1] if the network has a head for it.
    """

    logits: Tensor
    rows: Tensor
    confidence: Tensor | None


def drawn_blocks(network: BlockNetwork, target: Any, batch: Tensor) -> Blocks:
    """What the network drafts at random anchors of a batch [B, T], which determines the anchors."""
    rows, hidden = rows_and_hidden(target, batch)
    T, b = batch.shape[1], network.block
    generator = torch.Generator().manual_seed(int(batch.sum()))
    anchors = torch.randperm(T - b + 1, generator=generator)[:ANCHORS].sort().values
    places = anchors[:, None] + torch.arange(b)
    cache, positions = DynamicCache(), torch.arange(T)[None]
    network(hidden=network.fused(hidden), position_ids=positions, past_key_values=cache)
    own = torch.arange(len(anchors)).repeat_interleave(b)
    sees = torch.cat((positions < anchors[own][:, None], own == own[:, None]), 1)
    states = network(
        network.opening(batch[:, anchors], target.get_input_embeddings()).flatten(1, 2),
        attention_mask=sees[None, None],
        position_ids=places.view(1, -1),
        past_key_values=cache,
    )
    states = states.unflatten(1, places.shape)[:, :, 1:]
    before = batch[:, places[:, :-1]]
    logits = target.get_output_embeddings()(states)
    if rank := network.variant.markov:
        logits = logits + network.markov_head(states, before, states.new_zeros(*before.shape, rank))[0]
    sure = network.confidence(states, before) if network.variant.confidence else None
    return Blocks(logits, rows[:, places[:, :-1]], sure)


def shared(drafted: Blocks) -> Tensor:
    """sum min(p, q) of each row, [B, A, block - 1]."""
    return torch.minimum(drafted.logits.float().softmax(-1), drafted.rows).sum(-1)


def block_loss(drafted: Blocks, scale: float) -> Tensor:
    """Mean cross-entropy of the drafter's rows against the target's, the k-th with weight exp(-(k - 1) /
    scale); of a confidence, also its cross-entropy against sum min(p, q), which DSpark takes for its label.
    """
    logits, rows, sure = drafted
    each = -(rows * functional.log_softmax(logits.float(), dim=-1)).sum(-1)
    weight = torch.arange(each.shape[-1]).div(-scale).exp()
    if sure is not None:
        label = shared(drafted).detach()
        each = each + functional.binary_cross_entropy_with_logits(sure.float(), label, reduction="none")
    return (weight / weight.mean() * each).mean()


# The training loop


class Muon(torch.optim.Optimizer):
    """Orthogonalised Nesterov momentum (jordan2024muon), in float32. torch.optim.Muon (since 2.9) always uses
    bfloat16, which most CPUs compute many times slower.
    """

    def __init__(self, matrices: Iterable[Tensor], lr: float) -> None:
        super().__init__(matrices, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """One optimiser step; `closure` is not called."""
        for group in self.param_groups:
            for weight in group["params"]:
                state, gradient = self.state[weight], weight.grad
                if not state:
                    state["mean"] = torch.zeros_like(gradient)
                mean = state["mean"].lerp_(gradient, 1 - MOMENTUM)
                rows, columns = weight.shape
                rate = group["lr"] * max(1, rows / columns) ** 0.5
                weight.mul_(1 - group["lr"] * DECAY)
                weight.add_(orthogonal(gradient.lerp(mean, MOMENTUM)), alpha=-rate)


def orthogonal(matrix: Tensor, steps: int = 5) -> Tensor:
    """Approximates U V^T for U S V^T: singular values end between 0.5 and 1.5."""
    x = matrix.mT if matrix.shape[0] > matrix.shape[1] else matrix
    x = x / x.norm().clamp(min=1e-7)
    a, b, c = QUINTIC
    for _ in range(steps):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return x.mT if matrix.shape[0] > matrix.shape[1] else x


def fit(
    model: nn.Module, loss_of: Callable[[Tensor], Tensor], batches: Iterable[Tensor], steps: int, rate: float
) -> list[float]:
    """Trains the model; returns the loss of every step. Muon trains the matrices between layers; AdamW, at
    `rate`, embeddings, heads and vectors. Rates rise linearly over the first twentieth, then fall to zero.
    """
    learned = {name: each for name, each in model.named_parameters() if each.requires_grad}
    inner = {name for name, each in learned.items() if each.ndim == 2 and not OUTER & set(name.split("."))}
    outer = [each for name, each in learned.items() if name not in inner]
    adamw = torch.optim.AdamW(outer, rate, betas=(0.9, 0.95), weight_decay=DECAY)
    optimizers = [Muon([learned[name] for name in inner], MUON_RATE), adamw]
    groups = [(group, group["lr"]) for each in optimizers for group in each.param_groups]
    rise, losses = max(1, steps // 20), []
    model.train()
    for step, batch in enumerate(batches):
        for group, peak in groups:
            group["lr"] = peak * min((step + 1) / rise, (steps - step) / max(1, steps - rise))
        loss = loss_of(batch)
        model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learned.values(), 1.0)
        for each in optimizers:
            each.step()
        losses.append(loss.item())
    return losses


@torch.no_grad()
def measured(
    models: dict[str, Any], tokenizer: PreTrainedTokenizerFast, batches: list[Tensor]
) -> dict[str, Any]:
    """Held-out losses in nats per token and per character, and means of sum min(p, q)."""
    target, drafter, block = models.values()
    sums: defaultdict[str, float] = defaultdict(float)
    for batch in batches:
        rows, _ = rows_and_hidden(target, batch)
        sums["target"] += float(text_loss(target, batch))
        sums["drafter"] += float(text_loss(drafter, batch))
        sums["overlap"] += float(overlap(drafter(input_ids=batch, use_cache=False).logits, rows))
        for step, each in enumerate(shared(drawn_blocks(block, target, batch)).mean((0, 1)).tolist()):
            sums[f"block {step}"] += each
    mean = {name: each / len(batches) for name, each in sums.items()}
    read = torch.cat(batches)[:, 1:]
    characters = sum(map(len, tokenizer.batch_decode(read.tolist(), skip_special_tokens=True)))
    length, along = characters / read.numel(), [round(mean[f"block {k}"], 4) for k in range(block.block - 1)]
    return {
        "held_out_loss": {name: round(mean[name], 4) for name in ("target", "drafter")},
        "nats_per_character": {name: round(mean[name] / length, 4) for name in ("target", "drafter")},
        "overlap": {"drafter": round(mean["overlap"], 4), "block": along},
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train the pair that ships.")
    parser.add_argument("out", type=Path, help="the folder of the pair")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print(json.dumps(train(asked.out, seed=asked.seed)["overlap"]))
