"""The row test finds what is read wrongly: architectures, and edits of the engine's own source."""
# ruff: noqa: E402

import inspect
from copy import deepcopy
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from transformers import AutoModelForCausalLM, GenerationConfig

from draftproof.gpu.checks import row_test
from draftproof.gpu.checks.row_test import CHAIN_DRAFT, TREE_DRAFT, compared, trusted
from draftproof.gpu.network import reader, whole
from draftproof.gpu.network.models import Model
from draftproof.gpu.sampling import tree as draft
from draftproof.theory.errors import BadInput
from tests.gpu import architectures as zoo
from tests.gpu.edits import edit
from tests.gpu.small import Numbers, target
from tests.gpu.zoo import greedy

TREES_ARE_WRONG = "gpt_neo", "rwkv", "moshi"
"""Each gives another model's rows in silence, without an error."""


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", TREES_ARE_WRONG)
@pytest.mark.sampled(3)
def test_silent_faults_are_found_and_only_chains_are_allowed(name):
    model = zoo.model(name)
    found = compared(model, TREE_DRAFT)
    assert found.failure is None
    assert found.difference > 1000 * found.tolerance
    chains = row_test.checked(model)
    assert chains.only_chains
    assert chains.why == str(found)
    assert f"{found.difference:.1e}" in chains.why


@pytest.mark.parametrize("name", ["mpt", "trocr", "xglm"])
def test_what_counts_on_one_length_of_all_rows_reads_chains(name):
    chains = row_test.checked(zoo.model(name))
    assert chains.only_chains
    assert chains.why.startswith("with tree:2x2 a pass fails: ")


def test_longrope_is_found_beyond_the_length_of_its_first_training():
    model = zoo.model("phi3-longrope")
    assert model.context == 32
    assert row_test.checked(model).only_chains is False
    found = compared(replace(model, context=zoo.CONTEXT), TREE_DRAFT)
    assert found.failure is None
    assert found.difference > 1000 * found.tolerance


def test_what_is_not_causal_is_refused_in_one_line_with_the_difference():
    with pytest.raises(
        BadInput, match=r"^bert: BertLMHeadModel is not decoded.* up to \d\.\de\+00 away"
    ) as raised:
        row_test.checked(zoo.model("bert"))
    assert "\n" not in str(raised.value)


def test_networks_narrower_than_float32_are_tested_in_float32():
    model = target()
    wide = compared(model, TREE_DRAFT)
    narrow = compared(replace(model, network=deepcopy(model.network).bfloat16()), TREE_DRAFT)
    assert wide.ok
    assert narrow.ok
    assert narrow.tolerance < 10 * wide.tolerance


def test_the_largest_difference_of_a_right_network_is_far_below_the_tolerance():
    for model in (target(), zoo.model("gemma3_text")):
        found = compared(model, TREE_DRAFT)
        assert 0 < found.difference < found.tolerance / 16
        assert found.rows > 100


LONG = {
    "moshi": {"sliding_window": 3000},
    "gpt_neo": {"window_size": 300},
    "llama4_text": {"attention_chunk_size": 8192, "floor_scale": 8192},
}
"""Networks whose slots give other rows beyond these lengths only."""


def long(name, **more):
    made = AutoModelForCausalLM.from_config(zoo.config(name, **LONG.get(name, {}) | more))
    made.generation_config = GenerationConfig()
    return Model(name, made.eval().requires_grad_(False), Numbers(), zoo.VOCAB, zoo.CONTEXT)


@pytest.mark.parametrize("name", LONG)
@pytest.mark.sampled(3)
def test_long_lengths_are_crossed_and_kept(name):
    made = long(name)
    assert row_test.checked(made).only_chains
    for setting, length in LONG[name].items():
        assert getattr(made.network.config, setting) == length


def test_a_temperature_by_place_is_that_of_each_row():
    """Llama 4's attention reads places from the cache's length; here it changes at each second token."""
    made = long("llama4_text", floor_scale=2, attn_scale=1.0)
    right = row_test.checked(made)
    assert right.only_chains
    assert all(each.ok for each in greedy(right).values())


def test_lengths_that_a_network_asks_for_and_rows_do_not_share_are_refused():
    made = target().reader(2, 16)
    made.prefill([[3, 4], [5]], input_ids=torch.tensor([[3, 4], [5, 0]]))
    assert made.cache.get_seq_length().tolist() == [[2], [1]]
    for asked in (made.cache.get_max_length, lambda: made.cache.get_mask_sizes(1, 0)):
        with pytest.raises(BadInput, match="one length of all rows"):
            asked()


def test_without_the_test_layers_that_keep_a_state_are_refused_by_name():
    assert trusted(target()) is target()
    with pytest.raises(
        BadInput, match="layers of type conv cannot take back rejected tokens; leave out --no"
    ):
        trusted(zoo.model("lfm2"))


