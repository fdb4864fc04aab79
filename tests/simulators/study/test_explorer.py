"""What the explorer's documents say is what the exact engine says, at every position of the sliders."""

from itertools import product

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.commands.report import STANDARD
from draftproof.simulators.instances.scenarios import SCENARIOS, scenario
from draftproof.simulators.instances.strategies import rows as exact_rows
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.study.report.explorer import (
    SCALES,
    explorable,
    placed,
    positions,
    recorded,
)
from draftproof.simulators.study.report.walk import Step, walk
from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.emission import Emission
from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import exact
from draftproof.theory.verifiers import VERIFIERS, named
from tests.simulators.study.conftest import INSTANCES


def read_back(document, verifier, at):
    """(instance's rows, emission) that a document holds for a verifier at some positions."""
    pool = document["pool"]
    numbers = [exact(text) for text in pool["numbers"]]
    row = lambda n: tuple(numbers[m] for m in pool["rows"][n])  # noqa: E731
    word = lambda spelled: tuple(map(int, spelled.split()))  # noqa: E731
    sliders = {(s["of"], word(s["prefix"])): s for s in document["sliders"]}
    index = dict(zip(sliders, at, strict=True))
    rows = {key: row(slider["rows"][index[key]]) for key, slider in sliders.items()}
    return pool, numbers, row, word, sliders, index, rows


def law_of(document, instance, verifier, at):
    pool, numbers, row, word, sliders, index, rows = read_back(document, verifier, at)
    there = placed(instance, rows)
    emitted = Emission(there.target)
    found = next(each for each in document["verifiers"] if each["name"] == verifier)
    mass = fmpq(0)

    def follow(step, weight):
        entry = pool["steps"][step]
        if len(entry) == 2:
            prefix = word(pool["prefixes"][entry[0]])
            kept = there.target[prefix] if entry[1] < 0 else row(entry[1])
            emitted.add(weight, Node(prefix, None), kept)
            return
        for number, after in zip(entry[3], entry[4], strict=True):
            if after >= 0:
                follow(after, weight * numbers[number])
            else:
                assert not numbers[number]

    for group, walks in zip(document["groups"], found["walks"], strict=True):
        place = {}
        for of in "qp":
            place[of] = 0
            for spelled in group["reads"]:
                key = of, word(spelled)
                place[of] = place[of] * len(sliders[key]["rows"]) + index[key]
        targets = 1
        for spelled in group["reads"]:
            targets *= len(sliders["p", word(spelled)]["rows"])
        for weights, steps in zip(group["weights"], walks, strict=True):
            weight = numbers[weights[place["q"]]]
            mass += weight
            if weight:
                follow(steps[place["q"] * targets + place["p"]], weight)
    assert mass == 1
    return there, emitted


def same_as_the_engine(document, instance, at):
    for each in document["verifiers"]:
        there, emitted = law_of(document, instance, each["name"], at)
        want = emission(there, named(each["name"]))
        assert emitted.law() == want.law(), each["name"]
        assert emitted.total_variation == want.total_variation
        assert emitted.expected_accepted == want.expected_accepted


@pytest.mark.parametrize("name", INSTANCES)
@given(data=st.data())
def test_the_record_is_the_engine_s_law_at_any_positions(recorded_instances, name, data):
    document = recorded_instances[name]
    at = [data.draw(st.integers(0, len(slider["rows"]) - 1)) for slider in document["sliders"]]
    same_as_the_engine(document, INSTANCES[name], at)


@pytest.mark.parametrize("draft", [draft for draft, _ in STANDARD], ids=lambda draft: draft.label)
def test_every_kind_of_draft_is_recorded_exactly_where_rows_change_order_or_support(draft):
    instance = scenario("toy", draft, 2)
    document = recorded(instance, 60)
    sizes = [len(slider["rows"]) for slider in document["sliders"]]
    ends = [
        sorted({0, size - 1, slider["at"]}) for size, slider in zip(sizes, document["sliders"], strict=True)
    ]
    places = list(product(*ends))
    for at in places[:: max(1, len(places) // 12)]:
        same_as_the_engine(document, instance, at)


def test_rows_after_a_full_draft_move_finely_and_cost_no_walk(recorded_instances):
    for document in recorded_instances.values():
        fine = [each for each in document["sliders"] if len(each["prefix"].split()) == document["depth"]]
        assert fine
        assert all(len(each["rows"]) >= max(SCALES) for each in fine)
        read = {prefix for group in document["groups"] for prefix in group["reads"]}
        assert not read & {each["prefix"] for each in fine}


def test_every_verifier_can_be_explored():
    labels = {draft.label for draft, _ in STANDARD}
    assert all(labels & set(each.drafts) for each in VERIFIERS.values())


@pytest.mark.parametrize("name", SCENARIOS)
def test_other_instances_are_recorded_exactly_as_they_are(name):
    instance = scenario(name, Tree(((), ())), 3)
    document = recorded(instance, 9)
    same_as_the_engine(document, instance, [slider["at"] for slider in document["sliders"]])


@given(exact_rows(4), st.sampled_from(sorted(SCALES)))
def test_positions_are_rows_that_keep_the_others_proportions(row, steps):
    found = positions(row, steps)
    assert row in found
    assert [each[0] for each in found] == sorted({row[0], *SCALES[steps]})
    for each in found:
        assert sum(each) == 1
        if sum(row[1:]):
            assert all(
                a * b == c * d for a, d in zip(each[1:], row[1:], strict=True) for c, b in [(each[1], row[1])]
            )


def test_a_step_shows_the_line_that_asks_and_the_variables_of_the_pseudo_code():
    toy = INSTANCES["chain"]
    q = toy.proposal[()]
    leaf = Node((1, 0), None)
    draft = Draft(Node((), q, (Node((1,), q, (leaf,)),)))
    first = walk(named("block"), draft, toy.target)
    assert isinstance(first, Step)
    assert first.code.co_name == "verify"
    assert first.branches == (exact("1/2"), exact("1/2"))
    second = first.after[1]
    assert isinstance(second, Step)
    shown = dict(second.locals)
    assert shown["node"].prefix == (1,)
    assert shown["residual"] == (0, exact("1/3"))
    assert (shown["A"], shown["w_i"]) == (exact("1/3"), 1)


def test_a_large_instance_is_refused_in_one_line():
    large = scenario("toy", Chain(4), 3)
    assert not explorable(large)
    with pytest.raises(BadInput, match="too large to explore"):
        recorded(large)
