"""A step's verification, by kernels or by plain torch; nothing is read back from the device."""

import torch
from torch import Tensor

from draftproof.gpu import kernels
from draftproof.gpu.network.session import Draft
from draftproof.gpu.sampling.device import looks
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import VERIFIERS, Batch, Outcome, Verifier


def judged(
    verifier: Verifier,
    sampling: Sampling,
    draft: Draft,
    logits: Tensor,
    coins: Tensor,
    extra: Tensor,
    kept: Tensor | None = None,
) -> Outcome:
    """Verifies drafts, by kernels if the verifier has any. logits [B, N, V] are the target's. `kept` [B]: of
    a chain, a later token that is accepted is the extra token.
    """
    tree, tokens = draft.tree, draft.tokens
    if has_kernels(verifier, logits.device):
        unscaled, heat = draft.unscaled
        outcome = kernels.verify(
            verifier.name,
            Batch(tree, logits, unscaled, tokens, coins, extra, strata=draft.strata),
            temperature=sampling.temperature,
            draft_heat=heat,
            top_k=sampling.top_k,
            top_p=sampling.top_p,
            min_p=sampling.min_p,
        )
    else:
        target = _rows(sampling, logits, tree.drawn(tokens))
        batch = Batch(tree, target, draft.proposal, tokens, coins, extra, strata=draft.strata)
        outcome = verifier.verify(batch, softmax=draft.rows is None)
    if kept is None or not tokens.shape[1]:
        return outcome
    ahead = tokens.gather(1, kept[:, None].clamp(max=tokens.shape[1] - 1))[:, 0]
    over = outcome.node > kept
    node, token = torch.minimum(outcome.node, kept), torch.where(over, ahead, outcome.token)
    return outcome._replace(node=node, token=token)


def _rows(sampling: Sampling, logits: Tensor, drawn: Tensor) -> Tensor:
    """Rows [B, N, V]; under top-p, which sorts them, 0 for nodes not drawn, where the host may look."""
    if sampling.top_p == 1 or not looks(logits) or bool(drawn.all()):
        return sampling.rows(logits)
    made = sampling.rows(logits[drawn])
    return made.new_zeros(logits.shape).masked_scatter(drawn[..., None], made)


def has_kernels(verifier: Verifier, device: torch.device) -> bool:
    """Whether there are kernels for this verifier, compiled for this device."""
    known = VERIFIERS.get(verifier.name) is verifier and verifier.name in kernels.NAMES
    return known and kernels.compiled_for(device)
