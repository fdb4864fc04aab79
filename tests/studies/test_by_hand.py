"""The witnesses of docs/field.md, computed without draftproof, are the page's."""

import re
import runpy
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
PAGE = (HOUSE / "docs/field.md").read_text(encoding="utf-8")
WITNESSES = runpy.run_path(str(HOUSE / "studies/field/by_hand.py"))["WITNESSES"]


@pytest.mark.parametrize("name", WITNESSES)
def test_a_witness_is_what_the_faulty_rule_gives(name):
    found, page = WITNESSES[name]
    assert found == page
    assert str(page) in PAGE


def test_every_red_row_names_a_caller():
    faults = PAGE[PAGE.index("## Faults") : PAGE.index("## Calls that fail")]
    rows = [line for line in faults.splitlines() if line.startswith("| ") and "| project" not in line]
    rows = [cells for row in rows if not (cells := row.split("|"))[1].startswith(" ---")]
    assert [row[1] for row in rows if not re.search(r"[\w( ]:\d+|^ the same,", row[2])] == []
