"""What one step's logits come to: verification, and what the step needs to know of its outcome."""

from functools import partial

import torch
from torch import Tensor

from draftproof.gpu import kernels
from draftproof.gpu.draft import Tree
from draftproof.gpu.drafters.drafter import Draft
from draftproof.gpu.engine.recorder import Recorder
from draftproof.gpu.engine.sampling import Sampling
from draftproof.gpu.layout import emitted
from draftproof.gpu.verify import VERIFIERS, Batch, Outcome, Verifier


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
    if target is None and has_kernels(verifier, logits.device):
        heat = sampling.temperature  # one for both sides, and the proposal is rows already
        if not sampling.only_heats:
            logits, heat = sampling.rows(logits).log(), 1.0
        given = None if proposal is None else proposal.log() if heat == 1 else proposal.log() * heat
        batch = Batch(tree, logits, given, tokens, coins, extra)
        return kernels.verify(verifier.name, batch, temperature=heat), None
    target = sampling.rows(logits) if target is None else target
    return verifier.verify(Batch(tree, target, proposal, tokens, coins, extra)), target


def recorded(
    recorder: Recorder,
    verifier: Verifier,
    sampling: Sampling,
    draft: Draft,
    logits: Tensor,
    coins: Tensor,
    extra: Tensor,
    target: Tensor | None,
) -> tuple[Outcome, Tensor | None]:
    """`verdict` on a draft, from a recording where there is one."""
    tree = draft.tree
    return recorder(
        ("verdict", verifier, sampling, tree.kind),
        partial(verdict, verifier, sampling, tree),
        logits=logits,
        proposal=draft.proposal,
        tokens=draft.tokens,
        coins=coins,
        extra=extra,
        target=target,
        **({} if tree.shared else tree.tables),
    )


def told(
    *, levels: Tensor, paths: Tensor, tokens: Tensor, node: Tensor, token: Tensor, error: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """tau and path as in `layout.emitted`, and, for the host to read at once, [B, depth + 3]: error, tau
    and the emitted words.
    """
    tau, path, words = emitted(levels, paths, tokens, node, token)
    return tau, path, torch.cat((error[:, None], tau[:, None], words), 1)


def has_kernels(verifier: Verifier, device: torch.device) -> bool:
    """Whether kernels do what this verifier does, compiled for this device."""
    ours = VERIFIERS.get(verifier.name) is verifier and verifier.name in kernels.NAMES
    return ours and kernels.AVAILABLE and device.type == "cuda"
