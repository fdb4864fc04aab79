"""Every architecture is read as it should be, on chains alone, or refused; greedy texts are its own."""
# ruff: noqa: E402

import re
from functools import partial

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from draftproof.gpu.checks.models.greedy import Reference, compare
from draftproof.gpu.checks.row_test import checked
from draftproof.gpu.drafters.drafter import ModelDrafter
from draftproof.gpu.drafters.eagle3 import FeatureDrafter
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.verify import named
from tests.gpu.architectures import WINDOW, model, names
from tests.gpu.parameters import SETS, processors
from tests.gpu.small import new_head
from tests.gpu.zoo import DRAFTS, PAGE, entry, greedy, near, page, parameters, reference

CHAINS = [draft for draft in DRAFTS if draft.startswith("chain")]


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("name", "reads", "drafts"),
    [
        ("gpt_oss", "trees", DRAFTS),  # a window on every other layer, experts
        ("llama4_text-cold", "trees", DRAFTS),  # attention in chunks
        ("llama4_text", "chains", CHAINS),  # a temperature by place
        ("gemma3n_text", "trees", DRAFTS),  # layers that share keys and values
        ("bloom", "chains", CHAINS),
        ("lfm2", "chains", CHAINS),
        ("mamba", "chains", CHAINS),
    ],
)
@pytest.mark.sampled(4)
def test_a_handful_of_architectures(name, reads, drafts):
    found = entry(name, all_parameters=False)
    assert found.reads == reads
    assert found.texts == 3 * len(drafts)
    assert not found.wrong
    assert bool(found.why) == (reads != "trees")


@pytest.mark.parametrize(("name", "draft"), [("mistral", "tree:2x2"), ("bloom", "chain:3")])
@pytest.mark.sampled(2)
def test_sampling_parameters_on_trees_within_a_window_and_on_chains(name, draft):
    found = parameters(checked(model(name)), [draft])
    assert [*found] == [*SETS, "filters"]
    assert all(ok for _, ok in found.values())
    changed = [name for name, (texts, _) in found.items() if texts]
    assert {"repetition", "presence", "frequency", "bad words", "grammar", "all"} <= {*changed}


def test_an_end_token_can_be_a_bad_word():
    """transformers' own processor of bad words leaves out end tokens."""
    of = model("llama")
    plain = reference(of)
    end = of.network.generation_config.eos_token_id
    assert any(text[-1] == end for text in plain.texts)
    own = Reference(of, plain.prompts, plain.tokens, processors(bad_words_ids=[[end], [end, 3]]))
    assert not any(end in text for text in own.texts)
    decode = partial(
        generate, of, ModelDrafter(near(of)), verifier=named("block"), structure=structure("chain:3")
    )
    assert not compare(own, decode).ties


@pytest.mark.parametrize("name", ["gpt2", "mistral", "qwen2-window", "phi3"])
def test_eager_attention_gives_the_same_texts(name):
    found = greedy(model(name, attn_implementation="eager"))
    assert len(found) == len(DRAFTS)
    assert not any(each.ties for each in found.values())


def test_the_feature_drafter_reads_the_hidden_states_of_chains():
    of = checked(model("lfm2"))
    torch.manual_seed(3)
    drafter = FeatureDrafter(new_head(of), of)
    decode = partial(generate, of, drafter, verifier=named("block"), structure=structure("chain:3"))
    assert of.only_chains
    assert not compare(reference(of), decode).ties


def test_texts_cross_the_window_and_end_at_different_times():
    told = reference(model("mistral"))
    lengths = [(len(prompt), len(text)) for prompt, text in zip(told.prompts, told.texts, strict=True)]
    assert any(prompt < WINDOW < prompt + text - 3 for prompt, text in lengths)
    assert len({text for _, text in lengths}) > 1


def test_the_page_names_every_architecture():
    told = set(re.findall(r"`([\w-]+)`", PAGE.read_text()))
    assert set(names()) <= told
    assert len(names()) >= 60
    assert f"transformers {transformers.__version__}" in PAGE.read_text()


@pytest.mark.slow  # 6 min of one core
def test_the_whole_zoo_is_as_its_page_says():
    entries = [entry(name) for name in names()]
    assert not [each for each in entries if each.wrong]
    assert sum(each.reads != "refused" for each in entries) >= 60
    made, kept = (
        [line.split("up to")[0] for line in text.splitlines() if "transformers" not in line]
        for text in (page(entries), PAGE.read_text())
    )
    assert made == kept