SLOTS = [
    (
        "reader",
        "positions = (self.lengths[:, None] + levels)",
        "positions = (self.lengths[:, None] + levels + 1)",
    ),
    ("reader", "positions, visible = at, (", "positions, visible = at + 1, ("),
    ("reader", "<= at[..., None])[:, None]", "< at[..., None])[:, None]"),
    ("reader", "<= at[..., None])[:, None]", "<= at[..., None] + 1)[:, None]"),
    ("reader", "torch.arange(offset, offset + size,", "torch.arange(offset + 1, offset + size + 1,"),
    (
        "reader",
        "to = self.lengths[:, None] + self.places[:, : places.shape[1]]",
        "to = self.lengths[:, None] + self.places[:, : places.shape[1]] + 1",
    ),
    (
        "reader",
        "layer.move(self.lengths[:, None] + places, to)",
        "layer.move(self.lengths[:, None] + places + 1, to)",
    ),
    ("reader", "layer.move(self.lengths[:, None] + places, to)", "pass"),
    ("reader", "each[:count] = each[index]", "pass"),
    ("reader", "for each in (self.lengths, *positions, *layers)", "for each in (self.lengths, *positions)"),
    ("reader", "        self.lengths += read", "        self.lengths += read - 1"),
    (
        "draft",
        "torch.arange(1, width + 1, device=starts.device)",
        "torch.arange(width, device=starts.device)",
    ),
    (
        "draft",
        "torch.arange(1, width + 1, device=starts.device)",
        "torch.arange(2, width + 2, device=starts.device)",
    ),
]
WINDOWS = [
    ("reader", "query - key < window", "query - key <= window"),
    ("reader", "query - key < window", "query - key < window - 1"),
    (
        "reader",
        "torch.where(own < self.lengths[:, None], own,",
        "torch.where(own < self.lengths[:, None], own + 1,",
    ),
]
CHUNKS = [
    ("reader", "query // chunk == key // chunk", "query // chunk <= key // chunk + 1"),
    ("reader", "self.positions[self.slots.rows, at] = positions", "pass"),
]
LENGTHS = [
    ("reader", "return self.slots.lengths[:, None]", "return self.slots.seen"),
    ("reader", "return self.slots.lengths[:, None]", "return int(self.slots.lengths.max())"),
    ("reader", "return self.slots.lengths[:, None]", "return int(self.slots.lengths.max()) + 1"),
    ("reader", "return self.slots.lengths[:, None]", "return 0"),
]
"""Each is one number for all rows, from which Llama 4 makes a temperature."""
WHOLE = [
    ("whole", "text[length + offset :] = part", "text[length + offset :] = part[::-1]"),
    ("whole", "text[length + offset :] = part", "text += part"),
    ("whole", "given = torch.tensor([text or [0]]", "given = torch.tensor([text[1:] or [0]]"),
    ("whole", "length + more for length, more", "length + more - 1 for length, more"),
    ("whole", "states.shape[1] - size :]", "states.shape[1] - size - 1 : -1]"),
]
MUTANTS = [
    *[("llama", TREE_DRAFT, *each) for each in SLOTS],
    *[("mistral", TREE_DRAFT, *each) for each in WINDOWS],
    *[("llama4_text-cold", TREE_DRAFT, *each) for each in CHUNKS],
    *[("bloom", CHAIN_DRAFT, *each) for each in WHOLE],
]
MODULES = {"reader": reader, "whole": whole, "draft": draft}


def test_every_edit_is_one_of_the_present_source():
    for _, _, where, old, _ in MUTANTS:
        assert inspect.getsource(MODULES[where]).count(old) == 1, old


@pytest.mark.parametrize(("where", "old", "new"), [*WINDOWS, *LENGTHS])
@pytest.mark.sampled(3)
def test_edits_of_long_windows_and_of_lengths_that_are_asked_for_are_found(where, old, new, monkeypatch):
    model = long("llama4_text") if (where, old, new) in LENGTHS else long("mistral", sliding_window=4096)
    edit(MODULES[where], old, new, monkeypatch)
    assert not compared(model, TREE_DRAFT).ok


@pytest.mark.parametrize(("name", "shape", "where", "old", "new"), MUTANTS)
@pytest.mark.sampled(6)
def test_edits_of_the_engine_are_found(name, shape, where, old, new, monkeypatch):
    model = zoo.model(name)
    model = replace(model, why="no slots") if shape == CHAIN_DRAFT else model
    assert compared(model, shape).ok
    edit(MODULES[where], old, new, monkeypatch)
    assert not compared(model, shape).ok


def test_memory_that_runs_out_names_the_option_that_leaves_the_test_out(monkeypatch):
    def full(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 8 GiB")

    monkeypatch.setattr(row_test, "compared", full)
    with pytest.raises(BadInput, match="out of memory; --no-row-test leaves out the test that needed it"):
        row_test._fit(target(), True)
