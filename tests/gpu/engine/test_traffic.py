"""How many rows a step moves outside the models, counted; where kernels verify, by verification alone."""
# ruff: noqa: E402

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from torch.utils._python_dispatch import _disable_current_modes

from draftproof.gpu import kernels
from draftproof.gpu.drafters import structures
from draftproof.gpu.drafters.drafter import ModelDrafter
from draftproof.gpu.drafters.structures import Sampled, structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.network.models import Model
from draftproof.gpu.sampling import rows
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import named
from tests.gpu.parameters import processors
from tests.gpu.small import CONTEXT, PROMPTS, Numbers, network
from tests.gpu.traffic import Traffic, counting_kernels

V = 4096
MOST = {
    ("token", "chain:4", Sampling()): 70,
    ("block", "chain:4", Sampling()): 102,
    ("block", "chain:4", Sampling(top_k=20)): 145,
}
"""Reads and writes of a float32 row in a step; the kernels would read nine rows and draw from four."""


def moved(verifier, spelling, sampling, vocab=V, tokens=30, drafting=None):
    """(rows moved a step, names of the operations)."""
    networks = [network(32, 1, 0, vocab) for _ in range(2)]
    target, drafter = (Model("model", each, Numbers(), vocab, CONTEXT) for each in networks)
    traffic = Traffic(vocab // 2, *networks)
    steps = generate(
        target, ModelDrafter(drafter), PROMPTS[:1], verifier=named(verifier), structure=structure(spelling),
        sampling=sampling, draft_sampling=drafting, max_new_tokens=tokens, ignore_end=True,
    )  # fmt: skip
    next(steps)  # it reads the prompt
    traffic.bytes = 0
    traffic.operations.clear()
    with traffic, counting_kernels(traffic):
        count = sum(1 for _ in steps)
    return traffic.bytes / count / vocab / 4, traffic.operations


def in_order(row, u):
    """Draws as they once were made, from float64 sums by a comparison of the whole row."""
    ids, reach = torch.arange(row.shape[-1]), row.double().cumsum(-1)
    past = reach > u * reach[..., -1:]
    return torch.where(row > 0, torch.where(past, 2 * row.shape[-1] - ids, ids), -1).argmax(-1, keepdim=True)


@pytest.mark.parametrize("way", MOST, ids=str)
def test_a_step_moves_few_rows(way, monkeypatch):
    assert moved(*way)[0] <= MOST[way]
    monkeypatch.setattr(structures, "draws", in_order)
    assert moved(*way)[0] > MOST[way]


@pytest.fixture
def by_kernels(monkeypatch):
    pytest.importorskip("triton", reason="the kernels need Triton")
    from draftproof.gpu.kernels import grid

    grow = Sampled.grow

    def uncounted(self, *given):
        with _disable_current_modes():
            return grow(self, *given)

    monkeypatch.setattr(Sampled, "grow", uncounted)
    monkeypatch.setattr(kernels, "compiled_for", lambda device: True)
    monkeypatch.setattr(grid, "processors", lambda device: 132)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")
@pytest.mark.parametrize(
    ("verifier", "spelling", "heat"),
    [("token", "chain:4", 1.0), ("block", "chain:4", 1.0), ("traversal", "tree:2x2", 0.7),
     ("traversal", "paths:3x2", 1.0)],
)  # fmt: skip
def test_with_kernels_a_step_moves_at_most_half_more_than_it_must(
    verifier, spelling, heat, by_kernels, monkeypatch
):
    """It must read each row of both models once."""
    tree = structure(spelling).tree
    floor = len(tree.inner) + tree.size
    way = verifier, spelling, Sampling(temperature=heat), 4 * V, 12
    assert floor <= moved(*way)[0] <= 1.5 * floor
    monkeypatch.setattr(kernels, "compiled_for", lambda device: False)
    assert moved(*way)[0] > 1.5 * floor


@pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")
def test_filters_do_not_change_that_soon(by_kernels):
    assert 9 <= moved("block", "chain:4", Sampling(top_k=5), 4 * V, 7)[0] <= 1.5 * 9


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")
@pytest.mark.parametrize(
    ("verifier", "spelling", "settings"),
    [
        ("block", "chain:4", {"top_k": 20}),
        ("traversal", "tree:2x2", {"top_k": 50, "top_p": 0.9}),
        ("token", "chain:4", {"top_p": 0.95, "temperature": 0.3}),
        ("rrs", "tree:3x1", {"min_p": 0.1}),
        ("traversal", "paths:3x2", {"temperature": 0.0}),
    ],
    ids=str,
)
def test_filters_do_not_change_that(verifier, spelling, settings, by_kernels):
    """Each row is read once, and again only in spans that are kept; no filtered target row is written."""
    tree = structure(spelling).tree
    floor = len(tree.inner) + tree.size
    if spelling == "paths:3x2":
        floor = 2 + 3  # at T = 0 its paths are one, and rows that are not drawn are not read
    way = verifier, spelling, Sampling(**settings), 16 * V, 7
    assert floor <= moved(*way)[0] <= 1.5 * floor


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")
def test_a_top_p_that_keeps_most_tokens_moves_more(by_kernels):
    """Rows are nearly flat: the search passes over them several times."""
    assert 1.5 * 9 < moved("block", "chain:4", Sampling(top_p=0.9), 16 * V, 7)[0] <= 4.8 * 9


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")
@pytest.mark.parametrize(
    ("setting", "most"),
    [
        ({"logit_bias": {3: -1.0}}, 17),
        ({"bad_words_ids": [[5]]}, 20),
        ({"repetition_penalty": 1.2}, 14),
        ({"frequency_penalty": 0.3}, 17.5),
    ],
    ids=str,
)
def test_processors_in_plain_torch_move_more(setting, most, by_kernels):
    sampling = Sampling(processors=processors(**setting))
    assert 1.5 * 9 < moved("block", "chain:4", sampling, 4 * V, 7, sampling)[0] <= most * 9


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")
def test_wide_spans_or_written_rows_move_more(by_kernels, monkeypatch):
    from draftproof.gpu.kernels import grid

    way = "block", "chain:4", Sampling(top_k=20), 16 * V, 7
    with monkeypatch.context() as patch:
        patch.setattr(grid, "SIZES", replace(grid.SIZES, span=512))
        assert moved(*way)[0] > 1.5 * 9
    monkeypatch.setattr(kernels, "verify", filtered_first(kernels.verify))
    assert moved(*way)[0] > 1.5 * 9


def filtered_first(verify):
    """As it once was: verification reads filtered rows that were written."""
    from draftproof.gpu.kernels.filtering import filtered

    def verified(name, batch, temperature, draft_heat, **filters):
        sampling = Sampling(temperature, **filters)
        batch = replace(batch, target=filtered(sampling, batch.target))
        return verify(name, batch, temperature=sampling.heat, draft_heat=draft_heat)

    return verified


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")
def test_nor_does_a_temperature_of_the_draft(by_kernels):
    drafting = Sampling(temperature=0.8, top_k=20)
    assert moved("block", "chain:4", Sampling(top_k=20), 16 * V, 7, drafting)[0] <= 1.5 * 9


@pytest.mark.parametrize("settings", [{"top_k": 20}, {"top_p": 0.9}, {"top_k": 20, "top_p": 0.9}])
def test_few_tokens_of_a_peaked_row_are_put_in_order(settings, monkeypatch):
    """Of a flat row top-p takes most tokens, and orders them."""
    asked, topk = [], torch.Tensor.topk
    monkeypatch.setattr(torch.Tensor, "topk", lambda row, k, dim: asked.append(k) or topk(row, k, dim))
    logits = 4 * torch.randn(3, V, generator=torch.Generator().manual_seed(0))
    with Traffic(V) as traffic:
        rows.Sampling(**settings).filtered(logits)
    assert max(asked) < V / 4
    assert not {"sort", "argsort"} & {*traffic.operations}
    monkeypatch.setattr(rows, "FIRST", V)
    rows.Sampling(top_p=0.9).filtered(logits)
    assert max(asked) == V
