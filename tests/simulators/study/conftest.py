"""A small sweep, and a browser where there is one."""

import os
import shutil
from pathlib import Path

import pytest

from draftproof import commands
from draftproof.simulators.commands.entry import enter

FAMILY = """
vocabularies = [2]

[[family]]
metrics = ["check", "gap"]
drafts = ["chain:1", "chain:2", "tree:2x1", "tree:2x2"]
verifiers = ["block", "token", "traversal", "rrs", "hsd-released", "nss"]
rows = { kind = "logits", count = 3, temperatures = [0.5, 1.0] }
"""


@pytest.fixture(scope="session")
def results(tmp_path_factory) -> Path:
    """A finished sweep's folder."""
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    folder = tmp_path_factory.mktemp("swept")
    (folder / "family.toml").write_text(FAMILY, encoding="utf-8")
    arguments = [str(folder / "family.toml"), "--results", str(folder / "family"), "--workers", "1"]
    assert enter(commands(), ["sweep", *arguments]) == 0
    return folder / "family"


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no Chromium here")
    with playwright.sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        opened = driver.chromium.launch(executable_path=path, headless=True, args=arguments)
        yield opened
        opened.close()
