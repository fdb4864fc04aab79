"""The loss of each model, and the training loop: Muon and AdamW, checkpoints, and Ctrl-C between steps."""

import hashlib
import math
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import DynamicCache, PreTrainedModel

from draftproof.gpu.drafters.features import FeatureHead
from draftproof.gpu.sampling.device import out_of_memory
from draftproof.simulators.support.files import replacing
from draftproof.theory.errors import BadInput

EVERY = 30.0  # seconds between checkpoints
MUON_RATE, MOMENTUM, DECAY = 0.02, 0.95, 0.05
OUTER = {"embed_tokens", "lm_head", "fusion", "markov_head", "confidence_head"}  # matrices that AdamW trains
QUINTIC = 3.4445, -4.7750, 2.0315
"""a, b, c of jordan2024muon: repeating s -> a s + b s^3 + c s^5 brings every s in (0, 1] close to 1."""


def text_loss(model: PreTrainedModel, batch: Tensor) -> Tensor:
    """Mean negative log-likelihood of the tokens of a batch [B, T], in nats."""
    logits = model(input_ids=batch, use_cache=False).logits[:, :-1].float()
    return functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def row_loss(logits: Tensor, target: Tensor) -> Tensor:
    """Mean cross-entropy of the drafter's rows (logits) against the target's rows (probabilities), in
    nats.
    """
    return -(target * functional.log_softmax(logits.float(), dim=-1)).sum(-1).mean()


def overlap(logits: Tensor, target: Tensor) -> Tensor:
    """Mean of sum min(p, q): the probability that token verification accepts one drafted token."""
    return torch.minimum(logits.float().softmax(-1), target).sum(-1).mean()


@torch.no_grad()
def rows_and_hidden(target: Any, batch: Tensor, hidden: bool = True) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The target's rows [B, T, V] and, if asked for, all its hidden states, without gradients."""
    out = target(input_ids=batch, use_cache=False, output_hidden_states=hidden)
    return out.logits.float().softmax(-1), out.hidden_states


def drafter_loss(drafter: Any, target: Any, batch: Tensor) -> Tensor:
    """Row loss of a drafter on a batch [B, T]."""
    rows, _ = rows_and_hidden(target, batch, hidden=False)
    return row_loss(drafter(input_ids=batch, use_cache=False).logits, rows)


def rollouts(
    head: FeatureHead, target: Any, hidden: tuple[Tensor, ...], batch: Tensor, depth: int
) -> Iterator[Tensor]:
    """Yields the head's logits [B, T - k, V], from position k on, after k = 0..depth-1 steps on its own
    outputs.

    The k-th pass attends to the features that are available when drafting: the target's up to k positions
    back, and then the head's own outputs of passes 1..k.
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
    """Mean row loss over the head's rollouts."""
    rows, hidden = rows_and_hidden(target, batch)
    passes = enumerate(rollouts(head, target, hidden, batch, depth))
    return torch.stack([row_loss(logits, rows[:, step:]) for step, logits in passes]).mean()


def orthogonal(matrices: Tensor, steps: int = 5) -> Tensor:
    """Approximates U V^T for each U S V^T of a stack [N, R, C]: singular values end between 0.5 and 1.5."""
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if tall else matrices
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)
    a, b, c = QUINTIC
    for _ in range(steps):
        square = x @ x.mT
        x = a * x + torch.baddbmm(square, square, square, beta=b, alpha=c) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Orthogonalised Nesterov momentum (jordan2024muon), for all matrices of one shape at once.

    `dtype` is the type of the matrix products. torch.optim.Muon (since 2.9) always uses bfloat16, which most
    CPUs compute many times slower than float32, and handles the matrices one by one.
    """

    def __init__(self, matrices: Iterable[Tensor], lr: float, dtype: torch.dtype) -> None:
        by_shape: defaultdict[torch.Size, list[Tensor]] = defaultdict(list)
        for each in matrices:
            by_shape[each.shape].append(each)
        self.dtype = dtype
        super().__init__([{"params": each} for each in by_shape.values()], {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """One optimiser step; `closure` is not called."""
        for group in self.param_groups:
            weights = group["params"]
            gradients = torch.stack([each.grad for each in weights])
            state = self.state[weights[0]]
            if not state:
                state["mean"] = torch.zeros_like(gradients)
            mean = state["mean"].lerp_(gradients, 1 - MOMENTUM)
            ahead = gradients.lerp(mean, MOMENTUM)
            rows, columns = weights[0].shape
            rate = group["lr"] * max(1, rows / columns) ** 0.5
            for weight, update in zip(weights, orthogonal(ahead.to(self.dtype)), strict=True):
                weight.mul_(1 - group["lr"] * DECAY)
                weight.add_(update.to(weight.dtype), alpha=-rate)


class Compiler:
    """Compiles networks for a GPU. If torch.compile fails in the first pass of a network, a line on standard
    error says so, and this network and all later ones run uncompiled.
    """

    def __init__(self, device: torch.device) -> None:
        self.works = device.type == "cuda"

    def __call__(self, network: Any) -> Any:
        """The function to call instead of the network."""
        if not self.works:
            return network
        compiled, tried = torch.compile(network), False

        def call(**inputs: Any) -> Any:
            nonlocal compiled, tried
            try:
                out = compiled(**inputs)
            except Exception as error:  # from torch, from triton, or because a compiler is missing
                if tried or out_of_memory(error):
                    raise
                self.works, compiled = False, network
                why = next(iter(str(error).splitlines()), type(error).__name__)
                click.echo(f"trained without torch.compile, which does not work here: {why}", err=True)
                out = network(**inputs)
            tried = True
            return out

        return call


def batch_at(tokens: np.ndarray, batch: int, length: int, key: str) -> Tensor:
    """`batch` windows of `length` ids, determined by `key`, so that a resumed run uses the same windows."""
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big")
    starts = np.random.default_rng(seed).integers(0, len(tokens) - length, batch)
    return torch.from_numpy(np.stack([tokens[at : at + length] for at in starts]).astype(np.int64))


def rate_at(step: int, steps: int, peak: float) -> float:
    """The learning rate: a linear rise over the first twentieth, then a linear fall to zero after the
    last step.
    """
    rise = max(1, steps // 20)
    return peak * min((step + 1) / rise, (steps - step) / max(1, steps - rise))


def halves(device: torch.device) -> bool:
    """Whether the processor has bfloat16 multiplication; without it bfloat16 is slower than float32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    able = getattr(torch.cpu, "get_capabilities", dict)()  # missing in older torch
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))


