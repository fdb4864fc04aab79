"""Every mutant is caught as expected, every control passes, and the page says what is found."""

import re

import pytest

from tests.quality.registry import SPECIMENS
from tests.quality.table import DATA, PAGE, data, examined, page

ROWS = {*range(1, 31)}
"""Rows of the bug functions."""


@pytest.mark.parametrize("specimen", SPECIMENS, ids=lambda each: re.sub(r"[^\w -]+", " ", each.name))
def test_found_as_expected(specimen):
    found = examined(specimen)
    assert found.as_expected, found


def test_there_are_enough_of_them():
    mutants = [each for each in SPECIMENS if each.expected != "lossless"]
    assert len(mutants) >= 40
    assert {int(each.row) for each in mutants if each.row} == ROWS
    assert len(SPECIMENS) - len(mutants) >= 5


def test_the_page_is_not_stale():
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.quality.table --write"


def test_the_report_s_data_are_not_stale():
    assert DATA.read_text(encoding="utf-8") == data(), "run python -m tests.quality.table --write"
