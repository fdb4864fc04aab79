"""The priority rule in classes: lossless for any edges, near the rule that sorts, and its mutants."""

from dataclasses import replace

import pytest
from flint import fmpq

from draftproof.simulators.instances.randoms import Mixed, Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.values import priority_classes as classes
from draftproof.theory.verifiers import named

UNEVEN = (((), ()), ())
DRAFTS = (Chain(2), Tree(((), ()), True), Tree(UNEVEN, True), Stratified(((), ())), Stratified(UNEVEN))
FORMS = {"priority": classes.verify, "lifted-priority": classes.verify_lifted}


def emissions(draft, name, count=4):
    """(in classes, by the rule that sorts) for random instances."""
    sorting = named(name)
    for vocab in (2, 3):
        for instance in Randoms(draft, vocab, count, law=Mixed()):
            yield emission(instance, replace(sorting, verify=FORMS[name])), emission(instance, sorting)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("draft", DRAFTS, ids=str)
def test_lossless_and_near_the_rule_that_sorts(draft, name):
    pairs = list(emissions(draft, name))
    assert all(found.total_variation == 0 for found, _ in pairs)
    mean, best = (float(sum(each.expected_accepted for each in side)) for side in zip(*pairs, strict=True))
    assert mean > 0.97 * best


@pytest.mark.parametrize("ratio", [fmpq(1), fmpq(3, 2), fmpq(1, 7), fmpq(99), fmpq(0)])
def test_a_ratio_lies_between_the_edges_of_its_class(ratio):
    c = classes.kind(ratio)
    assert classes.EDGES[c] <= ratio
    assert c == 0 or ratio < classes.EDGES[c - 1]


@pytest.mark.parametrize("ratio", [fmpq(1), fmpq(9, 10), fmpq(1, 7), fmpq(0)])
@pytest.mark.parametrize("cut", [fmpq(0), fmpq(1, 10), fmpq(9, 10), fmpq(1), fmpq(20)])
def test_a_cut_keeps_at_most_the_smaller(ratio, cut):
    assert 0 <= classes.kept(ratio, cut, classes.kind(ratio)) <= min(ratio, cut)


def test_edges_may_be_anywhere(monkeypatch):
    monkeypatch.setattr(classes, "EDGES", (fmpq(7, 5), fmpq(2, 7), fmpq(0)))
    for draft in DRAFTS:
        assert all(found.total_variation == 0 for found, _ in emissions(draft, "lifted-priority", 2))


def lossy(monkeypatch, name, change):
    monkeypatch.setattr(classes, name, change)
    pairs = (pair for draft in DRAFTS for pair in emissions(draft, "lifted-priority", 2))
    return any(found.total_variation != 0 for found, _ in pairs)


def test_a_cut_that_keeps_more_than_there_is_is_lossy(monkeypatch):
    assert lossy(monkeypatch, "kept", lambda ratio, cut, c: min(cut, classes.EDGES[c] + fmpq(1, 3)))


def test_strata_taken_for_independent_draws_are_lossy(monkeypatch):
    found = classes.in_classes

    def all_alike(draft, node, t):
        mean = tuple(sum(masses) / len(masses) for masses in zip(*draft.laws(node), strict=True))
        return found(Same((mean,) * len(draft.laws(node))), node, t)

    class Same:
        stratified = False

        def __init__(self, laws):
            self.laws = lambda _: laws

    assert lossy(monkeypatch, "in_classes", all_alike)
