"""From logits to rows and decisions in plain torch, as the kernels make them."""

import torch
from torch import Tensor
from torch import constant_pad_nd as pad

from draftproof.gpu.sampling.rows import PerRequest, Sampling, settings
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import Batch, Outcome, named


def probabilities(logits: Tensor, *numbers: float, **given: float) -> Tensor:
    """Rows by temperature, top_k, top_p and min_p."""
    return Sampling(*numbers, **given).rows(logits)


def filtered(sampling: Sampling | PerRequest, logits: Tensor) -> Tensor:
    """What the settings, or those of each request, leave of logits [B, n, V]."""
    if isinstance(sampling, Sampling):
        return sampling.filtered(logits)
    return torch.stack([one.filtered(own) for one, own in zip(each(sampling), logits, strict=True)])


def rows(sampling: Sampling | PerRequest, logits: Tensor) -> Tensor:
    """Rows by the settings, or by those of each request, of logits [B, n, V]."""
    if isinstance(sampling, Sampling):
        return sampling.rows(logits)
    return torch.stack([one.rows(own) for one, own in zip(each(sampling), logits, strict=True)])


def each(sampling: PerRequest) -> list[Sampling]:
    """The settings of each request."""
    given = {name: part.tolist() for name, part in vars(sampling).items() if part is not None}
    return [Sampling(**dict(zip(given, one, strict=True))) for one in zip(*given.values(), strict=True)]


def from_logits(name: str, batch: Batch, **given) -> Outcome:
    """A verifier's outcome from logits."""
    return named(name).verify(batch.map_rows(lambda logits: rows(settings(**given), logits)))


def emitted(outcome: Outcome, tree: Tree, tokens: Tensor) -> Tensor:
    """[B, depth + 1] ids: the accepted tokens and the extra one, padded with -1."""
    tau, _, drafted = tree.stopped(tokens, outcome.node)
    words = pad(drafted, (0, 1)).scatter(1, tau[:, None], outcome.token[:, None])
    place = torch.arange(tree.depth + 1, device=tau.device)
    return words.masked_fill(place > tau[:, None], -1)
