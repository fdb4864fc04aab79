"""The command `gpu train`, on a few steps."""

import json
from dataclasses import replace

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.drafters.choose import SHIPPED
from draftproof.gpu.train.recipe import PRESETS, Shape


@pytest.fixture
def train(run):
    """Runs `draftproof gpu train ...` to its end and returns its standard output."""

    def ended(*arguments):
        status, out, _ = run("train", *arguments)
        assert status == 0
        return out

    return ended


def test_what_it_measured_is_told_again_when_all_is_done(train, tmp_path, monkeypatch):
    shape = Shape(16, 1, 2, 1, 24)
    quick = replace(PRESETS["tiny"], vocab=280, context=16, target=shape, drafter=shape, steps=(3, 2, 2, 2))
    monkeypatch.setitem(PRESETS, "tiny", quick)
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.txt").write_text("def f(x):\n    return x\n" * 600)
    asked = [tmp_path / "pair", "--preset", "tiny", "--corpus", tmp_path / "text"]
    first = train(*asked).splitlines()
    text, target, drafter, features, overlap, block, end = first
    assert text.startswith("text: 13,800 characters, ")
    assert text.endswith(" times as many")
    for name, line in (("target", target), ("drafter", drafter)):
        assert line.startswith(f"{name}: ")
        assert "nats a token, " in line
        assert line.endswith(" a character")
    assert features.startswith("features: ")
    assert overlap.startswith("sum min(p, q): drafter 0.")
    assert block.startswith("block: ")
    assert end.endswith(f"draftproof gpu generate --model {tmp_path / 'pair'}")
    assert train(*asked).splitlines()[:-1] == first[:-1]
    said = json.loads(train(*asked, "--json"))
    assert said["seconds"] == 0
    assert said["nats_per_character"].keys() == {"target", "drafter"}


def test_the_pair_that_ships_can_be_asked_about(train):
    assert "3.443 nats a token, 1.266 a character\n" in train(SHIPPED, "--preset", "tiny")
