"""How hypothesis runs: without deadlines, and the same examples every time where CI is set."""

import os

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("tests.checks")

settings.register_profile("local", deadline=None, max_examples=25)
settings.register_profile("ci", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
