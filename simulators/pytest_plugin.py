"""A pytest fixture: `assert_lossless`, set up for the repository it runs in.

    def test_our_verifier_is_lossless(assert_lossless):
        assert_lossless(verify)

`pytest --audit-vocab 4 --audit-depth 3` bounds the instances for every test that uses it. The audit is
imported by the first test that asks for it, so that other test runs do not wait for it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest


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
    return partial(assert_lossless, vocab=option.audit_vocab, depth=option.audit_depth)
