"""Training: stages, resuming, and what a finished folder holds."""
# ruff: noqa: E402

import json
from dataclasses import replace
from shutil import copytree, rmtree

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.drafters.block_diffusion import Variant
from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.train import loop, run
from draftproof.gpu.train.data import byte_pairs, documents, encoded
from draftproof.gpu.train.recipe import PRESETS, Shape
from draftproof.gpu.verify import named
from draftproof.theory.errors import BadInput

QUICK = replace(
    PRESETS["tiny"],
    vocab=300,
    context=32,
    target=Shape(32, 2, 4, 2, 48),
    drafter=Shape(16, 1, 2, 1, 24),
    batch=4,
    steps=(16, 8, 6, 5),
)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setitem(PRESETS, "tiny", QUICK)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    for k in range(12):
        (folder / f"{k}.txt").write_text(f"def f{k}(x):\n    return x + {k}\n" * 60, encoding="utf-8")
    (folder / "picture.png").write_bytes(b"\x89PNG\xff\xfe\0")
    return folder


def silent(*_):
    pass


@pytest.fixture(scope="module")
def trained(corpus, tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "pair"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRESETS, "tiny", QUICK)
        return out, run.train(out, "tiny", corpus, 0, silent)


def test_a_finished_folder_decodes_and_says_what_it_is(trained):
    out, answer = trained
    assert {path.name for path in out.iterdir()} >= {
        "target",
        "drafter",
        "features",
        "block",
        "train.json",
        "curve.json",
    }
    assert not (out / "work").exists()
    assert 0 < answer["overlap"]["drafter"] <= 1
    assert len(answer["overlap"]["features"]) == QUICK.rollouts
    tokens, characters = answer["held_out_loss"], answer["nats_per_character"]
    length = tokens["target"] / characters["target"]  # of a token, in characters: the text repeats itself
    assert length == pytest.approx(answer["characters"] / answer["tokens"], rel=0.2)
    assert tokens["drafter"] / characters["drafter"] == pytest.approx(length, rel=0.01)
    assert answer["epochs"] == pytest.approx(16 * 4 * 32 / (0.92 * answer["tokens"]), rel=0.1)
    config = json.loads((out / "target" / "config.json").read_text())
    assert "draftproof" not in json.dumps(config)
    losses = json.loads((out / "curve.json").read_text())
    assert tuple(map(len, losses.values())) == QUICK.steps
    assert losses["target"][-1] < losses["target"][0]
    for name in ("features", "block", None):
        target, drafter = pair(str(out), name, "cpu")
        steps = list(
            generate(
                target,
                drafter,
                [[5]],
                verifier=named("block"),
                structure=structure("chain:2"),
                max_new_tokens=8,
            )
        )
        assert steps[-1].finished[0]


def test_a_folder_of_an_earlier_version_gets_a_block_drafter(trained, corpus, tmp_path):
    out, answer = trained
    old = copytree(out, tmp_path / "pair")
    rmtree(old / "block")
    kept = json.loads((old / "train.json").read_text())
    del kept["block"]
    (old / "train.json").write_text(json.dumps(kept))
    again = run.train(old, "tiny", corpus, 0, silent)
    assert again["overlap"] == answer["overlap"]
    with pytest.raises(BadInput, match="block"):
        run.train(old, "tiny", corpus, 0, silent, Variant(markov=4))


def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(trained, corpus, tmp_path):
    class Stop(Exception):
        pass

    def stop_at(where):
        def advance(stage, done, steps, loss):
            if (stage, done) == where:
                raise Stop

        return advance

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "EVERY", -1.0)  # a checkpoint after every step
        for where in (("target", 7), ("target", 12), ("drafter", 3), ("features", 5), ("block", 3)):
            with pytest.raises(Stop):
                run.train(tmp_path, "tiny", corpus, 0, stop_at(where))
            with pytest.raises(BadInput, match="not finished"):
                pair(str(tmp_path), "none", "cpu") if where[0] == "target" else _unfinished()
        run.train(tmp_path, "tiny", corpus, 0, silent)
    for name in ("target", "drafter", "features", "block"):
        ours, theirs = (folder / name / "model.safetensors" for folder in (tmp_path, trained[0]))
        assert ours.read_bytes() == theirs.read_bytes()


def _unfinished():
    raise BadInput("not finished")


def test_ctrl_c_keeps_the_step_in_hand(corpus, tmp_path):
    import os
    import signal

    def interrupt(stage, done, steps, loss):
        if (stage, done) == ("target", 5):
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run.train(tmp_path, "tiny", corpus, 0, interrupt)
    state = torch.load(tmp_path / "work" / "target.checkpoint", weights_only=True)
    assert len(state["losses"]) in (5, 6)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_folder_of_another_run_is_refused(trained, corpus, tmp_path):
    with pytest.raises(BadInput, match="was started with seed 0, not 1"):
        run.train(trained[0], "tiny", corpus, 1, silent)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match="is not empty"):
        run.train(tmp_path, "tiny", corpus, 0, silent)
    with pytest.raises(BadInput, match="no such folder"):
        run.train(tmp_path / "new", "tiny", tmp_path / "nowhere", 0, silent)
    assert not (tmp_path / "new").exists()
    with pytest.raises(BadInput, match="cannot be written"):
        run.train(tmp_path / "notes.txt" / "pair", "tiny", corpus, 0, silent)


def test_text_comes_back_from_its_tokens_in_an_order_of_names_alone(corpus, tmp_path):
    texts = documents(corpus, 1)
    assert len(texts) == 12
    tokenizer = byte_pairs(texts, 300)
    ids = encoded(texts, tokenizer)
    assert (ids == 0).sum() == len(texts)
    assert tokenizer.decode(ids[: list(ids).index(0)]) == texts[0]
    assert tokenizer.decode(tokenizer.encode("ünïcödé \N{SNOWMAN}")) == "ünïcödé \N{SNOWMAN}"
    (tmp_path / "little.txt").write_text("too little")
    with pytest.raises(BadInput, match="too little text"):
        documents(tmp_path, 1)
