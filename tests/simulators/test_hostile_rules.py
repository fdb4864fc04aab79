"""A user's verifier that cannot be judged is one line and exit status 2, whatever is wrong with it."""

from pathlib import Path

import pytest

import draftproof as dp
from draftproof.simulators.laws import repeat
from draftproof.simulators.support import limits
from draftproof.theory.errors import BadInput
from tests.problems import TOY
from tests.simulators import hostile_rules

FILE = Path(hostile_rules.__file__)
NAMES = [name for name in vars(hostile_rules) if name[:2] in ("r_", "b_", "e_", "l_", "a_")]
ON_THE_ORACLE = [name for name in NAMES if name[:2] in ("r_", "b_", "e_")]
COMMANDS = {
    "law": ["law", "{toy}", "--verifier", "{name}"],
    "check": ["check", "{toy}", "--verifier", "{name}", "--jobs", "1"],
    "gap": ["gap", "{toy}", "--verifier", "{name}"],
    "prove": ["prove", "{name}", "--draft", "chain:1"],
    "every size": ["prove", "{name}", "--every-size"],
    "vectors": ["vectors", "{name}", "--draft", "chain:1", "--vocab", "2"],
}
SAID = {"r_": ("draws outside the oracle",), "l_": ("a call took more than",)}


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Calls end after a third of a second."""
    monkeypatch.setattr(repeat, "CALL_SECONDS", 0.3)
    monkeypatch.setattr(limits, "WAITS", 4)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("asked", COMMANDS)
def test_every_command_says_so_in_one_line(command, toy, asked, name):
    arguments = [each.format(toy=toy, name=f"{FILE}:{name}") for each in COMMANDS[asked]]
    status, out, err = command(*arguments)
    assert (status, out, len(err.splitlines())) == (2, "", 1), err
    assert all(said in err for said in SAID.get(name[:2], ()))


@pytest.mark.parametrize("name", ON_THE_ORACLE)
def test_every_function_says_so(name):
    rule = getattr(hostile_rules, name)
    for function in (dp.check, dp.law, dp.gap):
        with pytest.raises(BadInput):
            function(TOY, rule)
    with pytest.raises(BadInput):
        dp.prove(rule, "chain:1")


def test_a_memo_is_no_state():
    rows = {}

    def verify(oracle, draft, target):
        row = rows.setdefault(draft.root.prefix, target[draft.root.prefix])
        return draft.root, row

    assert dp.check(TOY, verify).lossless


def test_a_sweep_says_so(command, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    for name in ("b_sum", "r_random", "e_exit"):
        text = f'metrics = ["check", "gap"]\nverifiers = ["{FILE}:{name}"]\nrows = "scenarios"\n'
        Path(f"{name}.toml").write_text(text)
        status, out, err = command("sweep", f"{name}.toml", "--workers", "1")
        assert (status, out, len(err.splitlines())) == (2, "", 1)
