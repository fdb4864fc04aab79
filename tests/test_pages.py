"""Every code block of README and docs, run as it stands: what a page shows is what comes out.

The blocks of a page run in order, in one directory: a clone without results, into which titled blocks are
written as files. `console` blocks show what each of their commands prints, `sh` blocks show nothing, a `text`
block is what the block before it prints, and `python` and `pycon` blocks of a page share their names.
Comments before a block, which readers do not see:

    <!-- not run: REASON -->
    <!-- raises: AssertionError -->
    <!-- needs: mine.py of tutorial/your-verifier.md -->
"""

import doctest
import io
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

HOUSE = Path(__file__).parents[1]
PAGES = {
    path.relative_to(HOUSE / "docs" if path.parent != HOUSE else HOUSE).as_posix(): path
    for path in (HOUSE / "README.md", *sorted((HOUSE / "docs").rglob("*.md")))
}
MARKS: dict[str, list] = {"tutorial/first-check.md": [], "tutorial/your-verifier.md": []}
LONG = "papers/traversal.md", "near-optimal.md", "block-diffusion.md"
MARKS |= {page: [pytest.mark.slow, pytest.mark.long] for page in ("README.md", *LONG)}
"""Pages whose commands run in every test run, and pages that take minutes, of which continuous integration
begins with README's; the others take `-m slow`.
"""

BLOCK = re.compile(
    r'((?:^<!-- (?:not run|raises|needs): [^\n]* -->\n+)*)^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$',
    re.MULTILINE | re.DOTALL,
)
MARK = re.compile(r"<!-- ([a-z ]+): (.*?) -->")
RUN = {"console", "sh", "python"}
COMMAND = re.compile(r"^(?:\$ )?(?:draftproof|python3?|pip|git|pytest) ", re.MULTILINE)
EXTRAS = {"torch", "triton", "transformers", "duckdb", "pyarrow", "pydantic", "polars", "matplotlib", "ot"}


class Block(NamedTuple):
    """A fenced block, and what is said of it in comments."""

    marks: dict[str, str]
    language: str
    title: str
    text: str


def blocks(page):
    return [
        Block(dict(MARK.findall(marks)), *rest)
        for marks, *rest in BLOCK.findall(PAGES[page].read_text(encoding="utf-8"))
    ]


def runnable(page):
    return [each for each in blocks(page) if each.language in RUN and "not run" not in each.marks]


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
    start, *rest = line.split("...")
    return printed.rstrip() == line.rstrip() if not rest else printed.startswith(start.rstrip())


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A directory with the clone's folders, and commands as after an installation."""
    for name in ("docs", "studies", "benchmarks", "tests", "constraints.txt"):
        (tmp_path / name).symlink_to(HOUSE / name)
    (tmp_path / ".bin").mkdir()
    programs = {"draftproof": f"{HOUSE}/draftproof.py", "python": "", "pytest": "-m pytest"}
    for name, arguments in programs.items():
        program = tmp_path / ".bin" / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {arguments} "$@"\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / '.bin'}:/usr/bin:/bin")
    monkeypatch.setenv("PYTHONPATH", str(HOUSE))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:  # modules of this page
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def run(command, lines):
    """What a command line prints; it ends with a verdict, or with nothing to say. CHECKED names a file with
    what `draftproof check` printed before in the same CI run, so that this half a minute is not spent twice.
    """
    if command == "draftproof check" and os.environ.get("CHECKED"):
        return Path(os.environ["CHECKED"]).read_text(encoding="utf-8")
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    needed = re.search(r"needs (\w+): pip|No module named '(\w+)", done.stderr + done.stdout)
    if needed and (needed[1] or needed[2]) in EXTRAS:
        pytest.skip(f"needs {needed[1] or needed[2]}")
    assert done.returncode in ((0,) if lines is None else (0, 1, 3)), (command, done.stderr)
    assert "Traceback" not in done.stderr, (command, done.stderr)
    return done.stdout


