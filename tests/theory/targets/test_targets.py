"""Declared targets: the rows that rules follow, by hand, and the rules on any verifier."""

import pickle
import re
import sys
from functools import partial
from math import sqrt
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios, scenario
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.verdicts.against import judge_against
from draftproof.simulators.user_code import named
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import exact
from draftproof.theory.targets import TARGETS, declared
from draftproof.theory.targets.cactus import root
from draftproof.theory.targets.declared import follow
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS
from tests.checks import assert_one_line
from tests.strategies import rows

KEYS = set(
    re.findall(r"^@\w+\{([^,\s]+),", (Path(__file__).parents[3] / "references.bib").read_text(), re.MULTILINE)
)
EVERY = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
LAWS = [target for target in TARGETS.values() if target.row is not None]


def row(text):
    return tuple(map(exact, text.split()))


P, Q = row("1/2 3/8 1/8"), row("1/8 3/8 1/2")
BY_HAND = {
    "interpolation": "13/32 3/8 7/32",  # 3/4 p + 1/4 q
    "diverse": "17/64 3/8 23/64",  # TV = 3/8
    "cascade-opt": "1/8 3/8 1/2",  # max q = max p: left to the drafter
    "green": "12731/25740 12911/34320 13303/102960",  # the mean over eight lists
    "cascade-token": "7/16 35/64 1/64",  # tokens with p >= 3/8: q there, 1/2 spread by p
}


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_row_by_hand(law):
    found = law.row(P, Q, law.parameter)
    if law.name == "cascade-token":
        assert found == tuple(
            (q if p >= exact("3/8") else 0) + exact("1/2") * p for p, q in zip(P, Q, strict=True)
        )
    else:
        assert found == row(BY_HAND[law.name])
    assert set(BY_HAND) == {law.name for law in LAWS}


@pytest.mark.parametrize("law", LAWS, ids=str)
@given(p=rows(3), q=rows(3))
def test_a_declared_law_is_a_law(law, p, q):
    found = law.row(p, q, law.parameter)
    assert sum(found, fmpq(0)) == 1
    assert min(found) >= 0


def test_a_cascade_defers_where_the_target_is_surer():
    law = declared("cascade-opt:1/4")
    assert law.row(row("9/10 1/10"), row("1/2 1/2"), law.parameter) == row("9/10 1/10")
    assert law.row(row("6/10 4/10"), row("1/2 1/2"), law.parameter) == row("6/10 4/10")  # 1/2 < 6/10 - 1/40
    assert law.row(row("6/10 4/10"), row("6/10 4/10"), law.parameter) == row("6/10 4/10")


VERIFIED = [
    each for each in VERIFIERS.values() if each.lossless and each.carry is None and "chain" in each.drafts
]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_any_lossless_verifier_follows_the_law_when_it_is_shown_its_rows(law):
    for inner in VERIFIED:
        verify = partial(follow, law, verify=inner.verify)
        shown = Verifier(f"{inner.name} towards {law}", "ours", ("chain",), False, verify)
        for instance in Randoms(Chain(2), 3, 3):
            assert judge_against(instance, shown, law).lossless, inner.name


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_trees_with_leaves_at_one_depth_too(law):
    for inner, draft in ((named("rrs"), Tree(((), ()))), (named("traversal"), Tree((((),), ((),))))):
        verify = partial(follow, law, verify=inner.verify)
        shown = Verifier("tree", "ours", inner.drafts, False, verify)
        for instance in Randoms(draft, 3, 3):
            assert judge_against(instance, shown, law).lossless


# What one token of a rule without a law follows, worked out in another way.


def one_token(rule, p, q):
    emitted = emission(context_free(p, q, Chain(1)), rule).law()
    return tuple(emitted.marginal(1)[(x,)] for x in range(len(p)))


def mixed(p, q, kept, rest):
    """The law of X ~ q, emitted with probability kept(x), else a token of the row rest(x)."""
    found = [fmpq(0)] * len(p)
    for x, mass in enumerate(q):
        if mass:
            found[x] += mass * kept(x)
            if kept(x) < 1:
                for y, part in enumerate(rest(x)):
                    found[y] += mass * (1 - kept(x)) * part
    return tuple(found)


def normalised(weights):
    return [weight / sum(weights, fmpq(0)) for weight in weights]


def off(p, x):
    return normalised([fmpq(0) if y == x else mass for y, mass in enumerate(p)])


@given(rows(3), rows(3))
def test_cactus(p, q):
    delta = fmpq(1, 20)
    h = [min(a + root(2 * delta * a * (1 - a)), fmpq(1)) for a in p]

    def rest(x):
        raised = [h[x] if y == x else a * (1 - h[x]) / (1 - p[x]) for y, a in enumerate(p)]
        return normalised([max(a - b, fmpq(0)) for a, b in zip(raised, q, strict=True)])

    wanted = mixed(p, q, lambda x: min(h[x] / q[x], fmpq(1)), rest)
    assert one_token(named("cactus"), p, q) == wanted


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_the_square_root_is_rounded_down(top, bottom):
    number = fmpq(top, bottom)
    found = root(number)
    assert found * found <= number < (found + fmpq(1, 2**32)) ** 2
    assert abs(float(found) - sqrt(top / bottom)) < 1e-6


@pytest.mark.parametrize("strict", ["interpolation:0", "cactus:0"])
def test_a_strict_parameter_is_lossless(strict):
    rule = named(strict)
    assert all(judge_against(each, rule, declared("target")).lossless for each in Scenarios(Chain(2), 3))


@EVERY
def test_it_is_declared_as_verifiers_are(target):
    source, place = target.source.split(", ", 1)
    assert source in KEYS
    assert place
    module = (target.verify or target.row).__module__
    assert "\n>>> " in (sys.modules[module].__doc__ or "")
    assert (target.verify or target.row).__doc__
    assert not target.rule.lossless
    assert pickle.loads(pickle.dumps(target.rule)).name == str(target)
    assert target.rule.drafts[0] == "chain"
    assert pickle.loads(pickle.dumps(target)) == target


@EVERY
def test_a_rule_that_does_not_order_tokens_does_not_depend_on_their_order(target):
    from tests.checks import emitted, relabelled, rename

    if not target.ordered:
        for instance in Randoms(Chain(2), 3, 4):
            for s in ((1, 2, 0), (2, 1, 0)):
                moved = emitted(instance, target.rule).map(lambda word, s=s: rename(word, s))
                assert emitted(relabelled(instance, s), target.rule) == moved


@pytest.mark.parametrize(
    ("spelling", "part"),
    [
        ("nothing", "there are target, cactus"),
        ("interpolation:2", "from 0 to 1, not '2'"),
        ("interpolation:-1/2", "from 0 to 1"),
        ("cactus:-1", "from 0 up"),
        ("interpolation:", "is not a number"),
        ("interpolation:x", "is not a number"),
        ("diverse:1/2", "has no parameter"),
        ("target:1", "has no parameter"),
    ],
)
def test_bad_spellings(spelling, part):
    with pytest.raises(BadInput) as caught:
        declared(spelling)
    assert_one_line(caught.value, part)


def test_an_unknown_rule_is_refused_with_the_names_like_it_or_with_all():
    with pytest.raises(BadInput, match=r"no verifier is named 'blok'; did you mean block"):
        named("blok")
    with pytest.raises(BadInput, match=r"no verifier is named 'none'; there are block, .*, interpolation"):
        named("none")


def test_a_rule_lossless_for_p_is_not_lossless_for_another_law():
    assert not judge_against(scenario("toy", Chain(2)), named("token"), declared("interpolation")).lossless