def fit(
    model: nn.Module,
    loss_of: Callable[[Tensor], Tensor],
    batches: Callable[[int], Tensor],
    steps: int,
    rate: float,
    checkpoint: Path,
    progress: Callable[[int, float], None],
) -> list[float]:
    """Trains the parameters of `model` that require gradients; returns the loss of every step.

    Resumes from `checkpoint` if it exists. `progress` is called with the steps done and the last loss.
    Ctrl-C finishes the current step, writes the checkpoint and raises KeyboardInterrupt.
    """
    device = next(model.parameters()).device
    cuda = device.type == "cuda"
    half = halves(device)
    learned = [each for each in model.parameters() if each.requires_grad]
    optimizers = _optimizers(model, rate, torch.bfloat16 if half else torch.float32)
    losses = _resume(model, optimizers, checkpoint, device)
    progress(len(losses), losses[-1] if losses else math.nan)
    model.train()
    groups = [group for each in optimizers for group in each.param_groups]
    pending: list[Tensor] = []  # losses still on the device
    saved = time.monotonic()
    with _held_interrupt() as interrupted:
        for step in range(len(losses), steps):
            for group in groups:
                group["lr"] = rate_at(step, steps, group["peak"])
            batch = batches(step)
            batch = batch.pin_memory().to(device, non_blocking=True) if cuda else batch.to(device)
            with torch.autocast(device.type, torch.bfloat16, enabled=half):
                loss = loss_of(batch)
            model.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learned, 1.0)
            for each in optimizers:
                each.step()
            pending.append(loss.detach())
            if not cuda or len(pending) == 25 or step + 1 == steps or interrupted:
                losses += torch.stack(pending).tolist()
                progress(len(losses), losses[-1])
                pending = []
                if interrupted or time.monotonic() - saved > EVERY:
                    kept = [each.state_dict() for each in optimizers]
                    with replacing(checkpoint) as part:
                        torch.save({"model": model.state_dict(), "optimizers": kept, "losses": losses}, part)
                    saved = time.monotonic()
            if interrupted:
                raise KeyboardInterrupt
    model.eval()
    return losses


def _optimizers(model: nn.Module, rate: float, dtype: torch.dtype) -> list[torch.optim.Optimizer]:
    """Muon for the matrices between layers; AdamW, at `rate`, for embeddings, heads and vectors."""
    inner, outer = [], []
    for name, each in model.named_parameters():
        if each.requires_grad:
            (inner if each.ndim == 2 and not OUTER & set(name.split(".")) else outer).append(each)
    adamw = torch.optim.AdamW(outer, rate, betas=(0.9, 0.95), weight_decay=DECAY, fused=True)
    muon = Muon(inner, MUON_RATE, dtype=dtype)
    for group in muon.param_groups + adamw.param_groups:
        group["peak"] = group["lr"]
    return [muon, adamw]


def _resume(
    model: nn.Module, optimizers: list[torch.optim.Optimizer], path: Path, device: torch.device
) -> list[float]:
    """Loads the checkpoint if there is one; returns the losses so far."""
    if not path.exists():
        return []
    state = torch.load(path, map_location=device, weights_only=True)
    if "optimizers" not in state:
        raise BadInput(f"{path}: from an incompatible version; remove it to start again")
    model.load_state_dict(state["model"])
    for optimizer, each in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(each)
    return state["losses"]


@contextmanager
def _held_interrupt() -> Iterator[list[bool]]:
    """A list that Ctrl-C fills; the loop checks it between steps. A second Ctrl-C interrupts at once."""
    interrupted: list[bool] = []

    def handle(*_: object) -> None:
        if interrupted:
            raise KeyboardInterrupt
        interrupted.append(True)

    main = threading.current_thread() is threading.main_thread()  # other threads never receive Ctrl-C
    before = signal.signal(signal.SIGINT, handle) if main else None
    try:
        yield interrupted
    finally:
        if main:
            signal.signal(signal.SIGINT, before)
