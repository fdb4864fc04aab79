"""Reading back: a row leads to its instance."""

from pathlib import Path

import pytest

from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.study.results import Results
from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import text
from draftproof.theory.verifiers import VERIFIERS

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """A folder in which studies/small.toml was swept, with fewer rows and verifiers."""
    from draftproof.simulators.study.configuration import parsed
    from draftproof.simulators.study.plan import plan
    from draftproof.simulators.study.store import sweep

    given = {
        "metrics": ["check", "gap"],
        "drafts": ["chain:2", "paths:2x2"],
        "verifiers": ["token", "rrs", "hsd-released"],
        "rows": [{"kind": "random", "count": 5}, {"kind": "logits", "count": 3}],
    }
    entries = parsed(given)
    place = tmp_path_factory.mktemp("swept")
    sweep(entries, plan(entries), place / "results" / "small")
    return place


def test_a_row_leads_to_its_instance(small):
    found = Results(small / "results" / "small")
    for row in found.rows('from "check"'):
        verdict = judge(found.instance(row), VERIFIERS[row["verifier"]])
        assert row["total_variation_exact"] == text(verdict.total_variation)


def test_the_page_lists_every_column(small):
    page = (ROOT / "docs" / "sweep.md").read_text(encoding="utf-8")
    from draftproof.simulators.study.plan import SCHEMAS

    for schema in SCHEMAS.values():
        for column in schema.names:
            assert f"`{column.removesuffix('_exact')}`" in page, column


def test_what_is_not_there_is_one_line(small, tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        Results(tmp_path)
    found = Results(small / "results" / "small")
    with pytest.raises(BadInput, match="prove does not exist"):
        found.rows('from "prove"')
    row = {**found.rows('from "check"')[0], "rows": "others"}
    with pytest.raises(BadInput, match="no family"):
        found.instance(row)
