"""The report of all comparisons."""

import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.checks.against_exact import run  # noqa: E402
from draftproof.simulators.instances.randoms import Randoms  # noqa: E402
from tests.problems import SCHEMES  # noqa: E402


@pytest.mark.slow
def test_two_processes_find_what_one_does(monkeypatch):
    families = [Randoms(scheme, vocab, 1) for scheme in SCHEMES.values() for vocab in (2, 3)]
    reports, named = [], []
    for processes in (1, 2):
        monkeypatch.setattr(run, "cores", lambda count=processes: count)
        report = run.Report("cpu", None)
        named.append(sorted(run._noise(report, families)))
        reports.append(report.plain)
    assert len(named[0]) >= 8, "or one process is enough"
    assert named[0] == named[1]
    assert reports[0] == reports[1]
    assert all(found.rows > 0 == found.wrong for found in reports[1].noise.values())
