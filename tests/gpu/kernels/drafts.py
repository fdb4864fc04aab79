"""Logits, drafts that were really drawn from them, and what it means that two verifiers agree."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from draftproof.gpu.kernels import verify
from draftproof.gpu.sampling import rows
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import Batch, Outcome, named
from tests.gpu.logits import probabilities
from tests.gpu.logits import rows as law

PAIR = [[[], []], [[]]]
TREE = [[[], [[]]], [[], []], []]
CASES = (
    ("token", Tree.chain(3)),
    ("block", Tree.chain(3)),
    ("rrs", Tree.of_shape(PAIR)),
    ("rrs", Tree.of_shape(TREE)),
    ("specinfer", Tree.paths(3, 2)),
    ("traversal", Tree.of_shape(TREE)),
    ("traversal", Tree.paths(3, 2)),
    ("traversal", Tree.chain(4)),
    ("one-hot", Tree.of_shape(TREE)),
    ("nss", Tree.of_shape(TREE)),
)
NAMED = [f"{name}-{tree.size}{'-with' if tree.replacement else ''}" for name, tree in CASES]
NEAR = {"coins": 2e-5, "extra": 2e-6}
"""How far uniforms are moved to see whether a threshold is near; float32 sums are off by less."""


@dataclass(frozen=True)
class Draft(Batch):
    """A batch of logits."""

    def run(self, name: str, **settings) -> Outcome:
        """The kernels."""
        outcome = verify(name, self, **settings)
        return Outcome(outcome.node.cpu(), outcome.token.cpu(), outcome.error.cpu())

    def plain(self, name: str, **settings) -> Outcome:
        """Plain torch in float64, on the CPU."""
        on_host = {key: each.cpu() if isinstance(each, Tensor) else each for key, each in settings.items()}
        made = rows.settings(**on_host)
        return named(name).verify(self.to("cpu").map_rows(lambda logits: law(made, logits).double()))


def draft(tree: Tree, B: int, V: int, seed: int = 0, spread: float = 2.0, apart: float = 0.7) -> Draft:
    """Normal logits, the proposal's `apart` from the target's; tokens sampled as the tree says."""
    random = torch.Generator().manual_seed(seed)
    inner = torch.tensor(tree.inner, dtype=torch.long)
    target = spread * torch.randn(B, tree.size, V, generator=random)
    proposal = target[:, inner] + apart * torch.randn(B, len(inner), V, generator=random)
    uniforms = torch.rand(B, tree.size, generator=random)
    tokens = drawn(tree, probabilities(proposal), random)
    return Draft(tree, target, proposal, tokens, uniforms[:, 1:], uniforms[:, 0])


def drawn(tree: Tree, proposal: Tensor, random: torch.Generator) -> Tensor:
    """Tokens [B, N-1] sampled from the proposal's rows; -1 where nothing is left to draw."""
    parents, rows = tree.parents[0].tolist(), tree.rows[0].tolist()
    law = {f: proposal[:, rows[f]].clone() for f in set(parents[1:])}
    tokens = torch.full((len(proposal), tree.size - 1), -1)
    for v in range(1, tree.size):
        row = law[parents[v]]
        left = row.sum(-1) > 0
        x = torch.multinomial(torch.where(left[:, None], row, 1.0), 1, generator=random)
        tokens[:, v - 1] = torch.where(left, x[:, 0], -1)
        if not tree.replacement:
            row.scatter_(1, x, 0.0)
    return tokens


def both_sides(one: Draft, name: str, **settings) -> Draft:
    """One draft again and again, its coins on each side of every threshold: a row a node and side. What else
    is asked before that node says no, and yes above it going down.
    """
    tree, verifier = one.tree, named(name)
    N = tree.size
    accept = verifier.rates(one.map_rows(lambda logits: probabilities(logits, **settings).double())).accept[0]
    coins = torch.full((2 * (N - 1), N - 1), 1 - 2**-24)
    for v in range(1, N):
        above = tree.parents[0, v]
        while above > 0 and not verifier.upwards:
            coins[2 * v - 2 : 2 * v, above - 1] = 0.0
            above = tree.parents[0, above]
        coins[2 * v - 2, v - 1] = accept[v] * (1 - 1e-3)
        coins[2 * v - 1, v - 1] = (accept[v] * (1 + 1e-3)).clamp(max=1 - 2**-24)
    return replace(one.take(torch.zeros(len(coins), dtype=torch.long)), coins=coins)


def assert_agree(case: Draft, name: str, at_least: float = 0.6, **settings) -> None:
    """Same node, token and error as plain torch in float64, for every row whose uniforms stand clear of all
    thresholds; these must be most rows.
    """
    got, want = case.run(name, **settings), case.plain(name, **settings)
    clear = torch.ones_like(want.node, dtype=torch.bool)
    for sign in (-1, 1):
        uniforms = {key: (getattr(case, key) + sign * by).clamp(0, 1) for key, by in NEAR.items()}
        moved = replace(case, **uniforms).plain(name, **settings)
        clear &= (moved.node == want.node) & (moved.token == want.token)
    assert clear.float().mean() >= at_least
    assert torch.equal(got.error, want.error)
    assert ((got.token >= 0) & (got.token < case.target.shape[-1]))[got.error == 0].all()
    assert torch.equal(got.node[clear], want.node[clear])
    assert torch.equal(got.token[clear], want.token[clear])
