"""Models whose rows are a table over the last token, so that the exact engine can follow the decoder."""

from itertools import product
from types import SimpleNamespace

import torch
from flint import fmpq
from torch import nn

from draftproof.gpu.drafters.drafter import ModelDrafter
from draftproof.gpu.engine import loop
from draftproof.gpu.network.models import Model
from draftproof.theory.numbers import exact
from draftproof.theory.table import Table
from tests.gpu.small import Numbers

CONTEXT = 64


class Markov(nn.Module):
    """Logits that depend on the last token: the logarithms of its row."""

    def __init__(self, rows):
        super().__init__()
        probabilities = [[float(exact(mass)) for mass in row] for row in rows]
        self.table = nn.Parameter(torch.tensor(probabilities).log(), requires_grad=False)
        self.config = SimpleNamespace(num_hidden_layers=0, _attn_implementation="sdpa")
        self.config.get_text_config = lambda **_: self.config
        self.generation_config = SimpleNamespace(eos_token_id=None)
        self.device, self.dtype = self.table.device, self.table.dtype

    def forward(self, input_ids, **_):
        return SimpleNamespace(logits=self.table[input_ids], hidden_states=None)


def model(rows):
    """The model whose row after token x is rows[x]; tokens beyond a row's length are only prompts."""
    return Model("table", Markov(rows), SimpleNamespace(eos_token_id=None, decode=Numbers().decode),
                 len(rows[0]), CONTEXT)  # fmt: skip


def drafter(rows):
    return ModelDrafter(model(rows))


def table(rows, prompt):
    """The exact rows of a text that begins with the token `prompt`."""
    V = len(rows[0])
    return Table.exact(V, {(): rows[prompt], **{(x,): rows[x] for x in range(V)}})


def grid(*points):
    """Every combination of the middles of so many equal parts of [0, 1), one number of parts per uniform."""
    return list(product(*([(2 * i + 1) / (2 * n) for i in range(n)] for n in points)))


class Given:
    """Noise that is given, in the place of the loop's."""

    def __init__(self, rows):
        self.rows = torch.tensor(rows, dtype=torch.float64)

    def __call__(self, seed, prompts, device):
        assert len(prompts) == len(self.rows)
        return self

    def uniforms(self, count):
        assert self.rows.shape[1] == count
        return self.rows

    def advance(self, counts, read):
        assert counts == read.tolist()

    def keep(self, rows):
        raise AssertionError("one step only")

    def close(self):
        pass


def first_steps(monkeypatch, noise, *given, **options):
    """What each row emits in its first step, for every row of noise."""
    monkeypatch.setattr(loop, "Noise", Given(noise))
    step = next(loop.generate(*given, ignore_end=True, **options))
    return list(map(tuple, step.emitted)), step


def law(words):
    """Word -> the share of it."""
    found: dict = {}
    for word in words:
        found[word] = found.get(word, fmpq(0)) + fmpq(1, len(words))
    return dict(sorted(found.items()))
