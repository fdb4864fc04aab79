"""One namespace: what is installed never meets a user's own folders, and imports only what is needed."""

import subprocess
import sys
from pathlib import Path

import pytest

import draftproof

HOUSE = Path(__file__).parents[1]
TESTS = """
import gpu, proofs_check, simulators
from theory.mine import VALUE
import draftproof as dp

def test_our_own_folders():
    assert (gpu.VALUE, proofs_check.VALUE, simulators.VALUE, VALUE) == (1, 2, 3, 4)

def test_the_judge(assert_lossless):
    assert assert_lossless(ours).lossless and dp.check

def ours(p, q, drafts, rng):
    return [rng.choice(len(p[0]), p=p[0])]
"""


@pytest.fixture
def installed(tmp_path):
    """A folder as site-packages has it after an install of the wheel."""
    hatch_build = pytest.importorskip("hatch_build", reason="needs hatchling")
    hatch_build.link(HOUSE, tmp_path / "site")
    return tmp_path / "site"


def python(installed, *arguments, cwd):
    environment = {"PYTHONPATH": str(installed), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-P", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_repository_with_folders_of_the_same_names_runs_its_tests(installed, tmp_path):
    user = tmp_path / "user"
    for value, folder in enumerate(("gpu", "proofs_check", "simulators"), 1):
        (user / folder).mkdir(parents=True)
        (user / folder / "__init__.py").write_text(f"VALUE = {value}")
    (user / "theory").mkdir()  # a namespace package: no __init__.py
    (user / "theory" / "mine.py").write_text("VALUE = 4")
    (user / "test_mine.py").write_text(TESTS)
    (user / "conftest.py").write_text("")
    options = "-q", "-p", "draftproof.simulators.pytest_plugin", "-c", "/dev/null"
    status, shown = python(installed, "-m", "pytest", *options, user, cwd=user)
    assert status == 0, shown
    assert "2 passed" in shown


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import draftproof", "numpy flint click"),
        ("import draftproof.simulators.pytest_plugin", "numpy flint click"),
        ("import draftproof.simulators.commands.law", "sympy z3 torch ot scipy.optimize"),
        ("import draftproof; draftproof.check; draftproof.law; draftproof.Table", "sympy z3 torch"),
    ],
)
def test_what_an_import_leaves_out(installed, tmp_path, statement, absent):
    found = f"import sys; {statement}; print([name for name in {absent.split()} if name in sys.modules])"
    status, shown = python(installed, "-c", found, cwd=tmp_path)
    assert (status, shown) == (0, "[]\n")


@pytest.mark.parametrize("arguments", [["--help"], ["law", "docs/toy.json", "--verifier", "block"]])
def test_commands_import_what_they_need(arguments):
    program = (
        "import sys; from draftproof import commands; from draftproof.simulators.commands.entry import enter;"
        "status = enter(commands(), sys.argv[1:]);"
        "sys.exit(str([name for name in ('sympy', 'z3', 'torch') if name in sys.modules] + [status]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=HOUSE, capture_output=True, text=True
    )
    assert done.stderr == "[0]\n"


def test_law_imports_a_quarter_of_the_product_and_nothing_of_the_audit():
    program = (
        "import sys; from draftproof import commands; from draftproof.simulators.commands.entry import enter;"
        "enter(commands(), sys.argv[1:]);"
        "print(*(name for name in sys.modules if name.startswith('draftproof')), file=sys.stderr)"
    )
    arguments = "law", "docs/toy.json", "--verifier", "block"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=HOUSE, capture_output=True, text=True
    )
    modules = done.stderr.split()
    assert "draftproof.theory.verifiers.block" in modules
    assert len(modules) <= 110
    assert not [name for name in modules if "audit" in name or "transport" in name]


def test_the_front_door_says_of_each_command_what_the_command_says():
    from click import Context

    group = draftproof.commands()
    for name, (_, line) in group.where.items():
        command = group.get_command(Context(group), name)
        assert command is not None
        assert (command.help or "").startswith(line.rstrip(".?"))


def test_public_names_are_there():
    for name in draftproof.__all__:
        assert getattr(draftproof, name).__doc__ if name != "verifiers" else draftproof.verifiers["block"]
    assert set(draftproof.__all__) == set(draftproof._WHERE) <= set(dir(draftproof))
    with pytest.raises(AttributeError, match="no attribute 'chek'"):
        draftproof.chek  # noqa: B018
