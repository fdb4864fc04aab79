"""One training loop: batches by step number, AdamW, checkpoints, and a stop that loses nothing."""

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

EVERY = 20.0
"""Seconds between checkpoints."""


def batch_at(tokens: np.ndarray, batch: int, length: int, key: str) -> Tensor:
    """`batch` windows of `length` ids, chosen by `key` alone: a resumed run meets the same ones."""
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big")
    starts = np.random.default_rng(seed).integers(0, len(tokens) - length, batch)
    return torch.from_numpy(np.stack([tokens[at : at + length] for at in starts]).astype(np.int64))


def rate_at(step: int, steps: int, peak: float) -> float:
    """A linear rise over the first twentieth, then half a cosine down to a tenth of the peak."""
    rise = max(1, steps // 20)
    if step < rise:
        return peak * (step + 1) / rise
    return peak * (0.1 + 0.45 * (1 + math.cos(math.pi * (step - rise) / max(1, steps - rise))))


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
    learned = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(learned, rate, betas=(0.9, 0.95), weight_decay=0.05, fused=True)
    losses = _resume(model, optimizer, checkpoint, device)
    advance(len(losses), losses[-1] if losses else math.nan)
    model.train()
    waiting: list[Tensor] = []  # losses still on the device
    saved = time.monotonic()
    with _held_interrupt() as interrupted:
        for step in range(len(losses), steps):
            for group in optimizer.param_groups:
                group["lr"] = rate_at(step, steps, rate)
            batch = batches(step).to(device, non_blocking=True)
            with torch.autocast("cuda", torch.bfloat16, enabled=cuda):
                loss = loss_of(batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            waiting.append(loss.detach())
            if not cuda or len(waiting) == 25 or step + 1 == steps or interrupted():
                losses += torch.stack(waiting).tolist()
                advance(len(losses), losses[-1])
                waiting = []
                if interrupted() or time.monotonic() - saved > EVERY:
                    _save(model, optimizer, losses, checkpoint)
                    saved = time.monotonic()
            if interrupted():
                raise KeyboardInterrupt
    model.eval()
    return losses


def _resume(
    model: nn.Module, optimizer: torch.optim.Optimizer, path: Path, device: torch.device
) -> list[float]:
    if not path.exists():
        return []
    state = torch.load(path, map_location=device, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["losses"]


def _save(model: nn.Module, optimizer: torch.optim.Optimizer, losses: list[float], path: Path) -> None:
    partial = path.with_suffix(".partial")
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "losses": losses}
    torch.save(state, partial)
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
