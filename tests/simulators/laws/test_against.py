"""Judging against declared targets: mutants are refused, and distances are those of the text."""

from functools import partial
from itertools import pairwise
from math import inf, log

import pytest
from flint import fmpq
from hypothesis import given

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios, scenario
from draftproof.simulators.instances.suite import measured
from draftproof.simulators.laws.check import Tally, judged, pieces
from draftproof.simulators.laws.decode import decode
from draftproof.simulators.laws.verdicts.against import between, judge_against, must_measure
from draftproof.simulators.laws.witness import smallest
from draftproof.simulators.user_code import named
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import context_free
from draftproof.theory.law import law_of
from draftproof.theory.numbers import exact
from draftproof.theory.rows import excess, normalise, share
from draftproof.theory.shared.divergence import ERROR, exceeds, kl
from draftproof.theory.targets import TARGETS, declared
from draftproof.theory.verifier import Verifier
from tests.strategies import instances, rows

CHAIN = ("chain",)
LAW = declared("interpolation:1/4")
RULES = list(TARGETS.values())


def text_of(instance, rule, length):
    """The exact law of the first tokens of the text, over as many calls as they need."""
    return decode(instance, rule, length, length).first(length)


def instances_of(depth, vocab=3):
    yield from Scenarios(Chain(depth), vocab)
    yield from Randoms(Chain(depth), vocab, 10)


# Divergences.


@given(rows(3), rows(3))
def test_kl_is_that_of_floats(p, q):
    a, b = dict(enumerate(p)), dict(enumerate(q))
    terms = [(float(x), float(y)) for x, y in zip(p, q, strict=True) if x > 0]
    wanted = inf if any(y == 0 for _, y in terms) else sum(x * log(x / y) for x, y in terms)
    assert kl(a, b) == wanted or abs(kl(a, b) - wanted) < 1e-12
    assert kl(a, a) == 0


@pytest.mark.parametrize("digits", [5, 30, 200])
def test_a_bound_is_decided_however_near(digits):
    """KL(point || even) = log 2; its decimal expansion, cut off and one unit higher."""
    from flint import arb, ctx

    with ctx.workdps(digits + 20):
        cut = fmpq(int((arb(2).log() * arb(10) ** digits).floor().unique_fmpz()), 10**digits)
    point, even = {0: fmpq(1)}, {0: fmpq(1, 2), 1: fmpq(1, 2)}
    assert exceeds(point, even, cut)
    assert not exceeds(point, even, cut + fmpq(1, 10**digits))
    assert exceeds(even, point, fmpq(10**9))  # infinite
    assert not exceeds(even, even, fmpq(0))
    assert ERROR < 1e-9


def test_the_distance_of_two_laws():
    far = between({0: fmpq(1, 4), 1: fmpq(3, 4)}, {0: fmpq(1, 2), 2: fmpq(1, 2)})
    assert (far.total_variation, far.kl, far.reverse) == (fmpq(3, 4), inf, inf)
    assert between({0: fmpq(1)}, {0: fmpq(1)}).largest(far) == far


# The text.


@pytest.mark.parametrize("target", RULES, ids=str)
def test_the_text_is_what_decoding_emits(target):
    for instance in [*Scenarios(Chain(2), 2), *Randoms(Chain(2), 3, 2)]:
        wanted = decode(instance, target.rule, 3, 3).first(3)
        assert text_of(instance, target.rule, 3) == wanted


@given(instances(Chain(2), vocab=2))
def test_the_text_of_a_lossless_rule_is_the_targets(instance):
    assert text_of(instance, named("block"), 3) == law_of(instance.target, 3)
    found = judge_against(instance, named("block"), declared("target"))
    assert found.kept
    assert (found.token.kl, found.block.reverse, found.block.total_variation) == (0, 0, 0)


def test_the_worst_token_may_be_a_later_one():
    """p = q at first; after token 0 they differ, and a mixture is nearer than the drafter."""
    instance = context_free(["1/2", "1/2"], ["1/2", "1/2"], Chain(2))
    table = type(instance.proposal)
    later = type(instance)(
        instance.target, table.exact(2, {(): ["1/2", "1/2"], (0,): [1, 0]}), instance.draft
    )
    found = judge_against(later, named("interpolation"), LAW)
    assert found.token.total_variation == fmpq(1, 8)
    assert found.block.total_variation == fmpq(1, 16)


# Laws: what is declared is found, and mistakes are refused.


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_every_rule_is_as_it_declares(target):
    found = [judge_against(each, target.rule, target) for each in instances_of(2)]
    assert not any(each.invalid for each in found)
    assert all(each.kept for each in found) == target.kept


