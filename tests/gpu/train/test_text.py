"""The text of a training run: where it comes from, what is kept apart, and how it becomes tokens."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from hypothesis import given
from hypothesis import strategies as st

from draftproof.gpu.train import data
from draftproof.gpu.train.data import byte_pairs, documents, encoded, kept_apart
from draftproof.theory.errors import BadInput


@pytest.fixture
def python(tmp_path, monkeypatch):
    """A pretended Python: ten sources of its own, and packages beside them, one text in both."""
    own, packages = tmp_path / "lib", tmp_path / "lib" / "site-packages"
    (packages / "numbers").mkdir(parents=True)
    for k in range(10):
        (own / f"own{k}.py").write_text(f"own = {k}  #" + "x" * 100_000, encoding="utf-8")
        (packages / "numbers" / f"theirs{k}.py").write_text(f"theirs = {k}  #" + "y" * 100_000)
    (packages / "copied.py").write_text((own / "own3.py").read_text())
    (packages / "numbers" / "data.txt").write_text("no source")
    (own / "notes.txt").write_text("no source")
    monkeypatch.setattr(data, "standard_library", lambda: own)
    monkeypatch.setattr(data, "installed", lambda: [packages, tmp_path / "missing"])


def test_packages_are_read_where_the_standard_library_is_less_than_asked(python):
    assert all(text.startswith("own") for text in documents(None, 1))
    texts = documents(None, 2)
    kinds = [text.split(" ")[0] for text in texts]
    assert kinds == ["theirs"] * kinds.count("theirs") + ["own"] * 10
    assert sum(map(len, texts)) == 2_000_000
    assert len(set(documents(None, 100))) == 20
    assert documents(None, 100)[-10:] == texts[-10:]


def test_a_folder_of_ones_own_is_all_there_is(tmp_path):
    (tmp_path / "a.txt").write_text("word " * 4000)
    assert documents(tmp_path, 100) == ["word " * 4000]
    with pytest.raises(BadInput, match="too little text"):
        documents(tmp_path / ".." / tmp_path.name, 0)


@given(st.lists(st.integers(1, 200), min_size=1, max_size=30))
def test_whole_texts_are_kept_apart_if_they_can_be(sizes):
    texts = [f"{k:04}" + "x" * size * 100 for k, size in enumerate(sizes)]
    known, unseen = kept_apart(texts)
    assert "".join(known + unseen) == "".join(texts)
    share = sum(map(len, unseen)) / sum(map(len, texts))
    assert 0.019 <= share <= 0.2
    assert unseen[1:] == texts[len(texts) - len(unseen) + 1 :]
    assert sum(map(len, unseen[1:])) < 0.02 * sum(map(len, texts))
    if unseen[0] not in texts:
        assert share <= 0.021


def test_long_texts_are_cut_before_they_become_tokens_and_come_back(monkeypatch):
    texts = ["def f(x):\n    return x\n" * 50, "é\N{SNOWMAN}", "x" * 30, "y" * 10]
    tokenizer = byte_pairs(texts, 300)
    whole = encoded(texts, tokenizer)
    monkeypatch.setattr(data, "PIECE", 10)
    ids = encoded(texts, tokenizer)
    for each in (whole, ids):
        assert tokenizer.decode(each) == "<|endoftext|>".join([*texts, ""])
    assert len(ids) > len(whole)
    assert len(byte_pairs(texts, 280)) == 280


def test_the_end_of_a_long_text_or_whole_short_ones_are_held_out():
    assert kept_apart(["a" * 90, "b" * 8, "c", "d"])[1] == ["c", "d"]
    assert [len(text) for texts in kept_apart(["a" * 100]) for text in texts] == [98, 2]
