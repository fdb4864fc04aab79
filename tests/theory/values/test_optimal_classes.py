"""The optimum in classes: lossless with any classes, near the optimum, and its broken versions."""

import inspect
from dataclasses import replace
from types import SimpleNamespace

import pytest
from flint import fmpq

from draftproof.simulators.instances.randoms import Mixed, Randoms
from draftproof.simulators.laws.enumerate import Invalid, emission
from draftproof.theory.drafts import best_first
from draftproof.theory.drafts.best_first import BestFirst
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.values import optimal_classes as classes
from draftproof.theory.verifiers import named
from draftproof.theory.verifiers.shared import optimal

UNEVEN = (((), ()), ())
EVEN = Chain(2), Tree(every(3, 1), True), Tree(every(2, 2), True), Stratified(every(3, 1))
DRAFTS = (
    *(Chain(2), Tree(((), ()), True), Tree(UNEVEN, True)),
    *(Stratified(UNEVEN), Greedy(((), ())), BestFirst(4, 2)),
)
FORMS = {"optimal": "verify", "lifted-optimal": "verify_lifted"}
COARSE = ("SHARED, OWN, FEW = 256, 256, 64", "SHARED, OWN, FEW = 4, 3, 3")
SOURCE = inspect.getsource(classes)


def edited(*edits):
    """The module after edits in its source."""
    source = SOURCE
    for old, new in edits:
        assert source.count(old) >= 1, old
        source = source.replace(old, new)
    scope: dict = {"__name__": classes.__name__}
    exec(compile(source, "edited", "exec"), scope)
    return SimpleNamespace(**{name: scope[name] for name in FORMS.values()})


def emissions(module, draft, name, count=3, vocabs=(2, 3)):
    """(in classes, without) for random instances."""
    rule = named(name)
    for vocab in vocabs:
        for instance in Randoms(draft, vocab, count, law=Mixed()):
            yield (
                emission(instance, replace(rule, verify=getattr(module, FORMS[name]))),
                emission(instance, rule),
            )


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("draft", DRAFTS, ids=str)
def test_lossless(draft, name):
    assert all(found.total_variation == 0 for found, _ in emissions(classes, draft, name))


@pytest.mark.parametrize("draft", EVEN, ids=str)
def test_near_the_optimum(draft):
    pairs = list(emissions(classes, draft, "optimal", 4, (2,) if draft == EVEN[2] else (2, 3)))
    mean, best = (float(sum(each.expected_accepted for each in side)) for side in zip(*pairs, strict=True))
    assert (0.996 if isinstance(draft, Stratified) else 1 - 1e-5) * best < mean <= best + 1e-12


ANY = (
    COARSE,
    ("TRIED = 16, 8, 4", "TRIED = 2, 3"),
    ("LATER = 16", "LATER = 2"),
    ("(*TRIED, 0)", "(0,)"),
    ("u / speaks[last])", "0.7 * u)"),
    ("np.minimum(now, 1)))", "u**2))"),
)


@pytest.mark.parametrize("edit", ANY)
def test_classes_and_times_may_be_any(edit):
    module = edited(edit)
    for draft in DRAFTS:
        for found, _ in emissions(module, draft, "lifted-optimal", 2):
            assert found.total_variation == 0


@pytest.mark.parametrize("ratio", [fmpq(1), fmpq(3, 2), fmpq(1, 7), fmpq(99), fmpq(0)])
@pytest.mark.parametrize("count", [2, 7, 64])
def test_the_mean_of_the_places_is_the_ratio(ratio, count):
    way = classes.split(ratio, count)
    assert sum(way.values(), fmpq(0)) == 1
    mean = sum((part * classes.edge(k, count) for k, part in way.items()), fmpq(0))
    assert mean == min(ratio, classes.edge(count - 1, count))


