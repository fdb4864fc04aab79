"""Tokens have no order: calling them otherwise calls the law otherwise, and nothing else changes."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.verifiers import VERIFIERS
from tests.checks import assert_lossless, bracketed, drawn, emitted, relabelled, rename
from tests.strategies import instances

LABELS = pytest.mark.parametrize(
    "label", ["chain", "tree with replacement", "tree without replacement", "paths"]
)
orders = st.sampled_from(list(permutations(range(3))))


@LABELS
@given(data=st.data(), s=orders)
def test_laws_are_relabelled(label, data, s):
    instance = data.draw(instances(label, vocab=3))
    other = relabelled(instance, s)
    for verifier in VERIFIERS.values():
        if label in verifier.drafts and not verifier.ordered:
            law = emitted(instance, verifier)
            assert emitted(other, verifier) == law.map(lambda word: rename(word, s)), verifier.name


@LABELS
@given(data=st.data(), s=orders)
def test_rules_that_order_tokens_stay_lossless(label, data, s):
    instance = relabelled(data.draw(instances(label, vocab=3)), s)
    for verifier in VERIFIERS.values():
        if label in verifier.drafts and verifier.ordered and verifier.lossless:
            assert_lossless(instance, verifier)


@LABELS
@given(data=st.data(), s=orders)
def test_drafts_are_relabelled(label, data, s):
    instance = data.draw(instances(label, vocab=3))
    law = drawn(instance.draft, instance.proposal, bracketed)
    moved = law.map(lambda word: rename(word, (*s, -1)))  # the closing brackets stay: s[-1] is -1
    assert drawn(instance.draft, relabelled(instance, s).proposal, bracketed) == moved


@given(instances("chain", vocab=3), orders, orders)
def test_relabelling_twice_is_relabelling_once(instance, s, t):
    assert relabelled(relabelled(instance, s), t) == relabelled(instance, rename(s, t))
    assert relabelled(instance, (0, 1, 2)) == instance
