"""Random weights of a given size: each drafted token is accepted as often as was asked, at the full cost."""
# ruff: noqa: E402

import json

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from transformers import LlamaConfig, T5Config

from draftproof.gpu.bench.synthetic import Successors, pair, prompts
from draftproof.gpu.checks.models.acceptance import Acceptance
from draftproof.gpu.drafters.drafter import ModelDrafter
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate, misfit
from draftproof.gpu.verify import named
from draftproof.theory.errors import BadInput

SIZES = {"vocab_size": 50, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 96}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Configurations of a target, of a drafter, and of others."""
    path = tmp_path_factory.mktemp("configurations")
    for name, hidden, layers in (("target", 32, 3), ("drafter", 16, 1)):
        sizes = {"hidden_size": hidden, "intermediate_size": 2 * hidden, "num_hidden_layers": layers}
        LlamaConfig(**SIZES, **sizes).save_pretrained(path / name)
    LlamaConfig(**SIZES | {"vocab_size": 60}, hidden_size=16, num_hidden_layers=1).save_pretrained(
        path / "other"
    )
    T5Config(vocab_size=50, d_model=16).save_pretrained(path / "t5")
    (path / "broken.json").write_text("{")
    return path


def made(folder, acceptance, drafter=None):
    return pair(str(folder / "target" / "config.json"), drafter and str(folder / drafter), acceptance, "cpu")


@pytest.mark.parametrize("drafter", [None, "drafter"])
@pytest.mark.parametrize(("acceptance", "verifier"), [(0.8, "token"), (0.3, "block")])
def test_tau_has_the_law_that_was_asked_for(folder, drafter, acceptance, verifier):
    target, drafts = made(folder, acceptance, drafter)
    shape, found = structure("chain:3"), Acceptance(named(verifier), structure("chain:3"))
    texts = [prompt.ids for prompt in prompts(target, 32, 5)]
    calls = []
    target.network.register_forward_hook(lambda *given: calls.append(1))
    steps = list(
        generate(target, drafts, texts, verifier=named(verifier), structure=shape, max_new_tokens=12, seed=1)
    )
    assert len(calls) == len(steps) + 1  # the prompt
    for step in steps:
        found.add(step)
        assert step.proposal is not None
        assert bool((step.proposal.amax(-1) == 1).all())
        assert torch.allclose(step.target.gather(2, step.tokens[..., None]), torch.tensor(acceptance))
    result = found.result()
    assert result.problems == []
    assert [each.predicted for each in result.positions] == pytest.approx(
        [acceptance**length for length in (1, 2, 3)], rel=1e-4
    )


def test_the_rest_of_a_row_is_the_networks_own(folder):
    torch.manual_seed(0)
    target, _ = made(folder, 0.6)
    torch.manual_seed(0)
    ids = torch.tensor([[3, 49, 7]])
    plain = type(target.network)(target.network.config).eval()(ids).logits.softmax(-1)
    rows = target.network(input_ids=ids).logits.softmax(-1)
    for place, successor in enumerate((4, 0, 8)):
        assert float(rows[0, place, successor]) == pytest.approx(0.6, rel=1e-5)
        others = [x for x in range(50) if x != successor]
        for row in (rows, plain):
            row[0, place] /= row[0, place, others].sum()
        assert torch.allclose(rows[0, place, others], plain[0, place, others], rtol=1e-4)
    last = target.network(input_ids=ids, logits_to_keep=1).logits
    assert float(last.softmax(-1)[0, 0, 8]) == pytest.approx(0.6, rel=1e-5)


def test_drafts_are_chains(folder):
    for drafter, kind in ((None, Successors), ("drafter", ModelDrafter)):
        target, drafts = made(folder, 0.5, drafter)
        assert isinstance(drafts, kind)
        assert "drafts chains" in (misfit(named("rrs"), structure("tree:2x2"), drafts, target) or "")


@pytest.mark.parametrize(
    ("config", "drafter", "acceptance", "said"),
    [
        ("nowhere", None, 0.5, "transformers cannot make this model"),
        ("broken.json", None, 0.5, "transformers cannot make this model"),
        ("t5", None, 0.5, "transformers cannot make this model"),
        ("target", "other", 0.5, "has 60 tokens and"),
        ("target", None, 1.0, "acceptance must be between 0 and 1"),
    ],
)
def test_what_cannot_be_made_is_bad_input(folder, config, drafter, acceptance, said):
    with pytest.raises(BadInput, match=said) as error:
        pair(str(folder / config), drafter and str(folder / drafter), acceptance, "cpu")
    assert "\n" not in str(error.value)


def test_the_command(folder, capsys):
    from draftproof.gpu.commands.bench import COMMAND

    few = ["--device", "cpu", "--verifier", "token", "--repeats", "1", "--max-new-tokens", "8", "--json"]
    both = ["--random", str(folder / "target"), "--drafter", str(folder / "drafter"), "--acceptance", "0.7"]
    batches = ["--batch", "2", "--prompt-tokens", "6", "--count", "4"]
    status = COMMAND.main([*few, *both, *batches], standalone_mode=False)
    answer = json.loads(capsys.readouterr().out)
    assert status == 0
    assert answer["acceptance"] == 0.7
    plain, token = answer["cells"]
    assert (plain["method"], token["method"], token["draft"], token["batch"]) == (
        "plain",
        "token",
        "chain:4",
        2,
    )
    predicted = 1 + sum(0.7**length for length in range(1, 5))
    assert token["predicted_mean_acceptance_length"] == pytest.approx(predicted, rel=1e-4)