def mixture(a, residual=None, own=False, last=None):
    """Token verification of (1 - a) p + a q, or with a mistake in it."""

    def verify(oracle, draft, target):
        for node, child in pairwise(draft.path):
            p, q, x = target[node.prefix], node.proposal, child.token
            pi = tuple((1 - a) * m + a * n for m, n in zip(p, q, strict=True))
            if not oracle.accept(share(pi[x], q[x])):
                return node, normalise(excess(p if residual == "p" else pi, q))
        leaf = draft.path[-1]
        if own:  # no extra token: the last drafted one is the extra token
            from draftproof.theory.rows import point

            return node, point(leaf.token, p)
        return leaf, q if last == "q" else target[leaf.prefix]

    return Verifier("mixture", "ours", CHAIN, lossless=False, verify=verify)


QUARTER = fmpq(1, 4)
MUTANTS = {
    "another weight": mixture(fmpq(1, 5)),
    "the weights swapped": mixture(fmpq(3, 4)),
    "the extra token from q": mixture(QUARTER, last="q"),
    "token verification of p": named("token"),
    "accepted by a threshold": named("typical"),
}


@pytest.mark.parametrize("name", MUTANTS)
@pytest.mark.sampled(3)
def test_mutants_of_a_law_are_refused(name):
    assert not all(judge_against(each, MUTANTS[name], LAW).lossless for each in instances_of(2))
    assert all(judge_against(each, mixture(QUARTER), LAW).lossless for each in instances_of(2))


def test_the_residual_of_p_is_that_of_the_mixture():
    """(p - q)+ and ((1 - a) p + a q - q)+ are proportional, so that this is no mistake."""
    assert all(judge_against(each, mixture(QUARTER, residual="p"), LAW).lossless for each in instances_of(2))


def test_a_budget_is_told_apart_from_a_law():
    wide, narrow = declared("cactus:2"), declared("cactus:1/20")
    found = [judge_against(each, named("cactus:1/20"), wide) for each in instances_of(1)]
    assert all(each.kept and each.over is False for each in found)
    assert not all(each.lossless for each in found)
    assert not all(judge_against(each, named("cactus:1/20"), narrow).kept for each in instances_of(1))
    assert judge_against(scenario("equal", Chain(1)), named("typical"), declared("target")).over is None


def test_a_law_that_exceeds_its_budget_is_refused():
    """The budget of a 1/5 mixture, kept by that one and not by a 1/4 mixture."""
    narrow = declared("interpolation:1/5")
    found = [judge_against(each, named("interpolation:1/4"), narrow) for each in instances_of(1)]
    assert any(each.over for each in found)
    assert not any(each.kept for each in found if each.over)


def test_an_invalid_rule_meets_nothing():
    def verify(oracle, draft, target):
        oracle.accept(exact(2))
        return draft.root, target[()]

    broken = Verifier("broken", "ours", CHAIN, lossless=False, verify=verify)
    found = judge_against(scenario("toy", Chain(1)), broken, declared("cactus"))
    assert "coin 2 is above 1" in found.invalid
    assert not found.kept


def test_rules_that_keep_state_are_refused():
    with pytest.raises(BadInput, match="greedy-block keeps state"):
        must_measure(named("greedy-block"))


def test_the_witness_is_small():
    start = Randoms(Chain(2), 3, 10)[3]
    small, verdict = smallest(start, lambda each: judge_against(each, named("token"), LAW))
    assert not verdict.kept
    assert (small.vocab, small.draft.depth) == (2, 1)


# The tally of a whole suite.


def tally(verifier, law, families):
    found = Tally(verifier, law=law)
    for piece in pieces(families, [(verifier, law)]):
        for index, verdict in judged(piece):
            found.add(verdict, piece, index)
    return found


@pytest.mark.parametrize("target", RULES, ids=str)
def test_a_suite_is_as_declared(target):
    found = tally(target.rule, target, [Scenarios(Chain(1), 3)])
    assert found.as_declared(thorough=True, own=True)
    assert found.as_declared(thorough=True, own=False) == target.kept
    assert found.token.total_variation > 0


def test_a_wrong_declaration_is_noticed():
    from dataclasses import replace

    honest = TARGETS["cactus"]
    boast = replace(honest, budget=replace(honest.budget, kept=True))
    modest = replace(TARGETS["interpolation"], budget=replace(TARGETS["interpolation"].budget, kept=False))
    assert not tally(boast.rule, boast, [Scenarios(Chain(1), 3)]).as_declared(thorough=True, own=True)
    assert not tally(modest.rule, modest, [Scenarios(Chain(1), 3)]).as_declared(thorough=True, own=True)


def test_the_measured_suite_has_something_for_every_rule():
    for target in TARGETS.values():
        met = {piece.draft for piece in pieces(measured(), [(target.rule, target)]) if piece.pairs}
        assert met == {"chain"}


def test_partial_rules_are_picklable_for_other_processes():
    import pickle

    (piece, *_) = pieces([Scenarios(Chain(1), 2)], [(LAW.rule, LAW)])
    assert pickle.loads(pickle.dumps(judged(piece))) == judged(piece)
    assert isinstance(LAW.rule.verify, partial)
