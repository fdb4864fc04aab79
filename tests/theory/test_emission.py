"""The emission is gathered stop by stop; here it meets laws that are spelled out word by word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.draft import Node
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.emission import Emission
from draftproof.theory.instance import context_free
from draftproof.theory.law import Law, first_difference, law_of
from draftproof.theory.numbers import ONE, ZERO, exact
from draftproof.theory.rows import scale
from draftproof.theory.table import Table
from draftproof.theory.verifier import ALL
from draftproof.theory.verifiers import VERIFIERS
from tests.checks import emitted, stops
from tests.problems import TOY
from tests.strategies import instances

EVERY = pytest.mark.parametrize("label", ALL)
anything = st.sampled_from(list(VERIFIERS.values()))  # also where it is not made for the draft


def usable(verifier, label):
    return label in verifier.drafts or verifier.name in ("token", "specinfer", "rrs", "traversal", "nss")


@EVERY
@given(data=st.data())
def test_the_law_is_that_of_the_emitted_words(label, data):
    instance = data.draw(instances(label))
    verifier = data.draw(anything.filter(lambda verifier: usable(verifier, label)))
    gathered, law = emission(instance, verifier), emitted(instance, verifier)
    assert gathered.law() == law
    assert law.total == 1
    assert gathered.expected_accepted == sum((len(word) - 1) * mass for word, mass in law.items())


@EVERY
@given(data=st.data())
def test_streamed_distance_is_that_of_the_completed_law(label, data):
    instance = data.draw(instances(label))
    verifier = data.draw(anything.filter(lambda verifier: usable(verifier, label)))
    gathered = emission(instance, verifier)
    length = instance.draft.depth + 1
    got = emitted(instance, verifier).complete(instance.target, length)
    want = law_of(instance.target, length)
    assert gathered.total_variation == got.total_variation(want)
    assert gathered.wrong_prefix() == first_difference(got, want)


@given(instances("chain"), st.sampled_from(["block", "hsd-released", "typical"]))
def test_stops_that_are_added_one_by_one_make_the_law(instance, name):
    gathered, words = Emission(instance.target), []
    for weight, _, node, row in stops(instance, VERIFIERS[name]):
        gathered.add(weight, node, row)
        words += [((*node.prefix, x), weight * mass) for x, mass in enumerate(row)]
    length = instance.draft.depth + 1
    got = Law(words).complete(instance.target, length)
    want = law_of(instance.target, length)
    assert gathered.total_variation == got.total_variation(want)
    assert gathered.wrong_prefix() == first_difference(got, want)
    assert gathered.law() == Law(words)


def test_the_toy_tells_right_from_wrong():
    right, wrong = emission(TOY, VERIFIERS["block"]), emission(TOY, VERIFIERS["hsd-released"])
    assert (right.total_variation, right.wrong_prefix()) == (0, None)
    assert wrong.total_variation == exact("1/9")
    assert wrong.wrong_prefix() == ((1, 0), exact("1/3"), exact("2/9"))


def test_a_stop_on_the_target_row_is_one_number():
    gathered = Emission(TOY.target)
    root, leaf = next(
        (draft.root, node) for _, draft, node, _ in stops(TOY, VERIFIERS["block"]) if node.prefix
    )
    gathered.add(exact("1/4"), root, TOY.target[()])
    gathered.add(exact("1/4"), root, TOY.target[()])
    gathered.add(exact("1/2"), leaf, (ZERO, ONE))
    assert gathered.bonus == {(): exact("1/2")}
    assert gathered.residual == {leaf.prefix: scale(exact("1/2"), (ZERO, ONE))}
    assert gathered.stopped == {0: exact("1/2"), len(leaf.prefix): exact("1/2")}


def test_an_equal_row_that_is_not_the_targets_own_makes_the_same_law():
    own, copy = Emission(TOY.target), Emission(TOY.target)
    for weight, _, node, row in stops(TOY, VERIFIERS["hsd-released"]):
        own.add(weight, node, row)
        copy.add(weight, node, row[:1] + row[1:])
    assert own.law() == copy.law()
    assert own.total_variation == copy.total_variation
    assert own.wrong_prefix() == copy.wrong_prefix()
    assert not copy.bonus


def test_of_wrong_prefixes_one_is_named_that_rounding_does_not_explain():
    """Token 0 comes out with 51/100 for 1/2, and 0 0 with 153/400 for 1/4; the total variation is 53/400."""
    even = Table.exact(2, {(): ["1/2", "1/2"]})
    gathered = Emission(even)
    gathered.add(exact("51/100"), Node((0,), even[()]), (exact("3/4"), exact("1/4")))
    gathered.add(exact("49/100"), Node((1,), even[()]), even[(1,)])
    assert gathered.total_variation == exact("53/400")
    assert gathered.words == len(gathered.law()) == 4
    first = (0,), exact("51/100"), exact("1/2")
    assert gathered.wrong_prefix() == gathered.wrong_prefix(exact("1/1000")) == first
    assert gathered.wrong_prefix(exact("1/10")) == ((0, 0), exact("153/400"), exact("1/4"))
    assert gathered.wrong_prefix(exact("53/400")) is gathered.wrong_prefix(ONE) is None
    gathered.add(ZERO, Node((), even[()]), (ONE, ZERO))
    assert gathered.words == 6


def test_with_slack_the_witness_is_the_first_prefix_that_is_off_by_more_than_half_of_it():
    """(0,) is off by 1/24, (1,) by 1/12, the block by 9/64."""
    instance = context_free(["1/8", "2/8", "5/8"], ["1/6", "1/3", "1/2"], Chain(2))
    gathered = emission(instance, VERIFIERS["typical"])
    assert gathered.total_variation == exact("9/64")
    witnesses = [gathered.wrong_prefix(exact(slack)) for slack in ("0", "1/16", "1/12", "1/8", "9/64")]
    assert [each and each[0] for each in witnesses] == [(0,), (0,), (1,), (1,), None]
