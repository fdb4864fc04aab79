"""What greedy block verification leaves behind are the modified targets of the exact engine."""
# ruff: noqa: E402

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import VERIFIERS, Drafts, carry
from draftproof.theory.verifiers.shared import modified_target

V, GAMMA = 3, 4


class Rows(dict):
    """A random row for every context, drawn when it is asked for."""

    vocab = V

    def __init__(self, seed):
        super().__init__()
        self.random = np.random.default_rng(seed)

    def __missing__(self, prefix):
        row = self.random.dirichlet(np.ones(V))
        self[prefix] = tuple(float(each) for each in row)
        return self[prefix]

    def __hash__(self):
        return id(self)


def as_tensor(rows, text, drafted, count):
    return torch.tensor([[rows[(*text, *drafted[:i])] for i in range(count)]], dtype=torch.double)


def followed(seed, kept, steps=5):
    """The largest difference of a modified row from the exact one in a few steps, and the number of modified
    rows.
    """
    random = np.random.default_rng(seed)
    p, q = Rows(seed + 100), Rows(seed + 200)
    exact, text, modified, apart = p, (), 0, 0.0
    for _ in range(steps):
        drafted = tuple(int(each) for each in random.integers(0, V, GAMMA))
        tokens = torch.tensor([drafted])
        target, proposal = (as_tensor(rows, text, drafted, GAMMA + 1) for rows in (p, q))
        rows = kept.modified(target, proposal, tokens)
        for i in range(GAMMA + 1):
            want = exact[(*text, *drafted[:i])]
            if sum(want) > 0:  # a context that the modified target reaches
                apart = max(apart, float((rows[0, i] - rows.new_tensor(want)).abs().max()))
                modified += want != p[(*text, *drafted[:i])]
        tau = int(random.integers(0, GAMMA))
        w = float(VERIFIERS["block"].rates(Drafts(Tree.chain(GAMMA), rows, proposal, tokens)).cut[0, tau])
        tau = tau if (rows[0, tau] / proposal[0, tau]).max() > w else 0  # what a stop there can emit
        extra = int((rows[0, tau] / proposal[0, tau]).argmax())
        kept.emit(rows, proposal, tokens, torch.tensor([tau]), torch.tensor([extra]))
        exact = modified_target.Modified(exact, q, len(text), len(text) + GAMMA)
        text = (*text, *drafted[:tau], extra)
    return apart, modified


@pytest.mark.parametrize("seed", range(8))
def test_rows_are_those_of_the_exact_engine_over_stacked_stops(seed):
    apart, modified = followed(seed, carry.Carry())
    assert apart < 1e-9
    assert modified


class Early(carry.Carry):
    """The row one token before the block's end."""

    def changed(self, rows, proposal, P, Q, left):
        return super().changed(rows, proposal, P, Q, left - 1)


class Alone(carry.Carry):
    """Older layers are forgotten."""

    def emit(self, *given):
        super().emit(*given)
        self.layers = self.layers[-1:]


@pytest.mark.parametrize("broken", [Early, Alone])
def test_a_layer_at_the_wrong_place_or_forgotten_is_noticed(broken):
    assert max(followed(seed, broken())[0] for seed in range(8)) > 1e-3


def test_a_full_draft_leaves_nothing():
    kept = carry.Carry()
    rows, q = torch.full((1, 3, 2), 0.5), torch.full((1, 2, 2), 0.5)
    kept.emit(rows, q, torch.tensor([[0, 1]]), torch.tensor([2]), torch.tensor([0]))
    assert kept.layers == []
    assert torch.equal(kept.modified(rows, q, torch.tensor([[0, 1]])), rows)
