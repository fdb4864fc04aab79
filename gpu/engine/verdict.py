"""A step's verification, by kernels or by plain torch; nothing is read back from the device."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from draftproof.gpu import kernels
from draftproof.gpu.network.session import Draft
from draftproof.gpu.sampling.rows import Sampling, softened
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import VERIFIERS, Batch, Outcome, Verifier


class Verdict(NamedTuple):
    """A step's outcome. `used` holds the target's rows if they were computed; tau and path are as in
    `Tree.stopped`. summary [B, depth + 3] joins error, tau, the extra token and the tokens along the path, so
    that the host reads only once.
    """

    outcome: Outcome
    used: Tensor | None
    tau: Tensor
    path: Tensor
    summary: Tensor


@dataclass(frozen=True)
class Judge:
    """Verifies steps with drafts of one shape, by kernels if the verifier has any. The draft's rows are over
    `heat`. Nothing is read back from the device.
    """

    verifier: Verifier
    sampling: Sampling
    tree: Tree
    heat: float

    def __call__(
        self,
        *,
        logits: Tensor,
        drafted: Tensor | None,
        proposal: Tensor | None,
        tokens: Tensor,
        coins: Tensor,
        extra: Tensor,
        target: Tensor | None = None,
        kept: Tensor | None = None,
        strata: Tensor | None = None,
        **tables: Tensor,
    ) -> Verdict:
        """logits [B, N, V] are the target's; the draft's rows [B, I, V] are `drafted`, logits over `heat`, or
        `proposal`, as in `Draft`. `target`, if given, replaces the rows made from the logits, `tables` those
        of the tree. `kept` [B]: of a chain, a later token that is accepted is the extra token.
        """
        verifier, sampling, heat = self.verifier, self.sampling, self.heat
        tree = self.tree.holding(tables) if tables else self.tree
        if target is None and has_kernels(verifier, logits.device):
            unscaled, heat = Draft(tree, tokens, proposal, drafted, heat).unscaled
            outcome = kernels.verify(
                verifier.name,
                Batch(tree, logits, unscaled, tokens, coins, extra, strata=strata),
                temperature=sampling.temperature,
                draft_heat=heat,
                top_k=sampling.top_k,
                top_p=sampling.top_p,
                min_p=sampling.min_p,
            )
        else:
            made = target is None and proposal is None
            target = sampling.rows(logits) if target is None else target
            proposal = proposal if drafted is None else softened(drafted, heat)
            batch = Batch(tree, target, proposal, tokens, coins, extra, strata=strata)
            outcome = verifier.verify(batch, softmax=made)
        if kept is not None and tokens.shape[1]:
            ahead = tokens.gather(1, kept[:, None].clamp(max=tokens.shape[1] - 1))[:, 0]
            over = outcome.node > kept
            node, token = torch.minimum(outcome.node, kept), torch.where(over, ahead, outcome.token)
            outcome = replace(outcome, node=node, token=token)
        tau, path, along = tree.stopped(tokens, outcome.node)
        first = (each[:, None] for each in (outcome.error, tau, outcome.token))
        return Verdict(outcome, target, tau, path, torch.cat((*first, along), 1))


def has_kernels(verifier: Verifier, device: torch.device) -> bool:
    """Whether there are kernels for this verifier, compiled for this device."""
    known = VERIFIERS.get(verifier.name) is verifier and verifier.name in kernels.NAMES
    return known and kernels.compiled_for(device)
