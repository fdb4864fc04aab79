"""Random batches for the verifiers: rows with zeros and peaks, drafts with holes, any noise."""

import torch
from hypothesis import strategies as st
from torch import Tensor

from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import Batch, Outcome, Verifier

ONE_BELOW = 1 - 2**-24

SHAPES = [[], [[]], [[[[]]]], [[], []], [[[], []], [[]], []], [[[[], []]], [[], [], []]]]


def rows(shape: tuple[int, ...], random: torch.Generator) -> Tensor:
    """Laws, some entries zero, some rows with nearly all mass on one token."""
    logits = 3 * torch.randn(shape, generator=random)
    logits[torch.rand(shape, generator=random) < 0.3] = -torch.inf
    logits[..., 0] = logits[..., 0].nan_to_num(neginf=0.0)
    logits[..., -1] += 30 * (torch.rand(shape[:-1], generator=random) < 0.2)
    return torch.softmax(logits, -1)


def noise(shape: tuple[int, ...], random: torch.Generator) -> Tensor:
    """Uniforms, a third of them at the ends: 0, 1 - 2^-24 and 1."""
    ends = torch.tensor([0.0, ONE_BELOW, 1.0])[torch.randint(3, shape, generator=random)]
    return torch.where(torch.rand(shape, generator=random) < 0.33, ends, torch.rand(shape, generator=random))


class Drawn:
    """One random batch for a tree: what a verifier takes, drawn as its draft is drawn."""

    def __init__(self, tree: Tree, vocab: int, batch: int, seed: int, holes: bool = True):
        random = torch.Generator().manual_seed(seed)
        self.tree = tree
        self.target = rows((batch, tree.size, vocab), random)
        self.proposal = rows((batch, len(tree.inner), vocab), random)
        if seed % 3 == 0:
            self.proposal = self.target[:, list(tree.inner)].clone()
        self.tokens = torch.full((batch, tree.size - 1), -1)
        for node in tree.inner:
            q = self.proposal[:, tree.rows[0, node]]
            for child in (tree.parents[0, 1:] == node).nonzero().flatten().tolist():
                drawn = q.sum(-1) > 0
                x = torch.multinomial(torch.where(drawn[:, None], q, 1.0), 1, generator=random)
                self.tokens[:, child] = torch.where(drawn, x[:, 0], -1)
                if not tree.replacement:
                    q = q.scatter(1, x, 0.0)
        if holes:
            self.tokens[torch.rand(self.tokens.shape, generator=random) < 0.15] = -1
        self.coins = noise(self.tokens.shape, random)
        self.extra = noise((batch,), random)

    @property
    def batch(self) -> Batch:
        return Batch(self.tree, self.target, self.proposal, self.tokens, self.coins, self.extra)

    def verified(self, verifier: Verifier) -> Outcome:
        return verifier.verify(self.batch)


def drawn(tree: Tree | None = None, replacement: bool | None = None) -> st.SearchStrategy[Drawn]:
    """Random batches, on one tree or on several."""
    trees = st.builds(
        Tree.of_shape, st.sampled_from(SHAPES), st.booleans() if replacement is None else st.just(replacement)
    )
    return st.builds(
        Drawn,
        st.just(tree) if tree is not None else trees,
        st.integers(1, 6),
        st.integers(0, 5),
        st.integers(0, 10**6),
        st.booleans(),
    )
