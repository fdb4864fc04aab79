"""How hypothesis runs (no deadlines; the same examples every time where CI is set), Ctrl-C, commands, and
tests of which only some cases are fast."""

import json
import os
import signal
from collections import Counter

import pytest
from hypothesis import settings

from draftproof import commands
from draftproof.simulators.commands.entry import enter
from draftproof.simulators.instances.files import document

pytest.register_assert_rewrite("tests.checks")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # workers, and what they start, share the cores

settings.register_profile("local", deadline=None, max_examples=25)
settings.register_profile("ci", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

# A shell's job in the background ignores Ctrl-C, and so does all that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """`sampled(n)` leaves every n-th case of a test in the fast suite and marks the others slow; `long=True`
    marks these as long too."""
    seen = Counter()
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark is not None:
            test = item.nodeid.partition("[")[0]
            if seen[test] % mark.args[0]:
                item.add_marker(pytest.mark.slow)
                if mark.kwargs.get("long"):
                    item.add_marker(pytest.mark.long)
            seen[test] += 1


@pytest.fixture
def command(capfd):
    """Runs a command line: (exit status, standard output, standard error)."""

    def run(*arguments: object) -> tuple[int, str, str]:
        status = enter(commands(), [str(each) for each in arguments])
        out, err = capfd.readouterr()
        return status, out, err

    return run


@pytest.fixture
def toy(tmp_path):
    """The toy as an instance file."""
    from tests.problems import TOY

    path = tmp_path / "toy.json"
    path.write_text(json.dumps(document(TOY)), encoding="utf-8")
    return path