def commands(block):
    """(command, lines that it shows or None) of a block of commands."""
    if block.language == "sh":
        joined = re.sub(r"\\\n\s*", "", block.text)
        return [(line, None) for line in joined.splitlines() if line.partition("#")[0].strip()]
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    return [(command, lines) for command, *lines in (part.rstrip("\n").split("\n") for part in parts)]


def follow(page, names):
    """Runs the blocks of a page, in the directory where this process is."""
    everything = blocks(page)
    for block, after in zip(everything, [*everything[1:], None], strict=True):
        if "needs" in block.marks:
            title, other = block.marks["needs"].split(" of ")
            [needed] = [each.text for each in blocks(other) if each.title == title]
            Path(title).write_text(needed, encoding="utf-8")
        if block.title:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.text, encoding="utf-8")
        elif block.language in RUN and "not run" not in block.marks:
            printed = _printed(block, names)
            if after and after.language == "text":
                assert shows(printed.rstrip("\n").split("\n"), after.text.splitlines()), printed


def _printed(block, names):
    if block.language == "python":
        with redirect_stdout(io.StringIO()) as out:
            try:
                exec(block.text, names)
            except Exception as error:
                if type(error).__name__ != block.marks.get("raises"):
                    raise
            else:
                assert "raises" not in block.marks
        return out.getvalue()
    printed = ""
    for command, lines in commands(block):
        printed = run(command, lines)
        if lines is not None:
            assert shows(printed.rstrip("\n").split("\n"), lines), f"{command}\n{printed}"
    return printed


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=MARKS.get(page, [pytest.mark.slow])) for page in PAGES if runnable(page)],
)
def test_a_page_shows_what_its_blocks_print(page, clone):
    assert clone.exists()
    follow(page, {"__name__": "page"})


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(each.language == "pycon" for each in blocks(page))]
)
def test_the_examples_of_a_page_give_what_it_shows(page, monkeypatch):
    monkeypatch.chdir(HOUSE)
    examples = "\n".join(each.text for each in blocks(page) if each.language == "pycon")
    test = doctest.DocTestParser().get_doctest(examples, {}, page, page, 0)
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0
    assert test.examples


def test_every_command_is_in_a_block_that_is_run():
    assert [
        (page, each.text[:80]) for page in PAGES for each in blocks(page)
        if each.language in ("", "text", "bash", "shell") and COMMAND.search(each.text)
    ] == []  # fmt: skip


def test_lines_left_out_are_said_to_be():
    assert shows(["a", "b", "c"], ["a", "...", "c"])
    assert shows(["a 1 s"], ["a ..."])
    assert not shows(["a", "b", "c"], ["a", "c"])
    assert not shows(["a", "b"], ["a"])
    assert not shows(["b", "a"], ["a", "b"])


def test_what_was_printed_before_is_compared_too(clone, monkeypatch):
    (clone / "printed").write_text("as shown\n", encoding="utf-8")
    monkeypatch.setenv("CHECKED", str(clone / "printed"))
    monkeypatch.setitem(PAGES, "page.md", clone / "page.md")
    for shown in ("as shown", "something else"):
        PAGES["page.md"].write_text(f"```console\n$ draftproof check\n{shown}\n```\n", encoding="utf-8")
        if shown == "as shown":
            follow("page.md", {})
        else:
            with pytest.raises(AssertionError):
                follow("page.md", {})


def test_a_block_that_shows_something_else_is_found(clone, monkeypatch):
    monkeypatch.setitem(PAGES, "wrong.md", clone / "wrong.md")
    for text in ("```console\n$ echo 1\n2\n```\n", "```python\nprint(1)\n```\n\n```text\n2\n```\n"):
        PAGES["wrong.md"].write_text(text, encoding="utf-8")
        with pytest.raises(AssertionError):
            follow("wrong.md", {})
        PAGES["wrong.md"].write_text(text.replace("2", "1"), encoding="utf-8")
        follow("wrong.md", {})
