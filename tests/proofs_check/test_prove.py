"""Proofs of one size: what is proved, what is refuted, and what is left."""

from dataclasses import replace
from itertools import pairwise

import pytest
from flint import fmpq

from draftproof.proofs_check.cells.domain import Domain, draw
from draftproof.proofs_check.prove import prove
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.enumerate import outcomes
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.laws.verdicts.against import judge_against
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.law import Law
from draftproof.theory.rows import excess, normalise, scale, share
from draftproof.theory.targets import TARGETS, declared
from draftproof.theory.targets.declared import Declared, follow
from draftproof.theory.verifiers import named
from tests.mutants.rules import ON_A_CURVE, ON_AN_EDGE, wrong_where

PAIR, TWO_LEVELS, FORK, TWO_PATHS = every(2, 1), every(2, 2), (every(2, 1),), (every(1, 1),) * 2

FAST = [
    *[
        (name, vocab, Chain(depth))
        for name in ("token", "block", "hsd")
        for vocab, depth in [(2, 1), (3, 1), (2, 2)]
    ],
    *[("rrs", vocab, Tree(PAIR)) for vocab in (2, 3)],
    *[("specinfer", vocab, Tree(PAIR, True)) for vocab in (2, 3)],
    ("rrs", 2, Tree(TWO_LEVELS)),
    ("specinfer", 2, Tree(TWO_LEVELS, True)),
    ("traversal", 2, Chain(2)),
    ("traversal", 2, Tree(PAIR)),
    ("traversal", 2, Tree(FORK)),
    ("traversal", 2, Tree(TWO_PATHS, True)),
    ("hsd-multidraft", 2, Paths(2, 1)),
    ("hu-greedy", 3, Greedy(PAIR)),
    ("spechub", 2, SpecHub(1)),
    ("multipath-block", 2, Paths(2, 1)),
]

SLOW = [
    *[("token", vocab, Chain(depth)) for vocab, depth in [(4, 1), (3, 2), (2, 3)]],
    ("block", 4, Chain(1)),
    ("traversal", 2, Tree(TWO_PATHS)),
    ("traversal", 2, Paths(2, 2)),
    ("traversal", 3, Tree(PAIR)),
    ("traversal", 3, Tree(PAIR, True)),
    ("greedy-block", 3, Chain(1)),
    ("lifted", 2, Chain(2)),
    ("optimal-transport", 2, Tree(PAIR, True)),
]

LONG = [("block", 2, Chain(3)), ("specinfer", 3, Tree(TWO_LEVELS, True)), ("rrs", 3, Tree(TWO_LEVELS))]


def labelled(cases):
    return [pytest.param(*case, id=f"{case[0]} V={case[1]} {case[2]}") for case in cases]


@pytest.mark.parametrize(("name", "vocab", "scheme"), labelled(FAST))
@pytest.mark.sampled(6)
def test_proved(name, vocab, scheme):
    proof = prove(named(name), scheme, vocab)
    assert proof.verdict == "proved"
    assert not proof.left


@pytest.mark.slow
@pytest.mark.parametrize(("name", "vocab", "scheme"), labelled(SLOW))
def test_proved_at_larger_sizes(name, vocab, scheme):
    assert prove(named(name), scheme, vocab, seconds=900).verdict == "proved"


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("name", "vocab", "scheme"), labelled(LONG))
def test_proved_in_minutes(name, vocab, scheme):
    assert prove(named(name), scheme, vocab, seconds=3600).verdict == "proved"


@pytest.mark.parametrize("name", ["hsd-released", "hsd-multidraft-released"])
def test_refuted_with_a_rational_witness(name):
    proof = prove(named(name), Chain(2), 2)
    assert proof.verdict == "refuted"
    assert proof.counterexample is not None
    assert not judge(proof.counterexample, named(name)).lossless


def test_a_loss_only_where_something_is_zero_is_found():
    """Wrong only when p(0) = 0 exactly: no open cell shows it, the domain with its zeros does."""
    proof = prove(ON_AN_EDGE, Chain(1), 2)
    assert proof.verdict == "refuted"
    assert proof.counterexample is not None
    assert proof.counterexample.target[()][0] == 0


def test_a_loss_only_on_a_curve_is_found():
    """Wrong only where p(0) = q(0)^2, which no grid of one denominator need contain."""
    proof = prove(ON_A_CURVE, Chain(1), 2)
    assert proof.verdict == "refuted"
    assert proof.counterexample is not None
    p, q = proof.counterexample.target[()], proof.counterexample.proposal[()]
    assert p[0] == q[0] ** 2


def test_out_of_time_says_what_is_left():
    proof = prove(named("block"), Chain(2), 2, seconds=0)
    assert (proof.verdict, len(proof.left)) == ("undecided", 4)
    assert proof.why == "out of time with 4 of 4 words left"


