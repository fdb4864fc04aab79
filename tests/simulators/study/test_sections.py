"""Aggregates agree with the rows they are made of."""

from statistics import fmean, median

import pytest

from draftproof.simulators.study.report import sections
from draftproof.simulators.study.results import Results


@pytest.fixture(scope="module")
def store(results):
    return Results(results)


@pytest.fixture(scope="module")
def rows(store):
    return {metric: store.rows(f'from "{metric}"') for metric in store.metrics}


def test_verdicts_stand_apart_by_the_kind_of_draft(store, rows):
    found = {(row["kind"], row["verifier"]): row for row in sections.verdicts(store)}
    assert found.keys() == {(row["kind"], row["verifier"]) for row in rows["check"]}
    for key, row in found.items():
        mine = [each for each in rows["check"] if (each["kind"], each["verifier"]) == key]
        assert row["instances"] == len(mine)
        assert row["lossless"] == sum(each["lossless"] for each in mine)
        assert row["found"] == all(each["lossless"] for each in mine)
        assert row["total_variation"] == max(each["total_variation"] for each in mine)
        assert row["expected_accepted"] == pytest.approx(fmean(each["expected_accepted"] for each in mine))
    assert found["chain", "hsd-released"]["found"] is False


def test_gaps(store, rows):
    settings = sections.gaps(store)
    assert [setting["title"] for setting in settings] == [
        "chain, depth 2, V = 2",
        "tree without replacement [[[], []], [[], []]], V = 2",
        "chain, depth 1, V = 2",
        "tree without replacement [[], []], V = 2",
    ]
    for row in settings[1]["rows"]:
        mine = [
            each["share_stateless"]
            for each in rows["gap"]
            if each["verifier"] == row["verifier"] and each["depth"] == 2 and each["kind"].startswith("tree")
        ]
        assert row["instances"] == len(mine)
        assert (row["least"], row["median"]) == pytest.approx((min(mine), median(mine)))


def test_worst_instances_are_those_of_the_rows(store, rows):
    missing = sections.missing(store)
    assert missing[0]["missing"] == max(row["missing"] for row in missing)
    for row in missing:
        gaps = [
            each["stateless"] - each["expected_accepted"]
            for each in rows["gap"]
            if each["verifier"] == row["verifier"]
        ]
        assert row["missing"] == pytest.approx(max(gaps))
    assert [row["verifier"] for row in sections.wrong(store)] == ["hsd-released"]
