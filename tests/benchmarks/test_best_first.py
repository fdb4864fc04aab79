"""Rows that all texts read together are those that each text reads alone."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import numpy as np

from benchmarks.best_first import NEW, Texts, together
from draftproof.gpu.drafters.choose import SHIPPED
from draftproof.gpu.drafters.recorded_rows import Nodes
from draftproof.gpu.network.models import load
from draftproof.gpu.sampling.rows import Sampling
from draftproof.simulators.study.recorded_trees import DESIGNS

TEXTS = [[5, 6, 7, 8], [300, 20, 9, 11], [40, 41, 42, 43]]
NODES = 9


@pytest.fixture(scope="module")
def models():
    return [load(SHIPPED / name, "cpu") for name in ("target", "drafter")]


def farthest(models, texts):
    """The largest difference between a row that was read with the other texts and one that was read alone."""
    (design,) = (each for each in DESIGNS if (each.tree, each.siblings, each.verifier) == NEW)
    sampling, off = Sampling(0.6), [0.0] * len(TEXTS)

    def work(i, rows):
        design.draw(rows, (), NODES, np.random.default_rng(i))
        alone = Nodes(models[0], models[1], TEXTS[i], sampling)
        for prefix, row in rows.items():
            off[i] = max(
                off[i], abs(alone[prefix] - row).max(), abs(alone.seen[prefix][0] - rows.target[prefix]).max()
            )
        return len(rows)

    read = together(len(TEXTS), work, texts(models, TEXTS, sampling, NODES + 1).answer)
    assert min(read) > 2
    return max(off)


@pytest.mark.slow
def test_rows_read_together_are_those_read_alone(models):
    assert farthest(models, Texts) < 1e-5


@pytest.mark.slow
def test_a_reader_that_mixes_up_paths_is_found_out(models):
    class Mixed(Texts):
        def answer(self, asked):
            super().answer(asked)
            for slots in self.slots:
                slots.update({prefix: path[:-1] for prefix, path in slots.items() if len(prefix) == 1})

    assert farthest(models, Mixed) > 1e-3


def one(i, rows):
    return float(rows[()][0]) / (i - 1)


def ones(asked):
    for *_, given in asked:
        given.set_result((np.zeros(2), np.ones(2)))


@pytest.mark.parametrize("answer", [ones, None], ids=["in one growth", "in reading"])
def test_an_error_is_raised_and_leaves_nobody_waiting(answer):
    with pytest.raises(ZeroDivisionError if answer else TypeError):
        together(3, one, answer)
