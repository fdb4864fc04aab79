"""The commands and examples of pages, run as they stand: what the pages show is what comes out."""

import doctest
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[1]
SLOW = ("gap-study",)
PAGES = [
    pytest.param(page, id=page.stem, marks=[pytest.mark.slow] if page.stem in SLOW else [])
    for page in (HOUSE / "README.md", *sorted((HOUSE / "docs" / "tutorial").glob("*.md")))
]
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def commands(block):
    """(command, lines that it shows) of a console block."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *lines = part.rstrip("\n").split("\n")
        yield command, lines


def run(command, folder):
    """What a command of a page prints."""
    program, *arguments = shlex.split(command)
    programs = {"draftproof": [sys.executable, str(HOUSE / "draftproof.py")], "python": [sys.executable]}
    done = subprocess.run(
        [*programs[program], *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(HOUSE), "PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert done.returncode in (0, 1, 3), done.stderr
    return done.stdout


def shows(printed, lines):
    """Whether the lines come in this order; `...` stands for lines left out, or for the end of one."""
    at, skipping = 0, False
    for line in lines:
        if line == "...":
            skipping = True
            continue
        fits = [n for n in range(at, len(printed)) if _fits(printed[n], line)]
        if not fits or (fits[0] != at and not skipping):
            return False
        at, skipping = fits[0] + 1, False
    return skipping or at == len(printed)


def _fits(printed, line):
    if line.endswith("..."):
        return printed.startswith(line.removesuffix("...").rstrip())
    return printed.rstrip() == line.rstrip()


@pytest.mark.parametrize("page", PAGES)
def test_a_tutorial_shows_what_its_commands_print(page, tmp_path):
    if page.stem == "gap-study":
        pytest.importorskip("duckdb")
        pytest.importorskip("pyarrow")
    (tmp_path / "docs").mkdir()
    shutil.copy(HOUSE / "docs" / "toy.json", tmp_path / "docs")
    for language, title, content in BLOCK.findall(page.read_text(encoding="utf-8")):
        if title:
            (tmp_path / title).write_text(content, encoding="utf-8")
        if language == "console":
            for command, lines in commands(content):
                printed = run(command, tmp_path)
                assert shows(printed.rstrip("\n").split("\n"), lines), f"{command}\n{printed}"


def test_lines_left_out_are_said_to_be():
    assert shows(["a", "b", "c"], ["a", "...", "c"])
    assert shows(["a 1 s"], ["a ..."])
    assert not shows(["a", "b", "c"], ["a", "c"])
    assert not shows(["a", "b"], ["a"])
    assert not shows(["b", "a"], ["a", "b"])


@pytest.mark.parametrize("page", ["api.md", "audit.md", "write.md"])
def test_the_examples_of_a_page_give_what_it_shows(page, monkeypatch):
    monkeypatch.chdir(HOUSE)
    examples = re.findall(
        r"^```pycon\n(.*?)^```$", (HOUSE / "docs" / page).read_text(), re.MULTILINE | re.DOTALL
    )
    test = doctest.DocTestParser().get_doctest("\n".join(examples), {}, page, page, 0)
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0
    assert test.examples
