"""Trees that follow the drafter's probabilities (EAGLE-2, li2024eagle2; DDTree): no chance in them."""

import torch
from torch import Tensor
from torch.nn import functional

from draftproof.gpu.draft import Tree
from draftproof.gpu.drafters.drafter import Draft, Grower, Level
from draftproof.gpu.engine.sampling import Sampling
from draftproof.gpu.verify.verifier import DETERMINISTIC

STEP = 1e-9
"""Taken off a node's log-probability: its parent must come first, also where the child is certain."""


class TopK:
    """The likeliest `most` nodes of a tree in which the `width` likeliest nodes of each depth were extended.

    A node's likelihood is the drafter's joint probability of its path at temperature 1, so the tree
    is a function of the context, and only rules for such drafts (one-hot, nss) are lossless on it.
    """

    kind = DETERMINISTIC

    def __init__(self, name: str, width: int, depth: int, most: int) -> None:
        self.name, self.width, self.depth = name, width, depth
        self.size = 1 + min(most, width + (depth - 1) * width * width)

    def to(self, device: torch.device) -> "TopK":
        """The same structure: it has no tables."""
        return self

    def grow(self, session: Grower, sampling: Sampling, uniforms: Tensor) -> Draft:
        """Extends the drafter's likeliest nodes depth by depth, then keeps the likeliest of all."""
        logits = session.root()
        batch, width, device = len(logits), min(self.width, logits.shape[-1]), logits.device
        score, tokens = _best(logits[:, None], torch.zeros(batch, 1, device=device), width)
        scores, ids = [score], [tokens]
        above = [torch.full_like(tokens, -1)]  # index of the parent among the candidates
        frontier = torch.arange(width, device=device).expand(batch, width)  # indices of those extended
        fed = []
        sees = torch.zeros(batch, 1, 1 + (self.depth - 1) * width + 2, dtype=torch.bool, device=device)
        sees[:, :, :2] = True  # the text and the root
        parent = torch.zeros_like(frontier)
        for depth in range(1, self.depth):
            first = 1 + (depth - 1) * width
            sees = sees.gather(1, parent[..., None].expand(-1, -1, sees.shape[-1]))
            own = torch.arange(width, device=device)
            sees[:, own, 1 + first + own] = True
            logits = session.extend(tokens, Level(depth, first, sees, parent))
            fed.append(frontier)
            score, following = _best(logits, score, width)
            scores.append(score)
            ids.append(following)
            above.append(frontier.repeat_interleave(width, 1))
            done = sum(each.shape[1] for each in ids[:-1])
            score, best = score.topk(width, dim=1)
            tokens, parent, frontier = following.gather(1, best), best // width, done + best
        return _likeliest(
            torch.cat(scores, 1), torch.cat(ids, 1), torch.cat(above, 1), fed, self.size - 1, self.depth
        )


def _best(logits: Tensor, score: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Scores and tokens [B, m width] of the likeliest continuations of nodes with logits [B, m, V]."""
    likely = functional.log_softmax(logits.double(), dim=-1) + score.double()[..., None] - STEP
    best, tokens = likely.topk(width, dim=-1)
    return best.flatten(1), tokens.flatten(1)


def _likeliest(scores: Tensor, ids: Tensor, above: Tensor, fed: list[Tensor], most: int, depth: int) -> Draft:
    """The tree of the likeliest candidates [B, C]; above has their parents among them, -1 for the root."""
    batch, candidates = scores.shape
    chosen = scores.topk(min(most, candidates), dim=1).indices.sort(1).values
    number = torch.zeros(batch, candidates + 1, dtype=torch.long, device=ids.device)
    nodes = torch.arange(1, chosen.shape[1] + 1, device=ids.device).expand_as(chosen)
    number = number.scatter(1, chosen + 1, nodes)
    parents = functional.pad(number.gather(1, above.gather(1, chosen) + 1), (1, 0))
    held = torch.zeros_like(number)
    if fed:
        order = torch.cat(fed, 1)
        held = held.scatter(
            1, order + 1, torch.arange(1, order.shape[1] + 1, device=ids.device).expand_as(order)
        )
    places = functional.pad(held.gather(1, chosen + 1), (1, 0))
    return Draft(Tree(parents, depth=depth), ids.gather(1, chosen), None, places)
