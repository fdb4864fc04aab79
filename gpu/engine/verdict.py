"""What one step's logits come to: verification, and what the step needs to know of its outcome."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from gpu import kernels
from gpu.draft import Tree
from gpu.engine.sampling import Sampling
from gpu.verify import VERIFIERS, Outcome, Verifier


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
    target: Tensor | None = None,
    **tables: Tensor,
) -> tuple[Outcome, Tensor | None]:
    """Verifies a step, by kernels where it can; the outcome, and the rows of the target if they were made.

    logits [B, N, V] are the target's, proposal [B, I, V] rows. `target`, if given, are rows to be used in
    place of those that the logits make. `tables`, if given, are the tree's. Nothing is read back.
    """
    tree = tree.holding(tables) if tables else tree
    drafted = tree, proposal, tokens, coins, extra
    if target is None and has_kernels(verifier, logits.device):
        return _by_kernels(verifier, sampling, logits, *drafted), None
    target = sampling.rows(logits) if target is None else target
    return verifier.verify(tree, target, *drafted[1:]), target


def told(
    *, levels: Tensor, paths: Tensor, tokens: Tensor, node: Tensor, token: Tensor, error: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """tau [B]; the path [B, depth + 1] from the root to the stop, then zeros; and, for the host to read at
    once, [B, depth + 3]: error, tau and the emitted tokens, padded with -1.

    levels [1 or B, N] and paths [1 or B, N, depth + 1] are as in `Layout`; the rest is the outcome's.

    >>> levels, paths = torch.tensor([[0, 1, 2]]), torch.tensor([[[0, 0, 0], [0, 1, 0], [0, 1, 2]]])
    >>> outcome = {"node": torch.tensor([1]), "token": torch.tensor([7]), "error": torch.tensor([0])}
    >>> found = told(levels=levels, paths=paths, tokens=torch.tensor([[5, 6]]), **outcome)
    >>> [each.tolist() for each in found]
    [[1], [[0, 1, 0]], [[0, 1, 5, 7, -1]]]
    """
    batch, size = torch.arange(len(node), device=node.device), paths.shape[-1]
    tau = levels.expand(len(node), -1)[batch, node]
    path = paths.expand(len(node), -1, -1)[batch, node]
    place = torch.arange(size, device=node.device)
    drafted = pad(tokens.gather(1, (path[:, 1:] - 1).clamp(min=0)), (0, 1))
    after = torch.where(place == tau[:, None], token[:, None], -1)
    words = torch.where(place < tau[:, None], drafted, after)
    return tau, path, torch.cat((error[:, None], tau[:, None], words), 1)


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
    given = None if proposal is None else proposal.log() if heat == 1 else proposal.log() * heat
    return kernels.verify(verifier.name, tree, logits, given, tokens, coins, extra, temperature=heat)
