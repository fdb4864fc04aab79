"""What one step's logits come to: rows, verification, and all that the step needs to know of its outcome."""

from dataclasses import dataclass

import torch
from torch import Tensor

from gpu import kernels
from gpu.draft import Tree
from gpu.engine.sampling import Sampling
from gpu.verify import VERIFIERS, Outcome, Verifier


@dataclass(frozen=True)
class Verdict:
    """The outcome; tau [B] accepted tokens; path [B, depth + 1], the nodes from the root to the stop, then
    zeros; told [B, depth + 3]: error, tau and the emitted tokens, for the host to read at once; target: the
    rows that were used, None where kernels made them.
    """

    outcome: Outcome
    tau: Tensor
    path: Tensor
    told: Tensor
    target: Tensor | None


def verdict(
    verifier: Verifier,
    sampling: Sampling,
    tree: Tree,
    *,
    logits: Tensor,
    proposal: Tensor | None,
    tokens: Tensor,
    coins: Tensor,
    extra: Tensor,
    paths: Tensor,
    target: Tensor | None = None,
    **tables: Tensor,
) -> Verdict:
    """Verifies a step, by kernels where it can; reads nothing back.

    logits [B, N, V] are the target's, proposal [B, I, V] rows, `paths` those of `Layout`. `target`, if
    given, are rows to be used in place of those that the logits make. `tables`, if given, are the tree's.
    """
    tree = tree.holding(tables) if tables else tree
    drafted = tree, proposal, tokens, coins, extra
    if target is None and has_kernels(verifier, logits.device):
        outcome = _by_kernels(verifier, sampling, logits, *drafted)
    else:
        target = sampling.rows(logits) if target is None else target
        outcome = verifier.verify(tree, target, *drafted[1:])
    batch, node = torch.arange(len(logits), device=logits.device), outcome.node
    tau = tree.levels.expand(len(node), -1)[batch, node]
    path = paths.expand(len(node), -1, -1)[batch, node]
    told = torch.cat((outcome.error[:, None], tau[:, None], outcome.emitted(tree, tokens)), 1)
    return Verdict(outcome, tau, path, told, target)


def has_kernels(verifier: Verifier, device: torch.device) -> bool:
    """Whether kernels do what this verifier does, compiled for this device."""
    ours = VERIFIERS.get(verifier.name) is verifier and verifier.name in kernels.NAMES
    return ours and kernels.AVAILABLE and device.type == "cuda"


def _by_kernels(
    verifier: Verifier,
    sampling: Sampling,
    logits: Tensor,
    tree: Tree,
    proposal: Tensor | None,
    tokens: Tensor,
    coins: Tensor,
    extra: Tensor,
) -> Outcome:
    # Both sides get one temperature, and the proposal is rows already.
    heat = sampling.temperature
    if not sampling.only_heats:
        logits, heat = sampling.rows(logits).log(), 1.0
    given = None if proposal is None else proposal.log() * heat
    return kernels.verify(verifier.name, tree, logits, given, tokens, coins, extra, temperature=heat)