@pytest.mark.slow
def test_state_left_behind_pays_for_the_surplus():
    """Greedy block verification is lossless with its modified target, and not without."""
    greedy = named("greedy-block")
    assert prove(greedy, Chain(2), 2).verdict == "proved"
    forgetful = replace(greedy, carry=None)
    proof = prove(forgetful, Chain(2), 2)
    assert proof.verdict == "refuted"
    assert proof.counterexample is not None
    assert not judge(proof.counterexample, forgetful).lossless


def test_an_irrational_point_has_rational_neighbours():
    """Wrong where 2 p^2 > 1, open: a rational witness is found. Wrong where 2 p^2 = 1: there is none."""

    assert prove(wrong_where(lambda p, q: 2 * p[0] * p[0] > 1), Chain(1), 2).verdict == "refuted"
    proof = prove(wrong_where(lambda p, q: 2 * p[0] * p[0] == 1), Chain(1), 2)
    assert proof.verdict == "undecided"
    assert "there is none" in proof.why


@pytest.mark.parametrize("replacement", [False, True])
def test_deferred_subtrees_have_the_same_law(replacement):
    def seen(node):
        return (-2, *(x for child in node.children for x in (child.token, *seen(child))), -1)

    scheme = Tree((((), ()), ((),)), replacement)
    for instance in Randoms(scheme, 3, 4):
        laws = [
            Law((word, weight) for weight, word in outcomes(lambda oracle, how=how: seen(how(oracle).root)))
            for how in (
                lambda oracle, q=instance.proposal: draw(scheme, oracle, q),
                lambda oracle, q=instance.proposal: scheme.draw(oracle, q),
            )
        ]
        assert laws[0] == laws[1]


def test_the_domain_has_free_rows_at_every_prefix():
    domain = Domain(3, 2)
    assert domain.parameters == 2 * (4 + 4)
    assert Domain(3, 2, leaves=True).parameters == 2 * (4 + 9 + 4)
    target, proposal = domain.at(domain.whole.point)
    assert target.vocab == proposal.vocab == 3
    assert all(entry > 0 for _, row in target.given() for entry in row)


@pytest.mark.parametrize("name", ["interpolation:1/4", "interpolation:1", "diverse", "cascade-token"])
@pytest.mark.sampled(2)
def test_a_relaxed_rule_follows_its_declared_law(name):
    law = declared(name)
    assert prove(law.rule, Chain(2), 2, law=law).verdict == "proved"
    assert prove(law.rule, Chain(1), 2).verdict == "refuted", "it is lossy for p"


def test_the_declared_law_is_proved_on_trees_too():
    law = declared("interpolation:1/4")
    rule = replace(law.rule, verify=lambda *given: follow(law, *given, verify=named("specinfer").verify))
    assert prove(rule, Tree(PAIR, True), 2, law=law).verdict == "proved"


@pytest.mark.parametrize("law", ["interpolation:1/4", "cascade-token", "diverse"])
def test_another_law_is_refuted_with_a_witness(law):
    law = declared(law)
    for rule in (named("token"), declared("interpolation:1/3").rule):
        proof = prove(rule, Chain(1), 2, law=law)
        assert proof.verdict == "refuted"
        assert not judge_against(proof.counterexample, rule, law).lossless


def wrong_residual(oracle, draft, target):
    """Token verification whose residual takes too little of q away."""
    for node, child in pairwise(draft.path):
        p, q, x = target[node.prefix], node.proposal, child.token
        if not oracle.accept(share(p[x], q[x])):
            return node, normalise(excess(p, scale(fmpq(9, 10), q)))
    return draft.path[-1], target[draft.path[-1].prefix]


def test_a_mistake_on_top_of_the_relaxation_is_refuted():
    law = declared("interpolation:1/4")
    rule = replace(law.rule, verify=lambda *given: follow(law, *given, verify=wrong_residual))
    proof = prove(rule, Chain(1), 3, law=law)
    assert proof.verdict == "refuted"
    assert not judge_against(proof.counterexample, rule, law).lossless


def test_a_declared_row_that_is_no_law_is_not_followed():
    half = Declared("half", "a test", lambda p, q, parameter: scale(parameter, p), parameter=fmpq(1, 2))
    assert prove(half.rule, Chain(1), 2, law=half).verdict == "refuted"


@pytest.mark.parametrize("name", [name for name, law in TARGETS.items() if law.row is None])
def test_what_declares_no_law_is_bad_input(name):
    with pytest.raises(BadInput, match="declares no law that could be proved"):
        prove(TARGETS[name].rule, Chain(1), 2, law=TARGETS[name])
