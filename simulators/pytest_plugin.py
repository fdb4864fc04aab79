"""A pytest fixture: `assert_lossless`, set up for the repository it runs in.

    def test_our_verifier_is_lossless(assert_lossless):
        assert_lossless(verify)

`pytest --audit-vocab 4 --audit-depth 3` bounds the instances for every test that uses it. The audit is
imported by the first test that asks for it, so that other test runs do not wait for it.
"""

from collections.abc import Callable
from typing import Any

import pytest

VERDICT = "draftproof"
NOT_SHOWN = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --audit-vocab and --audit-depth."""
    group = parser.getgroup("draftproof")
    group.addoption("--audit-vocab", type=int, default=3, help="Largest vocabulary of audited instances.")
    group.addoption("--audit-depth", type=int, default=2, help="Largest draft depth of audited instances.")


@pytest.fixture
def assert_lossless(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`draftproof.assert_lossless` with the vocabulary and depth of the command line."""
    from draftproof.simulators.audit import assert_lossless

    option = request.config.option

    def judged(verify: Any, **options: Any) -> Any:
        report = assert_lossless(
            verify, **{"vocab": option.audit_vocab, "depth": option.audit_depth} | options
        )
        if report.not_shown:
            request.config.stash.setdefault(NOT_SHOWN, []).append(f"{report.target}: {report.not_shown}")
        return report

    return judged


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> None:
    """Keeps the verdict of a failed audit with the test's report, where JUnit files show it too."""
    if call.excinfo and (report := getattr(call.excinfo.value, "report", None)):
        lines = [line.strip() for line in report.failure.splitlines()]
        item.user_properties.append((VERDICT, "; ".join(line for line in lines if "dp.replay(" not in line)))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """The verdicts of audits that failed, which pytest's own summary cuts off, and what the sizes of audits
    that passed cannot show.
    """
    for report in terminalreporter.stats.get("failed", []):
        for name, verdict in report.user_properties:
            if name == VERDICT:
                terminalreporter.write_line(f"{VERDICT}: {report.nodeid}: {verdict}", red=True)
    for line in dict.fromkeys(config.stash.get(NOT_SHOWN, [])):
        terminalreporter.write_line(f"draftproof: {line}")
