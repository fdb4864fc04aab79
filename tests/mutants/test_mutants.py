"""Every mutant is caught as expected, every control passes, and the page and data say what is found."""

import re

import pytest

from tests.mutants.bugs import BUGS
from tests.mutants.registry import CATALOGUE
from tests.mutants.table import (
    DATA,
    GPU_HEADING,
    ORDERED,
    PAGE,
    data,
    entry,
    examined,
    gpu_section,
    page,
    recorded,
)

LONG = "honest drafter", "keyed but fresh"
"""Controls that take many seconds."""


def _marked(mutant):
    name = re.sub(r"[^\w -]+", " ", mutant.name)
    return pytest.param(mutant, id=name, marks=[pytest.mark.slow] * (name.strip() in LONG))


@pytest.mark.parametrize("mutant", [*map(_marked, CATALOGUE)])
@pytest.mark.sampled(8)
def test_found_as_expected_and_as_recorded(mutant):
    found = examined(mutant)
    assert found.as_expected, found
    assert entry(found) in map(entry, recorded()), "run python -m tests.mutants.table --write"


def test_there_are_enough_of_them():
    mutants = [each for each in CATALOGUE if each.expected != "lossless"]
    assert len(mutants) >= 40
    assert {each.row for each in mutants if each.row} == BUGS.keys()
    assert len(CATALOGUE) - len(mutants) >= 5


def test_the_page_and_the_report_s_data_are_of_all_mutants():
    """The test above compares every entry with its verdict."""
    found = recorded()
    assert [each.mutant for each in found] == ORDERED, "run python -m tests.mutants.table --write"
    assert DATA.read_text(encoding="utf-8") == data(found)
    text = PAGE.read_text(encoding="utf-8").partition(f"\n{GPU_HEADING}")[0]
    assert text == page(found), "run python -m tests.mutants.table --write"


def test_the_page_lists_the_mutants_of_the_gpu():
    pytest.importorskip("torch")
    pytest.importorskip("triton", reason="the kernels need Triton")
    from tests.mutants.gpu import BATCHED, KERNELS

    assert {each.row for each in (*BATCHED, *KERNELS)} <= {"", *BUGS}
    assert PAGE.read_text(encoding="utf-8").endswith(gpu_section()), (
        "run python -m tests.mutants.table --write"
    )