BROKEN = {
    "the upper edge for all": ("{k: 1 - upper, k + 1: upper}", "{k + 1: fmpq(1)}"),
    "the coin turned": ("{k: 1 - upper, k + 1: upper}", "{k: upper, k + 1: 1 - upper}"),
    "caps passed": ("min(sums[-1] + cap[place], most)", "most"),
    "twice the caps": ("a * edge(place[1], count) * m for", "2 * a * edge(place[1], count) * m for"),
    "one sibling instead of all": ("before**count - after**count", "before - after"),
    "strata as i.i.d. siblings": ("draft.stratified or draft.greedy,", "False,"),
    "the rate not asked": ("part * self.rate[place] * lead", "part * lead"),
    "a lent time is not given": ("at[s][c], at[c][s] = swapped / mass[high], swapped", "at[c][s] = swapped"),
    "a time lent twice": ("swapped / mass[high], swapped", "swapped / mass[high] / 2, swapped"),
    "lent by sums": ("drafted[s] / mass[high] - drafted[c] / mass[low]", "drafted[s] + drafted[c]"),
    "scores shared": ("(silent[i][n + spoke]", "(silent[j][n + spoke]"),
    "ties to all": ("((i < j) != (self.own and time % 2) for i", "(False for i"),
    "ties to none": ("((i < j) != (self.own and time % 2) for i", "(True for i"),
    "the first copy has only its own": ("shares.get(copy, 0)", "shares.get(j, 0)"),
    "the extra token from t": ("at, rate, tuple(left))", "at, rate, t)"),
    "one sibling's places for all": ("place = (j * self.own, k)", "place = (0, k)"),
    "ties to the first drawn at all times": ("((i < j) != time % 2)]", "(i < j)]"),
    "a place speaks in the whole row's time": ("/ (high - low) for a, b", "* 1 for a, b"),
    "a place leads as if it waited for nobody": ("sum(map(mul, law, first), fmpq(0)) * mass", "mass"),
    "what is lent is not spoken": ("(chance * laws[c][time] for", "(laws[c][time] / len(times) for"),
    "reach of the wrong sibling": ("range(len(rows)) if i != j]", "range(len(rows)) if i == j]"),
    "reserve ignored": ("[min(a, b) for a, b in zip(kept, lead", "[b for a, b in zip(kept, lead"),
    "in turn, each sibling has the whole cap": ("left[place] -= rate[own] * part * most", "pass"),
    "in turn, the cap is what is kept": ("cap[place] - left[place] for", "cap[place] for"),
    "in turn, reach after all siblings": ("silent.items() if i != j)", "silent.items())"),
    "in turn, reach as if none was kept": ("silent[j] -= part * mass[place]", "pass"),
    "in turn, the last one first": ("{len(at): part}", "{-len(at): part}"),
    "in turn, by one sibling's chances": ("own or turns, at", "own, at"),
    "in turn, each stratum in the first one's places": ("own = j, place[1]", "own = 0, place[1]"),
}  # fmt: skip
"""One edit in the source, with few classes."""


@pytest.mark.parametrize("edit", BROKEN.values(), ids=BROKEN)
def test_broken_versions_are_refused(edit):
    module = edited(COARSE, edit)

    def wrong(draft):
        try:
            pairs = emissions(module, draft, "lifted-optimal", 12 if draft in DRAFTS[:2] else 4)
            return any(found.total_variation != 0 for found, _ in pairs)
        except (Invalid, KeyError):  # it fails, or a row or a chance is none
            return True

    assert any(map(wrong, DRAFTS))


def test_the_drawn_shape_of_a_draft_that_grows_decides_nothing(monkeypatch):
    """How many children a node gets depends on its token. Refused: turns where the drawn shape is ranked."""
    monkeypatch.setattr(best_first, "worthwhile", lambda q, *rest: min(rest[-1], 1 + (3 * q[0] > 1)))
    instances = list(Randoms(BestFirst(6, 3), 3, 4, law=Mixed()))

    def lost():
        rule = named("lifted-optimal")
        both = rule, replace(rule, verify=classes.verify_lifted)
        return [any(emission(each, rule).total_variation for each in instances) for rule in both]

    assert lost() == [False, False]
    for module in (classes, optimal):
        monkeypatch.setattr(module, "take_turns", lambda _, node: optimal.ranked(node.shape))
    assert lost() == [True, True]
