"""Instances from text, against counts made by hand."""

from collections import Counter

import pytest
from flint import fmpq
from hypothesis import assume, given
from hypothesis import strategies as st

from draftproof.simulators.instances.texts import HISTORIES, PROPOSAL_CONTEXT, TARGET_CONTEXT, Texts, corpus
from draftproof.simulators.support.make import prefixes
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from tests.checks import assert_one_line

SENTENCE = "the quick brown fox jumps over the lazy dog and then the dog sleeps\n"
texts = st.text(alphabet="abcd\né", min_size=TARGET_CONTEXT + 1, max_size=60)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("texts") / "some.txt"


def classes(text, vocab):
    """The class of every character: its rank by frequency, ties by code point, modulo V."""
    counted = Counter(text)
    ranked = sorted(counted, key=lambda character: (-counted[character], character))
    return [ranked.index(character) % vocab for character in text]


def smoothed(symbols, context, vocab):
    """(n + 1) / (N + V), counted at every position that has a full target history."""
    followers = Counter(
        symbols[end]
        for end in range(TARGET_CONTEXT, len(symbols))
        if tuple(symbols[end - len(context) : end]) == context
    )
    whole = sum(followers.values()) + vocab
    return tuple(fmpq(followers[x] + 1, whole) for x in range(vocab))


@given(text=texts, vocab=st.integers(2, 3))
def test_rows_are_smoothed_counts(path, text, vocab):
    assume(len(set(text)) >= vocab)
    path.write_text(text, encoding="utf-8", newline="\n")
    family = Texts(corpus(path, vocab), Chain(2))
    symbols = classes(text, vocab)
    for history, instance in zip(family.corpus.histories, family, strict=True):
        for prefix in prefixes(vocab, 2):
            seen = (*history, *prefix)
            assert instance.target[prefix] == smoothed(symbols, seen[-TARGET_CONTEXT:], vocab)
            if len(prefix) < 2:
                assert instance.proposal[prefix] == smoothed(symbols, seen[-PROPOSAL_CONTEXT:], vocab)


@given(text=texts)
def test_histories_are_those_that_occur_commonest_first(path, text):
    assume(len(set(text)) >= 2)
    path.write_text(text, encoding="utf-8", newline="\n")
    symbols = classes(text, 2)
    seen = Counter(tuple(symbols[end - TARGET_CONTEXT : end]) for end in range(TARGET_CONTEXT, len(symbols)))
    found = corpus(path, 2)
    assert list(found.histories) == sorted(seen, key=lambda history: (-seen[history], history))
    assert corpus(path, 2, histories=1).histories == found.histories[:1]


def test_every_row_is_a_law_without_zeros(path):
    path.write_text(SENTENCE * 3, encoding="utf-8")
    family = Texts(corpus(path, 5), Chain(2))
    assert 0 < len(family) <= HISTORIES
    for instance in family:
        for table in (instance.target, instance.proposal):
            assert all(sum(row) == 1 and min(row) > 0 for _, row in table.given())


def test_the_target_looks_further_back_than_the_proposal(path):
    path.write_text(SENTENCE * 3, encoding="utf-8")
    family = Texts(corpus(path, 3), Chain(1))
    after = {}
    for history, instance in zip(family.corpus.histories, family, strict=True):
        after.setdefault(history[-1], set()).add((instance.target[()], instance.proposal[()]))
    assert all(len({q for _, q in pairs}) == 1 for pairs in after.values())
    assert any(len({p for p, _ in pairs}) > 1 for pairs in after.values())


def test_names_tell_the_file_and_the_history(path):
    path.write_text("abababab" * 4, encoding="utf-8")
    family = Texts(corpus(path, 2), Chain(1))
    assert [instance.name for instance in family] == [
        "text some.txt chain depth 1 V=2 after 0 1 0",
        "text some.txt chain depth 1 V=2 after 1 0 1",
    ]


@pytest.mark.parametrize(
    ("content", "vocab", "parts"),
    [
        (b"", 2, ("0 distinct characters",)),
        (b"aaaaaaaa", 2, ("1 distinct characters",)),
        (b"abcabc", 4, ("3 distinct characters", "--vocab")),
        (b"abcabc", 1, ("--vocab must be from 2",)),
        (b"abcabc", -5, ("--vocab must be from 2",)),
        (b"abc", 3, ("too short",)),
        (b"\xff\xfe\x00\x00", 2, ("not a text file",)),
    ],
)
def test_texts_that_will_not_do_are_one_line(path, content, vocab, parts):
    path.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        corpus(path, vocab)
    assert_one_line(caught.value, str(path), *parts)


def test_files_that_cannot_be_read_are_named(path):
    for wrong, fault in (
        (path.parent / "nowhere.txt", "no such file or directory"),
        (path.parent, "is a directory"),
    ):
        with pytest.raises(BadInput) as caught:
            corpus(wrong, 2)
        assert str(caught.value) == f"{wrong}: {fault}"
