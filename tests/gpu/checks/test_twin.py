"""A network in a wider type and with short lengths: the same numbers as a copy's, without a copy's memory."""
# ruff: noqa: E402

import weakref
from collections import Counter
from copy import deepcopy
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from torch.utils._python_dispatch import TorchDispatchMode

from draftproof.gpu.checks import row_test, twin
from draftproof.gpu.checks.row_test import TREE_DRAFT, compared
from draftproof.gpu.checks.twin import SHORT, computed_in, shortened
from draftproof.gpu.network.models import Model
from tests.gpu.architectures import config, model
from tests.gpu.small import Numbers, network, target

IDS = torch.tensor([[3, 4, 5, 6, 7, 8, 9]])


@pytest.mark.parametrize("name", ["llama", "gpt2", "gemma2", "mixtral", "falcon", "xglm", "bert-decoder"])
@pytest.mark.parametrize(("own", "wide"), [(torch.bfloat16, torch.float32), (torch.float32, torch.float64)])
@torch.inference_mode()
def test_passes_are_those_of_a_converted_copy(name, own, wide):
    of = model(name).network.to(own)
    copy = deepcopy(of).to(wide)
    if copy._can_set_experts_implementation():
        copy.set_experts_implementation("eager")
    with computed_in(of, wide):
        found = of(input_ids=IDS, use_cache=False).logits
    with computed_in(copy, wide):
        expected = copy(input_ids=IDS, use_cache=False).logits
    assert found.dtype == wide
    assert torch.allclose(found, expected, rtol=0, atol=1e-5 if wide == torch.float32 else 1e-6)
    assert of(input_ids=IDS, use_cache=False).logits.dtype == own
    assert torch.get_default_dtype() == torch.float32


class Live(TorchDispatchMode):
    """The most bytes at a time of tensors that are made meanwhile."""

    def __init__(self):
        super().__init__()
        self.now = self.most = 0
        self.held = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        for each in torch.utils._pytree.tree_leaves(made):
            if isinstance(each, torch.Tensor) and each.device.type == "cpu":
                self.hold(each)
        return made

    def hold(self, tensor):
        storage = tensor.untyped_storage()
        at, size = storage.data_ptr(), storage.nbytes()
        self.now += size * (at not in self.held)
        self.held[at] += 1
        self.most = max(self.most, self.now)
        weakref.finalize(tensor, self.free, at, size)

    def free(self, at, size):
        self.held[at] -= 1
        if not self.held[at]:
            del self.held[at]
            self.now -= size


def test_the_row_test_takes_at_most_a_fifth_beside_the_weights(monkeypatch):
    monkeypatch.setattr(twin, "AT_ONCE", 2**16)  # weights converted at once are few among so few, too
    monkeypatch.setattr(row_test, "NEW_TOKENS", 3)
    monkeypatch.setattr(row_test, "LONGEST_PROMPT", 8)
    made = network(640, 8, 0).bfloat16()
    weights = sum(each.nbytes for each in made.parameters())
    with Live() as live:
        found = compared(Model("wide", made, Numbers(), 40, 96), TREE_DRAFT)
    assert found.ok
    assert live.most < 0.2 * weights


def test_a_network_without_long_lengths_is_its_own_twin():
    assert shortened(target().network) is target().network


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("mistral", "sliding_window"),
        ("gpt_neo", "window_size"),
        ("llama4_text", "attention_chunk_size"),
        ("llama4_text", "floor_scale"),
        ("recurrent_gemma", "attention_window_size"),
        ("deepseek_v32", "index_topk"),
        ("modernbert-decoder", "local_attention"),
    ],
)
def test_every_length_is_shortened_and_no_weight_is_copied(name, setting):
    from transformers import AutoModelForCausalLM

    long = AutoModelForCausalLM.from_config(config(name, **{setting: 4000}))
    short = shortened(long)
    assert getattr(long.config, setting) == 4000
    assert getattr(short.config, setting) == SHORT
    theirs = dict(short.named_parameters())
    assert all(theirs[key].data_ptr() == each.data_ptr() for key, each in long.named_parameters())
    assert not any(each.is_meta for each in (*short.parameters(), *short.buffers()))


def test_a_longrope_is_as_long_as_before():
    of = model("phi3-longrope").network
    assert shortened(of).config.rope_parameters["original_max_position_embeddings"] == 32
    assert compared(replace(model("phi3-longrope")), TREE_DRAFT).ok
