"""Token-level rules on trees: nss, one-hot, sampling-match, specinfer, rrs, naive-tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.draft import Node
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix, excess, normalise
from draftproof.theory.verifier import ALL
from draftproof.theory.verifiers import named
from tests.checks import along, assert_same_law, children, drafts, joint, mean_accepted, words
from tests.problems import LOPSIDED
from tests.strategies import instances

NSS, ONE_HOT, RRS, SPECINFER = map(named, ("nss", "one-hot", "rrs", "specinfer"))
EVERY = pytest.mark.parametrize("label", ALL)


@EVERY
@given(data=st.data())
def test_nss_accepts_as_many_as_the_target_draws_of_what_was_drafted(label, data):
    instance = data.draw(instances(label))
    mean = ZERO
    for weight, draft in drafts(instance.draft, instance.proposal):
        reached = below(draft.root)
        mean += weight * sum((joint(p for p, _ in along(instance, word)) for word in reached), ZERO)
    assert mean_accepted(instance, NSS) == mean


def below(node: Node) -> list[Prefix]:
    """The drafted words below a node, of equal siblings those of the first copy only."""
    firsts = {child.token: child for child in reversed(node.children)}.values()
    return [word for child in firsts for word in (child.prefix, *below(child))]


@EVERY
@given(data=st.data())
def test_the_one_hot_rule_is_nss(label, data):
    assert_same_law(data.draw(instances(label)), ONE_HOT, NSS)


@given(instances("chain"))
def test_sampling_match_is_nss_on_a_chain(instance):
    assert_same_law(instance, named("sampling-match"), NSS)
    agree = (joint(p * q for p, q in pairs) for pairs in words(instance))
    assert mean_accepted(instance, NSS) == sum(agree, ZERO)


@given(instances(Tree(((), (), ()), replacement=True)))
def test_specinfer_rejects_each_child_by_what_is_left_of_the_target(instance):
    """At depth one E[tau] = 1 - prod_j (1 - sum min(p_j, q)), p_{j+1} = norm((p_j - q)+)."""
    p, q, missed = instance.target[()], instance.proposal[()], ONE
    for _ in range(3):
        missed *= 1 - sum(map(min, p, q), ZERO)
        p = normalise(excess(p, q))
    assert mean_accepted(instance, SPECINFER) == 1 - missed


@given(instances(Tree(((), (), ()))), st.sampled_from([RRS, NSS]))
def test_another_sibling_never_hurts(instance, verifier):
    fewer = Instance(instance.target, instance.proposal, Tree(((), ())))
    assert mean_accepted(fewer, verifier) <= mean_accepted(instance, verifier)


@pytest.mark.parametrize("replacement", [False, True])
@given(data=st.data())
def test_naive_tree_never_accepts_less_than_token_verification_of_its_first_path(replacement, data):
    instance = data.draw(instances(Tree(LOPSIDED, replacement)))
    first = Instance(instance.target, instance.proposal, Chain(2))
    assert mean_accepted(instance, named("naive-tree")) >= mean_accepted(first, named("token"))


@given(instances(Tree(((), (), ()))))
def test_a_correction_of_naive_tree_may_land_on_another_child(instance):
    """At depth one E[tau] = E[accept(x1) + (1 - accept(x1)) sum norm((p - q)+) of the drafted]."""
    p, q = instance.target[()], instance.proposal[()]
    residual, mean = normalise(excess(p, q)), ZERO
    for weight, draft in drafts(instance.draft, instance.proposal):
        first, *_ = tokens = children(draft)
        kept = min(ONE, p[first] / q[first])
        mean += weight * (kept + (1 - kept) * sum((residual[x] for x in tokens), ZERO))
    assert mean_accepted(instance, named("naive-tree")) == mean


@given(instances(TopK(((), (), ())), vocab=3, zeros=False))
def test_with_every_token_drafted_the_target_meets_one(instance):
    assert mean_accepted(instance, NSS) == mean_accepted(instance, ONE_HOT) == 1
