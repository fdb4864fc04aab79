"""What editors and type checkers see of the public names, in a user's folder and in a plain clone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import draftproof as dp

HOUSE = Path(__file__).parents[1]
USER = """
from pathlib import Path
import numpy as np
import draftproof as dp

Rows = np.ndarray[tuple[int, int], np.dtype[np.float64]]

def verify(p: Rows, q: Rows, draft_tokens: list[int], rng: np.random.Generator) -> list[int]:
    return [int(rng.choice(p.shape[1], p=p[0]))]

instance = dp.read(Path("toy.json"))
reveal_type(instance.vocab)
reveal_type(instance.target)
reveal_type(dp.law(instance, "block").total_variation)
reveal_type(dp.check(instance, "block").lossless)
reveal_type(dp.gap(instance, "block"))
reveal_type(dp.examine(verify).lossless)
reveal_type(dp.assert_lossless(verify, vocab=2, depth=1))
reveal_type(dp.verifiers["block"].name)
reveal_type(dp.prove(dp.verifiers["block"], dp.Chain(2), 2).verdict)
reveal_type(dp.replay(verify, instance))
reveal_type([dp.Chain(2).depth, dp.Paths(3, 4).depth])
shapes = [dp.Tree, dp.TopK, dp.Greedy, dp.SpecHub, dp.Stratified, dp.BestFirst, dp.Table, dp.Instance]
reveal_type(shapes)
"""
WRONG = """
import draftproof as dp

def verify(p: list[float]) -> list[int]:
    return [0]

dp.nosuch
dp.assert_lossless(verify, vocabb=3)
dp.examine(verify, depht=3)
dp.examine(verify, depth="two")
"""


def run(folder, module, *arguments):
    pytest.importorskip(module)
    program = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False).stdout


@pytest.fixture
def user(tmp_path):
    """A folder of a user's, whose path leads to the installed package."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "draftproof").symlink_to(HOUSE / "draftproof")
    (tmp_path / "mine.py").write_text(USER)
    (tmp_path / "wrong.py").write_text(WRONG)
    return tmp_path


def pyright(folder, file):
    settings = {"typeCheckingMode": "strict", "extraPaths": ["site"], "include": [file]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    shown = run(folder, "pyright", "--outputjson", "--pythonpath", sys.executable)
    return [(each["severity"], each["message"]) for each in json.loads(shown)["generalDiagnostics"]]


def mypy(folder, file):
    (folder / "mypy.ini").write_text("[mypy]\nstrict = true\nmypy_path = site\nfollow_imports = silent\n")
    return run(folder, "mypy", "--cache-dir", folder / "cache", file).splitlines()


@pytest.mark.parametrize("checker", [pyright, mypy])
def test_the_types_of_public_names_are_known(user, checker):
    found = checker(user, "mine.py")
    told = [str(each) for each in found if "eveal" in str(each) or "ype of" in str(each)]
    assert len(told) == USER.count("reveal_type("), found
    assert not any("error" in str(each) for each in found), found
    assert not any("Any" in each or "Unknown" in each for each in told), told


@pytest.mark.parametrize(
    ("checker", "tells"), [(pyright, "is not a known attribute"), (mypy, "has no attribute")]
)
def test_what_does_not_exist_is_an_error(user, checker, tells):
    shown = str(checker(user, "wrong.py"))
    assert tells in shown
    for wrong in ("nosuch", "vocabb", "depht"):
        assert wrong in shown
    assert "two" in shown or 'incompatible type "str"' in shown


@pytest.mark.parametrize("name", ["assert_lossless", "check", "gap", "law", "Chain", "Table", "prove"])
def test_editors_go_to_the_definition_of_a_name_in_a_plain_clone(name, tmp_path):
    jedi = pytest.importorskip("jedi")
    for part in ("draftproof", "draftproof.py", "theory", "simulators", "proofs_check", "gpu"):
        (tmp_path / part).symlink_to(HOUSE / part)
    project = jedi.Project(tmp_path, sys_path=[str(tmp_path), *[p for p in sys.path if "site-packages" in p]])
    script = jedi.Script(f"import draftproof as dp\ndp.{name}\n", path=tmp_path / "mine.py", project=project)
    places = script.goto(2, 4, follow_imports=True)
    assert [(each.name, each.type) for each in places] == [
        (name, "class" if name[0].isupper() else "function")
    ]
    assert f" {name}" in Path(places[0].module_path).read_text().splitlines()[places[0].line - 1]


def test_dir_shows_the_public_names():
    assert dir(dp) == sorted(dp.__all__)


def test_folders_beside_the_package_are_not_in_it():
    for name in ("tests", "hatch_build", "benchmarks"):
        with pytest.raises(ImportError):
            __import__(f"draftproof.{name}")
