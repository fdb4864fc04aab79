"""The fixture, in a test session of its own: green for a good verifier, red for a biased one."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
TESTS = """
from tests.mutants.controls import token_function
from tests.mutants.functions import residual_from_the_target

def test_green(assert_lossless):
    assert assert_lossless(token_function).lossless

def test_red(assert_lossless):
    assert_lossless(residual_from_the_target)
"""


def test_the_fixture_makes_green_and_red(tmp_path):
    (tmp_path / "test_user.py").write_text(TESTS)
    plugin = "draftproof.simulators.pytest_plugin"
    command = [sys.executable, "-m", "pytest", "-q", "-p", plugin, "--audit-vocab", "2", str(tmp_path)]
    environment = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [*command, "-c", "/dev/null"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    first = next(line for line in done.stdout.splitlines() if line.startswith("E "))
    assert "residual_from_the_target (numpy function): NOT lossless" in first
    assert "come out first with probability" in done.stdout
    assert "dp.replay('tests.mutants.functions:residual_from_the_target', " in done.stdout
    verdict = next(line for line in done.stdout.splitlines() if "::test_red: " in line)
    assert "NOT lossless: its law is not the target's; " in verdict  # pytest's summary cuts it off
    assert "come out first with probability" in verdict
    assert "examine.py" not in done.stdout  # only the test's own line is shown
