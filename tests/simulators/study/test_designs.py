"""Acceptance of a node over large vocabularies is that of the exact engine on small ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.study import designs
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, exact
from draftproof.theory.rows import excess, normalise, total
from draftproof.theory.shared.strata import inclusion, strata
from draftproof.theory.table import Table
from draftproof.theory.transport.single_step import alpha, inclusion_bound
from draftproof.theory.verifiers import named
from draftproof.theory.verifiers.shared.priority import included, plan, token_by_token
from tests.strategies import rows

V = 6
COUNTS = 1, 2, 3, 5
NO_RNG = np.random.default_rng(0)
pairs = st.tuples(rows(V), rows(V))


def floats(row):
    return np.array(row, dtype=float)


def found(form, pair):
    return form(floats(pair[0]), floats(pair[1]), COUNTS, NO_RNG)


def exactly(pair, scheme, name):
    p, q = pair
    instance = Instance(Table(V, {(): p}), Table(V, {(): q}), scheme)
    return float(emission(instance, named(name)).expected_accepted)


def rejected_in_turn(pair, count):
    """Recursive rejection of i.i.d. siblings by its recursion, in rationals."""
    (p, q), refused = pair, ONE
    for _ in range(count):
        left = excess(p, q)
        p, refused = normalise(left) if total(left) > 0 else p, refused * total(left)
    return float(1 - refused)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_recursive_rejection_is_what_the_verifier_accepts(count):
    pair = tuple(tuple(exact(part) / 12 for part in row) for row in ((1, 4, 2, 0, 5, 0), (3, 3, 0, 1, 1, 4)))
    assert rejected_in_turn(pair, count) == exactly(pair, Tree(every(count, 1), True), "specinfer")


@given(pairs)
def test_closed_forms(pair):
    p, q = pair
    trees = [every(k, 1) for k in COUNTS]
    wanted = {
        designs.specinfer: [rejected_in_turn(pair, k) for k in COUNTS],
        designs.top: [exactly(pair, TopK(shape), "nss") for shape in trees],
        designs.greedy: [exactly(pair, Greedy(shape), "hu-greedy") for shape in trees],
        designs.alpha: [float(alpha(p, q, k, True)[0]) for k in COUNTS],
        designs.bound: [float(inclusion_bound(p, included(strata(q, k)))) for k in COUNTS],
    }
    for form, values in wanted.items():
        assert found(form, pair) == pytest.approx(values, abs=1e-9), form


def in_classes(p, laws):
    """1 - what the exact plan leaves, in the classes that floats give."""
    pi = included(laws)
    drafted = [x for x in range(V) if pi[x] > 0]
    kinds = designs.classes(floats(p)[drafted], floats(pi)[drafted])
    tokens = [
        [x for x, kind in zip(drafted, kinds, strict=True) if kind == c] for c in range(designs.CLASSES)
    ]
    return float(1 - total(plan(p, laws, tokens).left))


@given(pairs)
def test_the_priority_rule_in_classes(pair):
    p, q = pair
    assert found(designs.priority, pair) == pytest.approx([in_classes(p, (q,) * k) for k in COUNTS], abs=1e-9)
    cut = [in_classes(p, strata(q, k)) for k in COUNTS]
    assert found(designs.stratified, pair) == pytest.approx(cut, abs=1e-9)


@given(pairs)
def test_strata_are_the_exact_ones(pair):
    _, q = pair
    for k in COUNTS:
        exactly = strata(q, k)
        assert inclusion(floats(q), k) == pytest.approx(floats(included(exactly)), abs=1e-12)
        assert np.array(strata(floats(q), k)) == pytest.approx(np.array(exactly, dtype=float), abs=1e-12)


def test_classes_lose_little_and_ignoring_the_order_loses_much(monkeypatch):
    rng = np.random.default_rng(1)
    a, b = rng.normal(0, 2, (2, 500))
    p, q = np.exp(a) / np.exp(a).sum(), np.exp(0.5 * a + b) / np.exp(0.5 * a + b).sum()
    in_four = designs.priority(p, q, (4,), NO_RNG)[0]
    laws = (tuple(q),) * 4
    token_form = 1 - total(token_by_token(tuple(p), laws).left)
    assert token_form - 0.002 < in_four <= designs.alpha(p, q, (4,), NO_RNG)[0]
    monkeypatch.setattr(designs, "classes", lambda t, pi: np.zeros(len(t), dtype=int))
    assert designs.priority(p, q, (4,), NO_RNG)[0] < in_four - 0.01


@given(pairs, st.integers(0, 5))
def test_one_sibling_without_replacement_is_exact(pair, seed):
    p, q = pair
    first = designs.rrs(floats(p), floats(q), COUNTS, np.random.default_rng(seed))
    assert first[0] == pytest.approx(float(sum(map(min, p, q))), abs=1e-9)
    assert first == sorted(first)


def test_recursive_rejection_without_replacement_is_estimated_without_bias():
    p, q = (np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.4, 0.3, 0.2, 0.1]))
    means = [
        float(
            emission(
                Instance(
                    Table.exact(4, {(): ["0.1", "0.2", "0.3", "0.4"]}),
                    Table.exact(4, {(): ["0.4", "0.3", "0.2", "0.1"]}),
                    Tree(every(k, 1)),
                ),
                named("rrs"),
            ).expected_accepted
        )
        for k in (1, 2, 3)
    ]
    rng = np.random.default_rng(0)
    drawn = np.array([designs.rrs(p, q, (1, 2, 3), rng) for _ in range(4000)])
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert np.all(np.abs(drawn.mean(axis=0) - means) <= 5 * error + 1e-9)


def test_tokens_too_small_for_the_running_sum_do_no_harm():
    q = np.array([0.5, 0.5 - 1e-18, *[1e-30] * 50])
    p = np.roll(q, 1)
    for column in designs.COLUMNS:
        values = column.accepted(p, q / q.sum(), designs.SIBLINGS, np.random.default_rng(0))
        assert all(0 <= value <= 1 + 1e-9 for value in values), column
