"""The built wheel, unpacked outside any checkout: what it holds, and README's commands from it."""

import ast
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import click
import pytest

import draftproof
from tests import test_pages

HOUSE = Path(__file__).parents[1]
STUDY = """[[family]]
metrics = ["check", "gap"]
verifiers = ["token", "block"]
drafts = ["chain:2"]
rows = { kind = "random", count = 3 }
"""
COMMANDS = {
    "audit mine.py:verify": 1,
    "check --verifier typical": 0,
    "check docs/toy.json --verifier traversal": 0,
    "check --text mine.py --vocab 3 --depth 2 --verifier block": 0,
    "claims single-draft-optimum": 0,
    "endpoint --help": 0,
    "gap docs/toy.json": 0,
    "gpu --help": 0,
    "law docs/toy.json --verifier hsd-released": 1,
    "law docs/toy.json --verifier hsd": 0,
    "law docs/toy.json --verifier block": 0,
    "prove token --vocab 2 --depth 1": 0,
    "sweep study.toml --workers 1": 0,
    "report results/study": 0,
}
"""A command line of every kind in README -> its exit status."""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """A folder to put on the path, with the wheel's files."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(folder)], cwd=HOUSE, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder / "site")
    return folder / "site"


def test_one_name_lands_in_site_packages(unpacked):
    assert {path.name.partition("-")[0] for path in unpacked.iterdir()} == {"draftproof"}
    package = unpacked / "draftproof"
    files = {str(path.relative_to(package)) for path in package.rglob("*.*")}
    assert {
        "__init__.py",
        "theory/rows.py",
        "gpu/pair/target/config.json",
        "docs/toy.json",
        "references.bib",
    } <= files
    assert not any("__pycache__" in file or file.startswith("tests") for file in files)


def test_the_wheel_says_what_is_true_of_it(unpacked):
    [info] = unpacked.glob("*.dist-info")
    metadata = (info / "METADATA").read_text(encoding="utf-8")
    assert "Operating System :: POSIX :: Linux" in metadata
    assert "OS Independent" not in metadata


def helps(group, *names):
    for name in group.list_commands(None):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from helps(command, *names, name)
        else:
            yield command.get_help(click.Context(command, info_name=name))


def test_help_and_errors_name_no_file_that_the_wheel_lacks(unpacked):
    package = unpacked / "draftproof"
    texts = [*helps(draftproof.commands())]
    for path in package.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise | ast.Assert):
                words = (x.value for x in ast.walk(node) if isinstance(x, ast.Constant))
                texts += [x for x in words if isinstance(x, str)]
    file = re.compile(r"(?:docs|studies|tests|benchmarks)/[\w./-]+\w")
    named = {name for text in texts for name in file.findall(text)}
    assert named
    assert {name for name in named if not (package / name).is_file()} == set()


def test_shells_complete_commands_and_options():
    program = "import draftproof; draftproof.main()"
    for words, found in (("draftproof che", "plain,check"), ("draftproof audit --st", "plain,--strict")):
        asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "PYTHONPATH": str(HOUSE)}
        environment = {**os.environ, **asked, "_DRAFTPROOF_COMPLETE": "bash_complete"}
        run = [sys.executable, "-c", program]
        done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
        assert found in done.stdout.splitlines()


def test_the_dockerfile_installs_the_clone():
    lines = (HOUSE / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 10
    [install] = [line for line in lines if line.startswith("RUN ")]
    assert "pip install --no-cache-dir -c /src/constraints.txt /src" in install
    assert lines[-1] == 'ENTRYPOINT ["draftproof"]'


def test_every_command_of_the_readme_is_run_here():
    text = (HOUSE / "README.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"(?:\$ |`|/)draftproof ([a-z]+)", text))
    assert shown - {"gpu"} == {command.split()[0] for command in COMMANDS} - {"gpu"}


@pytest.mark.slow
def test_the_readme_works_from_the_wheel(unpacked, tmp_path):
    readme = (HOUSE / "README.md").read_text(encoding="utf-8")
    titled = re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```', readme, re.MULTILINE | re.DOTALL)
    for name, text in [*titled, ("study.toml", STUDY)]:
        (tmp_path / name).write_text(text, encoding="utf-8")
    program = "import draftproof; draftproof.main()"
    for command, status in COMMANDS.items():
        done = subprocess.run(
            [sys.executable, "-P", "-c", program, *command.split()],
            cwd=tmp_path,
            env={"PYTHONPATH": str(unpacked), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, (command, done.stdout, done.stderr)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert all(f'id="{part}-title"' in page for part in ("verdicts", "gaps", "worst"))


@pytest.mark.slow
def test_the_notebook_runs_from_the_wheel(unpacked, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("polars")
    program = (
        "import json, sys; sys.path.append(sys.argv[1]); import notebook, draftproof;"
        "assert draftproof.__file__.startswith(sys.argv[2]), draftproof.__file__;"
        "notebook.executed(json.load(open(sys.argv[1] + '/appendix.ipynb')))"
    )
    run = [sys.executable, "-P", "-c", program, str(HOUSE / "docs"), str(unpacked)]
    environment = {"PYTHONPATH": str(unpacked), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    subprocess.run(run, cwd=tmp_path, env=environment, check=True)


PAGES = [
    "README.md",
    *(f"tutorial/{name}.md" for name in ("first-check", "your-verifier", "gap-study", "gpu-run")),
]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_page_works_from_the_wheel(page, unpacked, tmp_path, monkeypatch):
    """Every command that the page shows, in an empty folder, prints what the page says."""
    (tmp_path / ".bin").mkdir()
    for name, arguments in {"draftproof": "-m draftproof", "python": "", "pytest": "-m pytest"}.items():
        program = tmp_path / ".bin" / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {arguments} "$@"\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / '.bin'}:/usr/bin:/bin")
    monkeypatch.setenv("PYTHONPATH", str(unpacked))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    shown = "import draftproof; print(draftproof.__file__)"
    where = subprocess.run(["python", "-c", shown], capture_output=True, text=True, check=True).stdout
    assert where.startswith(str(unpacked))
    commands = test_pages.commands
    wanted = lambda block: [each for each in commands(block) if "worst" not in each[0]]  # noqa: E731
    monkeypatch.setattr(test_pages, "commands", wanted)  # that search is a study's, and needs a clone
    test_pages.follow(page, {})
