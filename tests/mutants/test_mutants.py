"""Every mutant is caught as expected, every control passes, and the page says what is found."""

import re

import pytest

from tests.mutants.bugs import BUGS
from tests.mutants.registry import CATALOGUE
from tests.mutants.table import DATA, GPU_HEADING, PAGE, data, examined, gpu_section, page

LONG = "honest drafter", "keyed but fresh"
"""Controls that take many seconds."""


def _marked(mutant):
    name = re.sub(r"[^\w -]+", " ", mutant.name)
    return pytest.param(mutant, id=name, marks=[pytest.mark.slow] * (name.strip() in LONG))


@pytest.mark.parametrize("mutant", [*map(_marked, CATALOGUE)])
@pytest.mark.sampled(3)
def test_found_as_expected(mutant):
    found = examined(mutant)
    assert found.as_expected, found


def test_there_are_enough_of_them():
    mutants = [each for each in CATALOGUE if each.expected != "lossless"]
    assert len(mutants) >= 40
    assert {each.row for each in mutants if each.row} == BUGS.keys()
    assert len(CATALOGUE) - len(mutants) >= 5


@pytest.mark.slow
def test_the_page_and_the_report_s_data_are_not_stale():
    assert DATA.read_text(encoding="utf-8") == data(), "run python -m tests.mutants.table --write"
    text = PAGE.read_text(encoding="utf-8").partition(f"\n{GPU_HEADING}")[0]
    assert text == page(), "run python -m tests.mutants.table --write"


def test_the_page_lists_the_mutants_of_the_gpu():
    pytest.importorskip("torch")
    pytest.importorskip("triton", reason="the kernels need Triton")
    from tests.mutants.gpu import BATCHED, KERNELS

    assert {each.row for each in (*BATCHED, *KERNELS)} <= {"", *BUGS}
    assert PAGE.read_text(encoding="utf-8").endswith(gpu_section()), (
        "run python -m tests.mutants.table --write"
    )
