"""`draftproof gpu bench` with the pair that ships. No time is asserted."""

import json
from functools import partial

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

SHIPPED = ("--device", "cpu", "--model", "shipped")
FEW = (*SHIPPED, "--count", 1, "--max-new-tokens", 10, "--temperature", 1)


@pytest.fixture
def command(run):
    """Runs `draftproof gpu bench ...`."""
    return partial(run, "bench")


def test_every_cell_has_prediction_and_measurement(command):
    few = ("--draft", "chain:3", "--draft", "tree:2x2", "--repeats", 2, "--count", 3)
    verifiers = [part for name in ("token", "block", "rrs", "traversal") for part in ("--verifier", name)]
    status, out, err = command(*FEW, *few, *verifiers, "--json")
    answer = json.loads(out)
    assert (status, err) == (0, "")
    assert answer["ok"]
    assert answer["complete"]
    cells = {(cell["draft"], cell["method"]): cell for cell in answer["cells"]}
    assert set(cells) == {
        ("", "plain"),
        ("", "transformers plain"),
        ("chain:3", "transformers assisted"),
        *(("chain:3", name) for name in ("token", "block", "rrs", "traversal")),
        *(("tree:2x2", name) for name in ("rrs", "traversal")),
    }
    for cell in cells.values():
        assert len(cell["tokens_per_second_by_repeat"]) == 2
        if "steps" in cell:
            low, high = cell["interval"]
            assert low <= cell["mean_acceptance_length"] <= high
            assert cell["predicted_per_position"] == sorted(cell["predicted_per_position"], reverse=True)
            assert sum(cell["phases"].values()) == pytest.approx(1)
            assert sum(cell["acceptance_rate_per_position"]) == pytest.approx(
                cell["mean_acceptance_length"] - 1
            )
    chain, tree = cells["chain:3", "block"], cells["tree:2x2", "traversal"]
    assert chain["over_assisted"]["low"] <= chain["over_assisted"]["value"] <= chain["over_assisted"]["high"]
    assert chain["mean_acceptance_length"] == cells["chain:3", "traversal"]["mean_acceptance_length"]
    assert chain["bounds"]["stateless"] <= chain["bounds"]["full_information"] + 1e-9
    assert tree["bounds"] == {"stateless": None, "full_information": None}
    assert tree["over_assisted"] is None
    assert cells["", "plain"]["over_plain"]["value"] == 1


def test_a_cell_that_does_not_agree_is_said_and_is_status_1(command, monkeypatch):
    from draftproof.gpu.checks.models import acceptance

    monkeypatch.setattr(acceptance, "level_law", lambda tree, stops: stops * 0 + stops.new_tensor([0, 0, 1]))
    few = ("--draft", "chain:2", "--verifier", "token", "--repeats", 2, "--temperature", 1)
    status, out, _ = command(*FEW[:-2], *few, "--max-new-tokens", 24)
    assert status == 1
    assert "agree in 0 of 1 cells" in out
    assert "E[tau]: measured" in out


@pytest.mark.parametrize(("given", "expected"), [({}, {0.2, 1.0}), ({"draft_temperature": 1}, {1.0})])
def test_the_drafters_temperature_is_the_cells_unless_one_is_given(
    command, toml, monkeypatch, given, expected
):
    from draftproof.gpu.engine import setup

    right, seen = setup.generate, set()

    def noted(*pair, draft_sampling, **options):
        seen.add(draft_sampling.temperature)
        return right(*pair, draft_sampling=draft_sampling, **options)

    monkeypatch.setattr(setup, "generate", noted)
    few = ("--draft", "chain:2", "--verifier", "token", "--repeats", 1, "--temperature", 0.2, *toml(**given))
    status, _, _ = command(*FEW, *few)
    assert status == 0
    assert seen == expected


def test_one_repeat_has_no_interval(command):
    few = ("--draft", "chain:2", "--verifier", "token", "--verifier", "block", "--repeats", 1)
    status, out, _ = command(*FEW, *few)
    assert status == 0
    assert "inf]" not in out


def test_ctrl_c_keeps_what_was_measured(command, monkeypatch):
    from draftproof.gpu.bench import models

    once, seen = models.Bench._once, []

    def interrupted(self, *given):
        seen.append(1)
        if len(seen) > 7:
            raise KeyboardInterrupt
        return once(self, *given)

    monkeypatch.setattr(models.Bench, "_once", interrupted)
    status, out, err = command(*FEW, "--draft", "chain:2", "--verifier", "token", "--repeats", 3)
    assert status == 130
    assert err.startswith("interrupted")
    assert "tokens/s" in out


