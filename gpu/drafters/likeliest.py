"""Trees of the likeliest tokens: EAGLE-2's (li2024eagle2) and DDTree's (ringel2026ddtree).

They are functions of the context, so only rules for deterministic drafts (one-hot, nss) are lossless.
Likelihoods are the drafter's at temperature 1. Candidates are numbered from 1 on, parents first; 0 is the
root.
"""

import torch
from torch import Tensor
from torch.nn.functional import pad

from draftproof.gpu.network.session import Draft, Level, Session, Structure
from draftproof.gpu.sampling.history import History
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify.verifier import DETERMINISTIC


class TopK(Structure):
    """The `most` likeliest nodes of a tree in which the `width` likeliest nodes of each depth were extended
    (EAGLE-2), by the joint probability of the path. If `width` is `most`, these are the likeliest of all
    prefixes (DDTree).
    """

    kind = DETERMINISTIC

    def __init__(self, name: str, width: int, depth: int, most: int) -> None:
        self.name, self.width, self.depth = name, width, depth
        self.size = 1 + min(most, width + (depth - 1) * width * width)

    @property
    def slots(self) -> int:
        return max(self.size, 1 + (self.depth - 1) * self.width)

    def grow(
        self, session: Session, sampling: Sampling, uniforms: Tensor, history: History | None = None
    ) -> Draft:
        """Extends the drafter's likeliest nodes depth by depth, then keeps the likeliest of all."""
        logits = session.root()[:, None]
        words = torch.zeros(len(logits), 1, 0, dtype=torch.long, device=logits.device)
        if history is not None:
            logits = history.processed(sampling, logits, words)
        batch, children, device = len(logits), min(self.width, logits.shape[-1]), logits.device
        score = torch.zeros(batch, 1, device=device)
        extended = torch.zeros(batch, 1, dtype=torch.long, device=device)  # candidates
        places = torch.arange(self.slots + 2, device=device)
        sees = (places < 2).expand(batch, 1, -1)  # the text and the root
        scores, ids, above, held = [], [], [], [extended[:, :0]]  # held: in the drafter's KV cache
        for depth in range(1, self.depth + 1):
            count = sum(each.shape[1] for each in ids)
            likely = logits.double().log_softmax(-1).clamp(max=0) + score.double()[..., None]
            score, tokens = (each.flatten(1) for each in likely.topk(children, dim=-1))
            scores.append(score)
            ids.append(tokens)
            above.append(extended.repeat_interleave(children, 1))
            if depth == self.depth:
                break
            score, best = score.topk(min(self.width, score.shape[1]), dim=1)
            tokens, parent, extended = tokens.gather(1, best), best // children, 1 + count + best
            first = 1 + sum(each.shape[1] for each in held)
            held.append(extended)
            sees = sees.gather(1, parent[..., None].expand(-1, -1, sees.shape[-1]))
            size = tokens.shape[1]
            sees[:, :, 1 + first : 1 + first + size] = torch.eye(size, dtype=torch.bool, device=device)
            logits = session.extend(tokens, Level(depth, first, sees, parent))
            if history is not None:
                words = words.gather(1, parent[..., None].expand(-1, -1, words.shape[-1]))
                words = torch.cat((words, tokens[..., None]), -1)
                logits = history.processed(sampling, logits, words)
        score, token, parent, place = (torch.cat(each, 1) for each in (scores, ids, above, held))
        tokens, parents, chosen = likeliest(score, token, parent, self.size - 1)
        places = numbered(place, token.shape[1] + 2).gather(1, chosen)
        tree = Tree(pad(parents, (1, 0)), depth=self.depth)
        return Draft(tree, tokens, places=pad(places, (1, 0)))


def likeliest(scores: Tensor, tokens: Tensor, parents: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """(tokens, parents, candidates) [B, count]: the `count` likeliest of the candidates [B, C], in their
    order. Token i is node i + 1 of the tree, and parent 0 is its root. Candidates of probability 0 are left
    out, and of fewer than `count` the last ones are missing: their tokens are -1.
    """
    nothing = 1 + scores.shape[1]
    most, chosen = _first(scores, count)
    chosen = torch.where(most > -torch.inf, 1 + chosen, nothing).sort().values
    chosen = pad(chosen, (0, count - chosen.shape[1]), value=nothing)
    tokens, parents = pad(tokens, (1, 1), value=-1), pad(parents, (1, 1))
    parents = numbered(chosen, 1 + nothing).gather(1, parents.gather(1, chosen))
    return tokens.gather(1, chosen), parents, chosen


def numbered(places: Tensor, size: int) -> Tensor:
    """[B, size]: k + 1 at the index places[b, k], 0 elsewhere."""
    numbers = torch.arange(1, places.shape[1] + 1, device=places.device).expand_as(places)
    return places.new_zeros(len(places), size).scatter(1, places, numbers)


def _first(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest numbers of each row, and their places; of equal ones the first."""
    found = values.sort(dim=-1, descending=True, stable=True)
    return found.values[:, :count], found.indices[:, :count]
