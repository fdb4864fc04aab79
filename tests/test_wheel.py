"""The built wheel, unpacked outside any checkout: what it holds, and README's commands from it."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

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
    assert all(f'id="{part}-title"' in page for part in ("verdicts", "gaps", "worst", "claims", "mutants"))