def test_batches_with_selection_rules(command, toml):
    few = ("--draft", "chain:3", "--verifier", "block", "--repeats", 1, "--batch", 4)
    rules = toml(budget=4, selection=["tetris-repaired", "tetris"], top_k=40)
    status, out, err = command(*SHIPPED, "--max-new-tokens", 8, "--temperature", 1, *few, *rules, "--json")
    answer = json.loads(out)
    assert (status, err) == (0, "")
    cells = {cell["method"]: cell for cell in answer["cells"]}
    assert list(cells) == ["plain", "block", "block tetris-repaired", "block tetris"]
    assert answer["plan"]["batches"] == [4]
    assert cells["plain"]["tokens_per_call"] == 4
    assert cells["plain"]["verified_per_call"] == 0
    assert cells["block"]["verified_per_call"] > 4
    for name, cell in cells.items():
        assert cell["problems"] == []
        if cell["selection"]:
            assert (
                0
                < cell["verified_per_call"]
                <= 4
                < cell["tokens_per_call"]
                < cells["block"]["tokens_per_call"]
            )
            assert (cell["bounds"]["stateless"] is None) == (name == "block tetris")
    status, out, _ = command(*SHIPPED, "--max-new-tokens", 4, "--temperature", 1, *few, *rules)
    assert status == 0
    assert "verified: drafted tokens of a batch in a call of the target" in out


def test_batches_and_questions(command, tmp_path):
    file = tmp_path / "question.jsonl"
    file.write_text(
        '{"category": "coding", "turns": ["import os", "def main():"]}\n'
        '{"category": "writing", "turns": ["class "]}\nfor i in range(\nimport re\n'
    )
    few = ("--draft", "chain:2", "--verifier", "token", "--verifier", "block", "--repeats", 2)
    asked = ("--prompts", file, "--batch", 1, "--batch", 4, "--max-new-tokens", 8, "--temperature", 1)
    status, out, err = command(*SHIPPED, *few, *asked, "--json")
    answer = json.loads(out)
    assert (status, err) == (0, "")
    cells = {(cell["method"], cell["batch"]): cell for cell in answer["cells"]}
    assert [*cells] == [
        ("plain", 1),
        ("transformers plain", 1),
        ("transformers assisted", 1),
        *(("token", 1), ("block", 1), ("plain", 4), ("token", 4), ("block", 4)),
    ]
    for (method, batch), cell in cells.items():
        if method.startswith("transformers"):
            assert cell["tokens_per_call"] is cell["verified_per_call"] is None
        elif batch == 4:
            assert cell["over_faster_plain"] == cell["over_plain"]
        else:
            ratios = [cell[name] for name in ("over_plain", "over_transformers_plain")]
            assert cell["over_faster_plain"] in ratios
            assert cell["tokens_per_call"] == pytest.approx(cell.get("mean_acceptance_length", 1), abs=0.5)
    status, out, _ = command(*SHIPPED, *few[:4], *asked, "--batch", 4, "--repeats", 1)
    assert status == 0
    for said in ("token x4", "faster plain"):
        assert said in out


def test_processors_in_every_method(command, toml):
    few = ("--draft", "chain:2", "--verifier", "block", "--repeats", 1)
    name = "transformers:InfNanRemoveLogitsProcessor"
    asked = toml(logits_processor=[name], min_p=0.05)
    status, out, err = command(*FEW, *few, *asked, "--json")
    assert (status, err) == (0, "")
    assert len(json.loads(out)["cells"]) == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "shipped", "--batch", "9", "--count", "8"], "there are only 8 prompts"),
        (["--model", "shipped", "--draft", "chain"], "not a structure"),
        (["--model", "./nowhere"], "no such folder"),
        (["--model", "shipped", "--drafter", "none"], "plain decoding is always measured too"),
        (["--settings", "nowhere.toml"], "no such file"),
        (["--model", "shipped", "--prompts", "nowhere.txt"], "no such file"),
    ],
)
def test_bad_input_is_one_line_and_status_2(command, arguments, said):
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_tokenizer_that_differs_is_bad_input(command, tmp_path):
    from shutil import copytree

    from draftproof.gpu.drafters.choose import SHIPPED

    other = tmp_path / "other"
    copytree(SHIPPED / "drafter", other)
    said = json.loads((other / "tokenizer.json").read_text(encoding="utf-8"))
    vocab = said["model"]["vocab"]
    vocab["a"], vocab["b"] = vocab["b"], vocab["a"]
    (other / "tokenizer.json").write_text(json.dumps(said), encoding="utf-8")
    status, out, err = command(*FEW, "--drafter", other)
    assert (status, out) == (2, "")
    assert "share the target's tokenizer" in err
