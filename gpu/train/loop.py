"""One training loop: batches by step number, Muon and AdamW, checkpoints, and a stop that loses nothing."""

import hashlib
import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from draftproof.gpu.train.muon import Muon
from draftproof.theory.errors import BadInput

EVERY = 30.0
"""Seconds between checkpoints."""
MUON_RATE = 0.02
OUTER = {"embed_tokens", "lm_head"}


def batch_at(tokens: np.ndarray, batch: int, length: int, key: str) -> Tensor:
    """`batch` windows of `length` ids, chosen by `key` alone: a resumed run meets the same ones."""
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big")
    starts = np.random.default_rng(seed).integers(0, len(tokens) - length, batch)
    return torch.from_numpy(np.stack([tokens[at : at + length] for at in starts]).astype(np.int64))


def rate_at(step: int, steps: int, peak: float) -> float:
    """A linear rise over the first twentieth, then a straight line that would reach zero after the last step.

    >>> [rate_at(step, 40, 1.0) for step in (0, 1, 2, 20, 39)]
    [0.5, 1.0, 1.0, 0.5263157894736842, 0.02631578947368421]
    """
    rise = max(1, steps // 20)
    return peak * min((step + 1) / rise, (steps - step) / max(1, steps - rise))


def halves(device: torch.device) -> bool:
    """Whether this processor multiplies bfloat16 itself, which elsewhere is slower than float32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    able = getattr(torch.cpu, "get_capabilities", dict)()  # not in older torch
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))


def fit(
    model: nn.Module,
    loss_of: Callable[[Tensor], Tensor],
    batches: Callable[[int], Tensor],
    steps: int,
    rate: float,
    checkpoint: Path,
    advance: Callable[[int, float], None],
) -> list[float]:
    """Trains the parameters of `model` that want gradients and returns the loss of every step.

    Goes on from `checkpoint` where there is one. Ctrl-C finishes the step in hand, writes the
    checkpoint and raises KeyboardInterrupt.
    """
    device = next(model.parameters()).device
    cuda = device.type == "cuda"
    half = halves(device)
    learned = [each for each in model.parameters() if each.requires_grad]
    optimizers = _optimizers(model, rate, torch.bfloat16 if half else torch.float32)
    losses = _resume(model, optimizers, checkpoint, device)
    advance(len(losses), losses[-1] if losses else math.nan)
    model.train()
    waiting: list[Tensor] = []  # losses still on the device
    saved = time.monotonic()
    with _held_interrupt() as interrupted:
        for step in range(len(losses), steps):
            for group in (group for each in optimizers for group in each.param_groups):
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
            waiting.append(loss.detach())
            if not cuda or len(waiting) == 25 or step + 1 == steps or interrupted():
                losses += torch.stack(waiting).tolist()
                advance(len(losses), losses[-1])
                waiting = []
                if interrupted() or time.monotonic() - saved > EVERY:
                    _save(model, optimizers, losses, checkpoint)
                    saved = time.monotonic()
            if interrupted():
                raise KeyboardInterrupt
    model.eval()
    return losses


def _optimizers(model: nn.Module, rate: float, dtype: torch.dtype) -> list[torch.optim.Optimizer]:
    """Muon for the matrices between layers; AdamW, at `rate`, for embeddings, heads and vectors."""
    learned = {name: each for name, each in model.named_parameters() if each.requires_grad}
    inner = [each for name, each in learned.items() if each.ndim == 2 and not OUTER & set(name.split("."))]
    inside = {id(each) for each in inner}
    outer = [each for each in learned.values() if id(each) not in inside]
    adamw = torch.optim.AdamW(outer, rate, betas=(0.9, 0.95), weight_decay=0.05, fused=True)
    optimizers = [Muon(inner, MUON_RATE, dtype=dtype), adamw]
    for group in (group for each in optimizers for group in each.param_groups):
        group["peak"] = group["lr"]
    return optimizers


def _resume(
    model: nn.Module, optimizers: list[torch.optim.Optimizer], path: Path, device: torch.device
) -> list[float]:
    if not path.exists():
        return []
    state = torch.load(path, map_location=device, weights_only=True)
    if "optimizers" not in state:
        raise BadInput(f"{path}: from a version that trained otherwise; remove it to begin anew")
    model.load_state_dict(state["model"])
    for optimizer, each in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(each)
    return state["losses"]


def _save(model: nn.Module, optimizers: list[torch.optim.Optimizer], losses: list[float], path: Path) -> None:
    partial = path.with_suffix(".partial")
    kept = [each.state_dict() for each in optimizers]
    torch.save({"model": model.state_dict(), "optimizers": kept, "losses": losses}, partial)
    partial.replace(path)


@contextmanager
def _held_interrupt() -> Iterator[Callable[[], bool]]:
    """Turns Ctrl-C into a question that the loop asks between steps; a second Ctrl-C is obeyed at once."""
    heard = []

    def hear(*_: object) -> None:
        if heard:
            raise KeyboardInterrupt
        heard.append(True)

    try:
        before = signal.signal(signal.SIGINT, hear)
    except ValueError:  # not the main thread: nobody sends Ctrl-C here
        yield lambda: False
        return
    try:
        yield lambda: bool(heard)
    finally:
        signal.signal(signal.SIGINT, before)
