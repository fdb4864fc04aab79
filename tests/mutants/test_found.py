"""The fast tests of the code that proofs and enumeration rely on find every edit of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

EACH, SECONDS = 16, 60
"""Edits of a module, and the CPU seconds that its tests may take of each."""

TESTS = {
    "draftproof.theory.rows": ("tests/theory/test_rows.py",),
    "draftproof.theory.emission": ("tests/theory/test_emission.py",),
    "draftproof.theory.verifiers.shared.priority": ("tests/theory/verifiers/test_priority.py",),
    "draftproof.theory.verifiers.shared.modified_target": (
        "tests/theory/verifiers/shared/test_modified_target.py",
        "tests/theory/verifiers/test_greedy_block.py",
    ),
    "draftproof.simulators.laws.enumerate": ("tests/simulators/laws/test_enumerate.py",),
}

SAME = {
    "67:34 minimum(left[x], most) -> minimum(most, left[x])": "of two numbers it is the same",
    "76:34 0 -> 2": "a row holds numbers of one kind",
    "135:19 p -> q": "both rows hold numbers of one kind",
}
"""Edit -> why it changes nothing."""


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("module", TESTS)
def test_every_edit_is_found(module):
    command = [sys.executable, "-m", "tests.mutants.found", module, str(EACH), str(SECONDS), *TESTS[module]]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    said = dict(map(json.loads, done.stdout.splitlines()))
    assert said.pop("") == "survives", "the module as it is"
    assert len(said) == EACH
    missed = {edit for edit, what in said.items() if what not in ("found", "ends nowhere")}
    assert missed <= SAME.keys()
