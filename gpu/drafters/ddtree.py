"""DDTree's tree: the likeliest prefixes when each depth has one row (ringel2026ddtree)."""

from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import pad

from draftproof.gpu.network.session import Draft, Session, Structure
from draftproof.gpu.sampling.history import History
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify.verifier import DETERMINISTIC, WITHOUT


class DDTree(Structure):
    """The `most` likeliest prefixes of at most `depth` tokens, for drafters whose rows depend on the depth
    alone, at temperature 1. The tree is a function of the context, so only rules for deterministic drafts
    (one-hot, nss) are lossless. `claims_rows` makes a faulty draft, which says that its tokens were drawn
    from the rows.
    """

    def __init__(self, name: str, most: int, depth: int, claims_rows: bool = False) -> None:
        self.name, self.size, self.depth, self.claims_rows = name, 1 + most, depth, claims_rows
        self.kind = WITHOUT if claims_rows else DETERMINISTIC

    def grow(
        self, session: Session, sampling: Sampling, uniforms: Tensor, history: History | None = None
    ) -> Draft:
        """One tree for each text; uniforms and history are not read."""
        logits = session.by_depth()[:, : self.depth]
        tokens, parents = likeliest_prefixes(logits, self.size - 1)
        tree = Tree(pad(parents, (1, 0)), depth=self.depth)
        if not self.claims_rows:
            return Draft(tree, tokens)
        levels = tree.levels.clamp(max=self.depth - 1)
        tree = Tree(pad(parents, (1, 0)), depth=self.depth, rows=levels)
        return Draft(tree, tokens, logits=sampling.filtered(logits), heat=sampling.heat)


def likeliest_prefixes(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """(tokens, parents) [B, count]: the `count` likeliest prefixes under the product of the rows that logits
    [B, depth, V] give, parents first. Token i is node i + 1, and parent 0 is the root. Of equally likely
    prefixes the shorter goes first. Prefixes of probability 0 are left out: their tokens are -1.

    A prefix that ends with the r-th likeliest child of the i-th likeliest prefix of its length - 1 is less
    likely than i r - 1 others, so that a level has some `count` log `count` candidates whatever V is. Nothing
    is read back from a device.

    >>> rows = torch.tensor([[[0.5, 0.3, 0.2], [0.9, 0.1, 0.0]]]).log()
    >>> [each.tolist() for each in likeliest_prefixes(rows, 4)]
    [[[0, 1, 0, 0]], [[0, 0, 1, 2]]]
    """
    own, ids = logits.double().log_softmax(-1).clamp(max=0).topk(min(count, logits.shape[2]), -1)
    i, r = _pairs(logits.device, count, own.shape[2])
    place = torch.arange(count, device=logits.device).expand(len(logits), -1)
    level, above = torch.where(place > 0, -torch.inf, own.new_zeros(())), place * 0
    values, tokens, parents = [], [], []
    for d in range(logits.shape[1]):
        level, at = _likeliest_first(level[:, i] + own[:, d, r], count)
        values.append(level)
        tokens.append(ids[:, d, r].gather(1, at))
        parents.append(above.gather(1, i[at]))
        above = 1 + d * count + place  # 0 is the root, and candidate k of all levels is number k + 1
    value, token, parent = (torch.cat(each, 1) for each in (values, tokens, parents))
    most, chosen = _likeliest_first(value, count)
    nothing = value.shape[1]
    chosen = torch.where(most > -torch.inf, chosen, nothing).sort().values
    number = chosen.new_zeros(len(value), nothing + 2).scatter(1, chosen + 1, 1 + place)
    token, parent = pad(token, (0, 1), value=-1), pad(parent, (0, 1))
    return token.gather(1, chosen), number.gather(1, parent.gather(1, chosen))


@cache
def _pairs(device: torch.device, count: int, most: int) -> Tensor:
    """All (i, r) from 0 with (i + 1)(r + 1) <= count and r < most, by i; [2, n]."""
    ranks = torch.arange(1, count + 1, device=device)
    return ((ranks[:, None] * ranks <= count) & (ranks <= most)).nonzero().T


def _likeliest_first(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest numbers of each row, and their places; of equal ones the first."""
    found = values.sort(dim=-1, descending=True, stable=True)
    return found.values[:, :count], found.indices[:, :count]
