from hypothesis import given

from draftproof.theory.numbers import ZERO, exact
from draftproof.theory.verifiers import named
from tests.checks import assert_same_law, joint, mean_accepted, words
from tests.problems import TOY
from tests.strategies import instances

TOKEN = named("token")


@given(instances("chain"))
def test_each_token_is_accepted_with_the_mass_that_p_and_q_share(instance):
    shared = (joint(min(p, q) for p, q in pairs) for pairs in words(instance))
    assert mean_accepted(instance, TOKEN) == sum(shared, ZERO)


def test_on_the_toy_ten_ninths_are_accepted():
    assert mean_accepted(TOY, TOKEN) == exact("10/9")


@given(instances("chain"))
def test_rules_for_trees_are_token_verification_on_a_chain(instance):
    for name in ("rrs", "specinfer", "naive-tree", "k-seq"):
        assert_same_law(instance, named(name), TOKEN)
