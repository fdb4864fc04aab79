from itertools import combinations

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.support.make import prefixes
from draftproof.theory.errors import BadInput
from draftproof.theory.law import Law, first_difference, law_of
from draftproof.theory.numbers import ONE, ZERO, exact
from tests.checks import joint
from tests.strategies import tables

LENGTH = 3
words = st.sampled_from([word for word in prefixes(2, LENGTH) if word])
weights = st.dictionaries(words, st.integers(1, 9), min_size=1, max_size=6)
laws = weights.map(lambda mass: Law({word: fmpq(w, sum(mass.values())) for word, w in mass.items()}))
full_laws = laws.map(lambda law: law.map(lambda word: (word * LENGTH)[:LENGTH]))
targets = tables(2, LENGTH)


@given(laws)
def test_a_law_is_its_words_and_their_masses(law):
    assert Law(dict(law)) == law
    assert Law(reversed([*law.items()])) == law
    assert hash(Law(dict(law))) == hash(law)
    assert list(law) == sorted(law)
    assert law.total == sum(law.values(), ZERO) == 1
    assert all(law[word] > 0 and word in law for word in law)


@given(laws)
def test_masses_of_the_same_word_add_up(law):
    halves = [(word, mass / 2) for word, mass in law.items()]
    assert Law(halves + halves) == law


@given(laws, laws)
def test_equality_is_exact(a, b):
    assert (a == b) == all(a[word] == b[word] for word in prefixes(2, LENGTH))
    (word, mass), *rest = a.items()
    nudge = exact("1e-300")
    assert Law([(word, mass - nudge), *rest]) != a


def test_words_without_mass_are_not_kept():
    law = Law({(0,): ONE, (1,): ZERO})
    assert law == Law({(0,): ONE})
    assert len(law) == 1
    assert (1,) not in law
    assert law[(1,)] == 0


@pytest.mark.parametrize("mass", [1.0, 1, True, "1/2", None])
def test_masses_that_are_not_exact_are_refused(mass):
    with pytest.raises(TypeError, match="not an exact rational"):
        Law({(0,): mass})


def test_negative_masses_are_refused():
    with pytest.raises(BadInput, match=r"mass of \(0,\) is negative: -1/3"):
        Law([((1,), exact("4/3")), ((0,), exact("-1/3"))])


def test_laws_do_not_change():
    law = Law({(0,): ONE})
    with pytest.raises(TypeError):
        law[(0,)] = ZERO


@given(laws, laws, laws)
def test_total_variation_is_a_metric(a, b, c):
    assert (a.total_variation(b) == 0) == (a == b)
    assert a.total_variation(b) == b.total_variation(a)
    assert a.total_variation(c) <= a.total_variation(b) + b.total_variation(c)
    assert a.total_variation(b) <= 1


@given(laws, laws)
def test_total_variation_is_the_largest_difference_on_an_event(a, b):
    support = sorted(a.keys() | b.keys())
    events = (event for size in range(len(support) + 1) for event in combinations(support, size))
    largest = max(sum((a[word] - b[word] for word in event), ZERO) for event in events)
    assert a.total_variation(b) == largest


@given(laws, laws)
def test_mapping_never_increases_total_variation(a, b):
    assert a.marginal(1).total_variation(b.marginal(1)) <= a.total_variation(b)


@given(targets, words)
def test_the_target_law_is_the_product_of_its_rows(target, word):
    steps = [target[word[:i]][x] for i, x in enumerate(word)]
    assert law_of(target, len(word))[word] == joint(steps)
    assert law_of(target, len(word)).total == 1


@given(targets, st.integers(0, LENGTH))
def test_a_marginal_of_the_target_is_the_shorter_target(target, length):
    assert law_of(target, LENGTH).marginal(length) == law_of(target, length)


@given(targets, words)
def test_conditioning_the_target_is_starting_later(target, word):
    whole, mass = law_of(target, LENGTH), law_of(target, len(word))[word]
    later = law_of(target, LENGTH - len(word), word)
    assert all(whole[word + rest] == mass * share for rest, share in later.items())


@given(laws, targets)
def test_completing_is_done_by_the_target(law, target):
    full = law.complete(target, LENGTH)
    assert all(len(word) == LENGTH for word in full)
    assert full.total == 1
    left = {word: LENGTH - len(word) for word in law if not any(word)}
    parts = [law[word] * law_of(target, n, word)[(0,) * n] for word, n in left.items()]
    assert full[(0,) * LENGTH] == sum(parts, ZERO)


@given(laws, targets, st.integers(0, LENGTH))
def test_completing_in_two_steps_is_completing(law, target, halfway):
    assert law.complete(target, halfway).complete(target, LENGTH) == law.complete(target, LENGTH)


@given(laws, targets)
def test_completing_keeps_the_marginal_that_was_there(law, target):
    shortest = min(map(len, law))
    assert law.complete(target, LENGTH).marginal(shortest) == law.marginal(shortest)


@given(targets, st.integers(0, LENGTH))
def test_a_stopped_target_completes_to_the_target(target, length):
    assert law_of(target, length).complete(target, LENGTH) == law_of(target, LENGTH)


@given(full_laws, full_laws)
def test_the_first_difference_is_the_shortest_prefix(a, b):
    found = first_difference(a, b)
    assert (found is None) == (a == b)
    if found is None:
        return
    prefix, got, want = found
    assert got == a.marginal(len(prefix))[prefix] != b.marginal(len(prefix))[prefix] == want
    assert a.marginal(len(prefix) - 1) == b.marginal(len(prefix) - 1)
    earlier = [word for word in prefixes(2, LENGTH) if len(word) == len(prefix) and word < prefix]
    assert all(a.marginal(len(prefix))[word] == b.marginal(len(prefix))[word] for word in earlier)
