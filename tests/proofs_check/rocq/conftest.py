"""The compiled sources, shared by all tests of a run."""

import os
import shutil

import pytest

from tests.proofs_check.rocq.compiled import Library


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The sources, compiled as they are needed; workers share them."""
    if shutil.which("coqc") is None:
        pytest.skip("no coqc here")
    base = tmp_path_factory.getbasetemp()
    return Library((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "compiled")
