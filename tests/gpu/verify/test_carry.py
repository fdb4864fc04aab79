"""What greedy block verification leaves behind is the modified target of the exact engine."""
# ruff: noqa: E402

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.verify.chains import Carry
from draftproof.theory.modified_target import Modified

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


@pytest.mark.parametrize("seed", range(8))
def test_rows_are_those_of_the_exact_engine_over_stacked_stops(seed):
    random = np.random.default_rng(seed)
    p, q = Rows(seed + 100), Rows(seed + 200)
    carry, exact, text, modified = Carry(), p, (), 0
    for _ in range(5):
        drafted = tuple(int(each) for each in random.integers(0, V, GAMMA))
        tokens = torch.tensor([drafted])
        target, proposal = as_tensor(p, text, drafted, GAMMA + 1), as_tensor(q, text, drafted, GAMMA)
        rows = carry.modified(target, proposal, tokens)
        for i in range(GAMMA + 1):
            want = exact[(*text, *drafted[:i])]
            if sum(want) > 0:  # a context that the modified target reaches
                assert rows[0, i].tolist() == pytest.approx(list(want), abs=1e-9)
                modified += want != p[(*text, *drafted[:i])]
        tau = int(random.integers(0, GAMMA))
        extra = int((rows[0, tau] / proposal[0, tau]).argmax())
        carry.emit(rows, proposal, tokens, torch.tensor([tau]), torch.tensor([extra]))
        start = len(text)
        if tau + 1 < GAMMA:
            exact = Modified(exact, q, start, start + GAMMA)
        text = (*text, *drafted[:tau], extra)
    assert modified


def test_a_full_draft_leaves_nothing():
    carry = Carry()
    rows, q = torch.full((1, 3, 2), 0.5), torch.full((1, 2, 2), 0.5)
    carry.emit(rows, q, torch.tensor([[0, 1]]), torch.tensor([2]), torch.tensor([0]))
    assert carry.layers == []
    assert torch.equal(carry.modified(rows, q, torch.tensor([[0, 1]])), rows)
