"""A pytest fixture: `assert_lossless`, set up for the repository it runs in.

    def test_our_verifier_is_lossless(assert_lossless):
        assert_lossless(verify)

`pytest --audit-vocab 4 --audit-depth 3` bounds the instances for every test that uses it. The audit is
imported by the first test that asks for it, so that other test runs do not wait for it.
"""

from collections.abc import Callable
from typing import Any

import pytest

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


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Says what the sizes of audits that passed cannot show."""
    for line in dict.fromkeys(config.stash.get(NOT_SHOWN, [])):
        terminalreporter.write_line(f"draftproof: {line}")
