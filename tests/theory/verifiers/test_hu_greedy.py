from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.shape import every
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import ZERO
from draftproof.theory.rows import likeliest, without
from draftproof.theory.verifiers import named
from tests.checks import assert_same_law, mean_accepted
from tests.strategies import instances, rows

HU = named("hu-greedy")


@given(rows(3), rows(3), st.integers(1, 4))
def test_acceptance_is_the_mass_of_the_top_and_what_the_sample_shares(p, q, count):
    """p(T) + sum_{i not in T} min(p_i, q~_i), T the n - 1 likeliest, q~ = norm(q off T)."""
    top = likeliest(q, count - 1)
    beside = without(q, *top)
    off = [min(p[x], beside[x]) for x in range(3) if x not in top]
    accepted = mean_accepted(context_free(p, q, Greedy(every(count, 1))), HU)
    assert accepted == sum((p[x] for x in top), ZERO) + sum(off, ZERO)


@given(instances(Greedy(every(1, 2))))
def test_without_likeliest_tokens_it_is_token_verification(instance):
    assert_same_law(instance, HU, named("naive-tree"))


@given(instances("greedy"))
def test_at_least_what_nss_accepts(instance):
    assert mean_accepted(instance, HU) >= mean_accepted(instance, named("nss"))
