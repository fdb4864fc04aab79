"""Rows are what the exact engine says of the same instances, one by one."""

import pytest

from draftproof.simulators.laws.exact_lanes.residues import Arithmetic
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.study import plan as planning
from draftproof.simulators.study.configuration import parsed
from draftproof.simulators.study.gap import expected, measure, ratio
from draftproof.simulators.study.plan import computed, plan
from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import exact, text
from draftproof.theory.verifiers import VERIFIERS


def rows(**given) -> tuple[list[dict], list[dict]]:
    """(rows, instances): what a configuration computes, and family by family what it is about."""
    entries = parsed(given)
    found = [row for job in plan(entries).values() for row in job().to_pylist()]
    return found, [{"family": each} for entry in entries for each in entry.families()]


def about(row: dict, made: list[dict]):
    (family,) = [
        each["family"]
        for each in made
        if (each["family"].rows, each["family"].draft.label, each["family"].temperature)
        == (row["rows"], row["kind"], row["temperature"])
    ]
    return family.instances[row["index"]]


def test_check_is_the_exact_verdict():
    found, made = rows(
        metrics=["check"],
        drafts=["chain:2", "paths:2x2"],
        rows=[{"kind": "random", "count": 4}, {"kind": "logits", "count": 2, "grain": 7}],
        verifiers=["block", "hsd-released", "greedy-block", "layered"],
    )
    assert len(found) == 6 * (4 + 1)
    for row in found:
        verdict = judge(about(row, made), VERIFIERS[row["verifier"]])
        assert row["lossless"] == verdict.lossless
        assert exact(row["total_variation_exact"]) == verdict.total_variation
        assert exact(row["expected_accepted_exact"]) == verdict.expected_accepted
        assert row["total_variation"] == pytest.approx(float(verdict.total_variation), rel=1e-15)
        assert (row["witness_got"] is None) == verdict.lossless


GRIDS = [
    ("chain:1", 2, 12, ["block", "greedy-block", "hsd", "hsd-released", "layered"]),
    ("paths:2x1", 2, 12, ["traversal", "hsd-multidraft"]),
]


@pytest.mark.parametrize(("draft", "vocab", "denominator", "names"), GRIDS)
def test_a_grid_in_lanes_is_the_grid_one_by_one(monkeypatch, draft, vocab, denominator, names):
    grid = {"kind": "grid", "denominator": denominator}
    given = {
        "metrics": ["check"],
        "drafts": [draft],
        "vocabularies": [vocab],
        "rows": grid,
        "verifiers": names,
    }

    def found(least: int) -> tuple[list[dict], int]:
        monkeypatch.setattr(planning, "LANES", least)
        lanes = sum(job.lanes for job in plan(parsed(given)).values())
        return sorted(rows(**given)[0], key=lambda row: (row["index"], row["verifier"])), lanes

    alone, none = found(10**9)
    assert none == 0
    together, some = found(100)
    assert some > 1
    assert together == alone
    # the floats do not tell E[tau]: all by rationals
    monkeypatch.setattr(Arithmetic, "settled", lambda *_: None)
    assert found(100)[0] == alone
    # a numerator that is one off is seen
    monkeypatch.undo()
    fraction = Arithmetic.fraction
    monkeypatch.setattr(Arithmetic, "fraction", lambda by, a: (fraction(by, a)[0] + 1, fraction(by, a)[1]))
    assert found(100)[0] != alone


def test_gap_is_the_measured_gap():
    found, made = rows(
        metrics=["gap"],
        drafts=["chain:2", "paths:2x2"],
        rows={"kind": "random", "count": 3},
        verifiers=["token", "hsd-released", "greedy-block", "rrs"],
    )
    for row in found:
        instance, name = about(row, made), row["verifier"]
        gap = measure(instance, [VERIFIERS[name]])
        assert row["expected_accepted_exact"] == text(gap.expected_accepted[name])
        assert row["full_information_exact"] == text(gap.full.value)
        chain = row["kind"] == "chain"  # whose optimum is what block verification accepts
        best = expected(instance, VERIFIERS["block"]) if chain else gap.stateless.upper
        assert gap.stateless.lower <= best <= gap.stateless.upper
        assert (row["stateless_upper"], row["note"]) == (text(best), gap.note(name))
        shares = ratio(gap.expected_accepted[name], best), gap.shares(name)[1]
        assert (row["share_stateless"], row["share_full"]) == pytest.approx(shares, rel=1e-12)


@pytest.mark.parametrize("kind", ["tree:2x1", "greedy:2x1", "spechub:1"])
def test_on_one_level_optima_are_exact(kind):
    found, made = rows(metrics=["gap"], drafts=[kind], rows={"kind": "random", "count": 3})
    for row in found:
        gap = measure(about(row, made), [])
        assert row["stateless_exact"] == row["stateless_lower"] == row["stateless_upper"]
        assert exact(row["full_information_exact"]) == gap.full.value == exact(row["stateless_exact"])
        assert gap.stateless.lower <= gap.full.value <= gap.stateless.upper


def test_without_optima_they_are_null():
    found, _ = rows(metrics=["gap"], optima=False, rows={"kind": "random", "count": 2})
    assert {row[key] for row in found for key in ("stateless", "full_information", "share_full")} == {None}


def test_what_goes_wrong_in_a_chunk_is_one_line_with_its_name():
    def job():
        raise ZeroDivisionError("by zero")

    with pytest.raises(BadInput, match=r"^chunk check-000007: ZeroDivisionError: by zero$"):
        computed(("check-000007", job))  # type: ignore[arg-type]
