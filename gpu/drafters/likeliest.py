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
    (EAGLE-2), by the joint probability of the path.
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
        batch, width, device = len(logits), min(self.width, logits.shape[-1]), logits.device
        own = torch.arange(width, device=device)
        score = torch.zeros(batch, 1, device=device)
        extended = torch.zeros(batch, 1, dtype=torch.long, device=device)  # candidates
        best = own.expand(batch, width)
        places = torch.arange(1 + (self.depth - 1) * width + 2, device=device)
        sees = (places < 2).expand(batch, 1, -1)  # the text and the root
        scores, ids, above, held = [], [], [], [extended[:, :0]]  # held: in the drafter's KV cache
        for depth in range(1, self.depth + 1):
            count = sum(each.shape[1] for each in ids)
            likely = logits.double().log_softmax(-1).clamp(max=0) + score.double()[..., None]
            score, tokens = (each.flatten(1) for each in likely.topk(width, dim=-1))
            scores.append(score)
            ids.append(tokens)
            above.append(extended.repeat_interleave(width, 1))
            if depth == self.depth:
                break
            if depth > 1:
                score, best = score.topk(width, dim=1)
                tokens = tokens.gather(1, best)
            parent, extended, first = best // width, 1 + count + best, 1 + (depth - 1) * width
            held.append(extended)
            sees = sees.gather(1, parent[..., None].expand(-1, -1, sees.shape[-1]))
            sees[:, :, 1 + first : 1 + first + width] = own == own[:, None]
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


class DDTree(Structure):
    """The `most` likeliest prefixes of at most `depth` tokens, if rows depend on the depth alone."""

    kind = DETERMINISTIC

    def __init__(self, name: str, most: int, depth: int) -> None:
        self.name, self.size, self.depth = name, 1 + most, depth

    def grow(
        self, session: Session, sampling: Sampling, uniforms: Tensor, history: History | None = None
    ) -> Draft:
        """One tree for each text; the other arguments are not read."""
        tokens, parents = likeliest_prefixes(session.by_depth()[:, : self.depth], self.size - 1)
        return Draft(Tree(pad(parents, (1, 0)), depth=self.depth), tokens)


def likeliest_prefixes(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """(tokens, parents) [B, count]: the `count` likeliest prefixes under the product of the rows that logits
    [B, depth, V] give, as `likeliest` has them. Of equally likely prefixes the shorter goes first.

    Each level is made of the `count` likeliest prefixes of the level before and as many tokens after each.
    Nothing is read back from a device.

    >>> rows = torch.tensor([[[0.5, 0.3, 0.2], [0.9, 0.1, 0.0]]]).log()
    >>> [each.tolist() for each in likeliest_prefixes(rows, 4)]
    [[[0, 1, 0, 0]], [[0, 0, 1, 2]]]
    """
    own, ids = logits.double().log_softmax(-1).clamp(max=0).topk(min(count, logits.shape[2]), -1)
    place = torch.arange(count, device=logits.device).expand(len(logits), -1)
    level, above = torch.where(place > 0, -torch.inf, own.new_zeros(())), place * 0
    values, tokens, parents = [], [], []
    for d in range(logits.shape[1]):
        level, at = _first((level[..., None] + own[:, d, None]).flatten(1), count)
        values.append(level)
        tokens.append(ids[:, d].gather(1, at % own.shape[2]))
        parents.append(above.gather(1, at // own.shape[2]))
        above = 1 + d * count + place
    value, token, parent = (torch.cat(each, 1) for each in (values, tokens, parents))
    return likeliest(value, token, parent, count)[:2]


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
