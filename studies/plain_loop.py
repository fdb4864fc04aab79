"""Speculative decoding of one text with chains, without a cache, batches, processors and selection.

It is there to be read first: gpu/engine/loop.py does the same for batches, with all of these, and emits the
same tokens from the same noise (`tests/studies/test_plain_loop.py`).
"""

from collections.abc import Iterator, Sequence

import torch

from draftproof.gpu.network.models import Model
from draftproof.gpu.sampling import noise
from draftproof.gpu.sampling.rows import PLAIN, Sampling
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import Batch, Verifier
from draftproof.gpu.verify.residual import draws


@torch.inference_mode()
def decode(
    target: Model,
    drafter: Model,
    prompt: Sequence[int],
    verifier: Verifier,
    gamma: int,
    sampling: Sampling = PLAIN,
    seed: int = 0,
) -> Iterator[list[int]]:
    """Continues a prompt (token ids) without end; yields the tokens that each step emits. `verifier` is one
    for chains that keeps nothing between steps. The noise is that of `generate` with a single prompt.
    """
    text, key = list(prompt), noise.key(seed, 0)
    while True:
        numbers = torch.from_numpy(noise.uniforms(key, len(text) - len(prompt), 2 * gamma + 1))
        drawing, coins, extra = numbers.tensor_split((gamma, 2 * gamma))
        # Draft: each token is drawn from the drafter's row after the text and the tokens before it.
        tokens, proposal = [], []
        for u in drawing:
            proposal.append(sampling.rows(_logits(drafter, text + tokens)[-1]))
            tokens.append(int(draws(proposal[-1], u[None])))
        # Target pass: one row after the text and one after each drafted token.
        rows = sampling.rows(_logits(target, text + tokens)[-gamma - 1 :])
        # Verify: the node at which the verifier stops is the number of accepted tokens.
        drafted = torch.tensor([tokens])
        batch = Batch(Tree.chain(gamma), rows[None], torch.stack(proposal)[None], drafted, coins[None], extra)
        outcome = verifier.verify(batch)
        # Commit: the accepted tokens and the extra one.
        emitted = [*tokens[: int(outcome.node)], int(outcome.token)]
        text += emitted
        yield emitted


def _logits(model: Model, text: Sequence[int]) -> torch.Tensor:
    """The logits [T, V] after each token of a text."""
    output = model.network(input_ids=torch.tensor([text], device=model.device), use_cache=False)
    return output.logits[0, :, : model.vocab]
