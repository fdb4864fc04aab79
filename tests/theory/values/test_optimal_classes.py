"""The optimum in classes: lossless for any edges, and alpha* where the edges are the ratios of the tokens."""

import inspect
from dataclasses import replace

import pytest
from flint import fmpq

from draftproof.simulators.instances.randoms import Mixed, Randoms
from draftproof.simulators.laws.enumerate import Invalid, emission
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifiers import named
from tests.theory.values import optimal_classes as classes

UNEVEN = (((), ()), ())
DRAFTS = (Chain(2), Tree(((), ()), True), Tree(UNEVEN, True), Stratified(UNEVEN), Greedy(((), ())))
FORMS = {"optimal": "verify", "lifted-optimal": "verify_lifted"}
COARSE = (fmpq(7, 5), fmpq(5, 7), fmpq(2, 7), fmpq(0))


def emissions(module, draft, name, count=3):
    """(in classes, without) for random instances."""
    rule = named(name)
    for vocab in (2, 3):
        for instance in Randoms(draft, vocab, count, law=Mixed()):
            yield (
                emission(instance, replace(rule, verify=getattr(module, FORMS[name]))),
                emission(instance, rule),
            )


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("draft", DRAFTS, ids=str)
def test_lossless_and_near_the_optimum(draft, name):
    pairs = list(emissions(classes, draft, name))
    assert all(found.total_variation == 0 for found, _ in pairs)
    mean, best = (float(sum(each.expected_accepted for each in side)) for side in zip(*pairs, strict=True))
    assert mean > 0.995 * best


def test_edges_may_be_anywhere(monkeypatch):
    monkeypatch.setattr(classes, "EDGES", COARSE)
    for draft in DRAFTS:
        for found, _ in emissions(classes, draft, "lifted-optimal", 2):
            assert found.total_variation == 0


def test_tokens_whose_ratios_are_edges_lose_nothing(monkeypatch):
    """At one node; a token that two strata share has one place in each, and may lose."""
    short = 0
    for draft in (Tree(every(2, 1), True), Tree(every(3, 1), True), Stratified(every(2, 1))):
        for instance in Randoms(draft, 3, 20, law=Mixed()):
            p, pi = instance.target[()], instance.proposal[()]
            if isinstance(draft, Stratified):
                pi = tuple(sum(each) / 2 for each in zip(*classes_of(pi), strict=True))
            ratios = {a / b for a, b in zip(p, pi, strict=True) if b > 0}
            monkeypatch.setattr(classes, "EDGES", tuple(sorted({*ratios, fmpq(0)}, reverse=True)))
            rule = named("optimal")
            found = emission(instance, replace(rule, verify=classes.verify)).expected_accepted
            best = emission(instance, rule).expected_accepted
            assert found <= best
            short += found < best
            assert found == best or isinstance(draft, Stratified)
    assert short <= 4


def classes_of(q):
    from draftproof.theory.shared.strata import strata

    return strata(q, 2)


@pytest.mark.parametrize("ratio", [fmpq(1), fmpq(3, 2), fmpq(1, 7), fmpq(99), fmpq(0)])
def test_the_mean_of_the_places_is_the_ratio(ratio):
    way = classes.split(ratio)
    assert sum(way.values(), fmpq(0)) == 1
    assert sum((part * classes.EDGES[c] for c, part in way.items()), fmpq(0)) == min(ratio, classes.EDGES[0])


BROKEN = {
    "the upper edge for all": ("{c - 1: upper, c: 1 - upper}", "{c - 1: fmpq(1)}"),
    "the coin turned": ("{c - 1: upper, c: 1 - upper}", "{c - 1: 1 - upper, c: upper}"),
    "ratios above the highest edge kept with more": ("a / K * EDGES", "3 * a / K * EDGES"),
    "strata as i.i.d. siblings": ("0 if draft.replacement else len(EDGES)", "0"),
    "all of what the places leave": ("laws[j][x] * part / mass[place]", "laws[j][x] / mass[place]"),
    "one sibling's places for all": ("zip(self.takes, tokens", "zip(self.takes[:1] * 9, tokens"),
    "coins not counted": ("prod(parts, start=chance * rate)", "chance * rate"),
    "the rate not asked": ("start=chance * rate)", "start=chance)"),
    "the last order alone": ("] += prod(", "] = prod("),
    "the first child leads": ("tokens.index(tokens[places.index(place)])", "0"),
    "places of other tokens": ("takes[x].items()", "next(iter(takes.values())).items()"),
    "the extra token from t": ("Plan(found, takes, tuple(left))", "Plan(found, takes, t)"),
}
"""One edit in the source, with coarse edges."""


@pytest.mark.parametrize("edit", BROKEN.values(), ids=BROKEN)
def test_broken_versions_are_refused(edit):
    source = inspect.getsource(classes)
    assert edit[0] in source
    scope: dict = {"__name__": classes.__name__}
    exec(source.replace(*edit), scope)
    scope["EDGES"] = COARSE
    module = type("Module", (), {name: staticmethod(scope[name]) for name in FORMS.values()})

    def wrong(draft):
        try:
            pairs = emissions(module, draft, "lifted-optimal", 12 if draft in DRAFTS[:2] else 3)
            return any(found.total_variation != 0 for found, _ in pairs)
        except Invalid:  # it fails, or a row or a chance is none
            return True

    assert any(map(wrong, DRAFTS))
