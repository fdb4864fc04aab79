"""`draftproof audit` at the door: exit statuses, JSON, one-line refusals."""

import json
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from draftproof.simulators.commands.audit import audit
from draftproof.simulators.commands.entry import enter

HERE = Path(__file__).parent
GROUP = click.Group("draftproof", [audit])
SMALL = ["--vocab", "2", "--depth", "1"]


class Ruled:
    """A rule as a method, of an object that needs an argument."""

    def __init__(self, argument):
        self.rule = argument

    def verify(self, target_probs, draft_probs, draft_tokens, rng):
        return self.rule(target_probs, draft_tokens, rng)

    def plain(self, target_probs, draft_probs, draft_tokens, rng):
        return [int(rng.choice(len(target_probs[0]), p=target_probs[0]))]


class Pair(tuple):
    """An object that Python refuses to make without its argument."""

    def __new__(cls, argument):
        return super().__new__(cls, argument)

    def verify(self, target_probs, draft_probs, draft_tokens, rng): ...


class Sampler:
    """Rules as methods, of an object made without arguments."""

    def __init__(self):
        self.first = 0

    def verify(self, target_probs, draft_probs, draft_tokens, rng):
        return [int(rng.choice(len(target_probs[0]), p=target_probs[self.first]))]

    def wrong(self, target_probs, draft_probs, draft_tokens, rng):
        return [int(rng.choice(len(draft_probs[0]), p=draft_probs[self.first]))]


def run(*arguments):
    return enter(GROUP, ["audit", *arguments])


@pytest.fixture
def settings(tmp_path):
    """Options of a file of settings with this text."""

    def written(text):
        path = tmp_path / "settings.toml"
        path.write_text(text)
        return ["--settings", str(path)]

    return written


def foreign(name):
    return f"{HERE / 'foreign.py'}:{name}"


@pytest.mark.parametrize(
    ("name", "status"),
    [("good", 0), ("raises", 1), ("good_but_hashed", 3), ("hashes_a_coin", 1), ("missing", 2)],
)
def test_exit_statuses(name, status, capfd, settings):
    assert run(foreign(name), *SMALL, *settings("runs = 500")) == status
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err


def test_a_method_is_that_of_an_object(capfd):
    place = "tests.simulators.audit.test_commands:Sampler"
    assert run(f"{place}.verify", *SMALL) == 0
    assert run(f"{place}.wrong", *SMALL) == 1
    capfd.readouterr()
    place = "tests.simulators.audit.test_commands:Ruled"
    assert run(f"{place}.plain", *SMALL) == 0, "it needs nothing that its __init__ sets up"
    capfd.readouterr()
    assert run(f"{place}.verify", *SMALL) == 2
    err = capfd.readouterr().err
    assert "it raises: AttributeError: 'Ruled' object has no attribute 'rule'" in err
    assert len(err.splitlines()) == 1
    assert run("tests.simulators.audit.test_commands:Pair.verify", *SMALL) == 2
    assert "Pair: no object of it can be made" in capfd.readouterr().err


@pytest.mark.parametrize(("residual", "status"), [("(p - q).clip(min=0)", 0), ("p", 1)])
def test_what_torch_compile_decorates_is_audited(residual, status, capfd, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "compiled.py").write_text(COMPILED.format(residual=residual))
    assert run(f"{tmp_path}/compiled.py:Sampler.verify", *SMALL) == status, capfd.readouterr()


COMPILED = """
import torch

class Sampler:
    @torch.compile
    @torch.no_grad()
    def verify(self, target_probs, draft_probs, draft_tokens):
        for i, x in enumerate(draft_tokens):
            p, q = target_probs[i], draft_probs[i]
            if torch.rand(()) * q[x] >= p[x]:
                return [*draft_tokens[:i].tolist(), int(torch.multinomial({residual}, 1))]
        return [*draft_tokens.tolist(), int(torch.multinomial(target_probs[-1], 1))]
"""


@pytest.mark.parametrize(("kept", "status"), [("min(1, p[x] / q[x])", 0), ("0.5", 1)])
def test_what_numba_compiles_is_audited(kept, status, capfd, tmp_path, monkeypatch):
    if not find_spec("numba"):  # its decorator, as far as the audit reads it
        monkeypatch.syspath_prepend(tmp_path)
        (tmp_path / "numba.py").write_text(NUMBA)
    (tmp_path / "compiled.py").write_text(COMPILED_BY_NUMBA.format(kept=kept))
    assert run(f"{tmp_path}/compiled.py:verify", *SMALL) == status, capfd.readouterr()


NUMBA = """
class CPUDispatcher:
    def __init__(self, function):
        self.py_func = function

    def __call__(self, *_):
        raise AssertionError("compiled code draws from a generator of its own")

njit = CPUDispatcher
"""

COMPILED_BY_NUMBA = """
import numpy as np
from numba import njit

@njit
def drawn(row):
    return np.searchsorted(np.cumsum(row), np.random.random() * row.sum(), side="right")

@njit
def verify(target_probs, draft_probs, draft_tokens):
    for i, x in enumerate(draft_tokens):
        p, q = target_probs[i], draft_probs[i]
        if np.random.random() >= {kept}:
            return np.append(draft_tokens[:i], drawn(np.maximum(p - q, 0.0)))
    return np.append(draft_tokens, drawn(target_probs[-1]))
"""


def test_module_and_name(capfd):
    assert run("tests.simulators.audit.foreign:good", *SMALL) == 0
    assert "lossless" in capfd.readouterr().out


def test_json_is_all_there_is_on_standard_output(capfd):
    assert run(foreign("prints"), *SMALL, "--json") == 0
    out, err = capfd.readouterr()
    answer = json.loads(out)
    assert answer["lossless"] is True
    assert answer["witness"] is None
    assert "finding: prints" in err


def test_a_biased_one_in_json(capfd):
    assert run("tests.mutants.functions:residual_from_the_target", *SMALL, "--json") == 1
    answer = json.loads(capfd.readouterr().out)
    assert answer["lossless"] is False
    assert answer["witness"]["prefix"] == "0"


def test_strict_fails_on_findings():
    assert run("tests.mutants.functions:accepts_at_zero", *SMALL) == 0
    assert run("tests.mutants.functions:accepts_at_zero", *SMALL, "--strict") == 1


def test_padding(settings):
    target = "tests.mutants.functions:accepts_padding"
    assert run(target, *SMALL, "--strict") == 0
    assert run(target, *SMALL, "--strict", *settings("padding = true")) == 1


def test_statistical(capfd, settings):
    wide = ["--statistical", "--vocab", "4", "--depth", "2", "--json"]
    assert run("tests.mutants.functions:residual_from_the_target", *wide) == 1
    answer = json.loads(capfd.readouterr().out)
    assert answer["lossless"] is False
    assert answer["adapter"].endswith("statistical")
    assert answer["total_variation"] > 0
    few = settings("runs = 300")
    assert run("tests.mutants.functions:sampling_match", *wide, *few) == 2  # not a name of that module
    assert run("tests.mutants.controls:sampling_match", *wide, *few) == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--vocab", "100"], "at most 5,000 words"),
        (["--vocab", "1"], "vocab 1: must be at least 2"),
        (["--iterations", "4"], "iterations 4: must be at least 1 and at most 3"),
        (["--statistical", "--iterations", "2"], "iterations goes without statistical"),
        (["--statistical", "runs = 0"], "runs"),
        ("vocabb = 3", "no setting is named 'vocabb'; there are edges"),
        ("padding = 'perhaps'", "'perhaps' is not a valid boolean"),
        ("padding = ", "settings.toml: "),
    ],
)
def test_bad_options_are_one_line(options, said, capfd, settings):
    words = [options] if isinstance(options, str) else options
    given = [part for word in words for part in (settings(word) if " = " in word else [word])]
    assert run(foreign("good"), *given) == 2
    err = capfd.readouterr().err
    assert said in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.slow
def test_several_iterations(capfd):
    assert run("tests.mutants.objects:keyed_by_position", "--iterations", "2") == 1
    assert run("tests.mutants.objects:keyed_by_position") == 0
    capfd.readouterr()


@pytest.mark.parametrize(
    "target",
    [
        "nothing",
        "no.such.module:verify",
        "no_such_file.py:verify",
        ":",
        "transformer",
        f"{HERE / 'foreign.py'}:MISBEHAVED",
        "tests.simulators.audit.test_commands:Ruled.verify",
    ],
)
def test_bad_targets_are_one_line(target, capfd):
    assert run(target) == 2
    out, err = capfd.readouterr()
    assert not out
    assert len(err.strip().splitlines()) == 1


def test_a_whole_loop(capfd, tmp_path):
    pytest.importorskip("torch")
    path = tmp_path / "mine.py"
    path.write_text(
        "import torch\n"
        "def plain(target, draft, prompt, length):\n"
        "    first = prompt.shape[1]\n    while prompt.shape[1] < first + length:\n"
        "        row = target(prompt).logits[0, -1].softmax(-1)\n"
        "        prompt = torch.cat([prompt, torch.multinomial(row, 1)[None]], 1)\n"
        "    return prompt[0, first:]\n"
    )
    assert run(f"{path}:plain", *SMALL, "--loop") == 0
    assert "generation loop): lossless" in capfd.readouterr().out
    assert run(foreign("good"), *SMALL, "--loop") == 2
    assert "Traceback" not in capfd.readouterr().err


TREES = """
def siblings(target, draft, rng):  # recursive rejection without replacement
    node, p, q = draft.root, list(target[()]), draft.root.proposal
    for child in node.children:
        x = child.token
        if rng.random() * q[x] < p[x]:
            return [x, rng.choice(len(p), p=target[child.prefix])]
        rest = [max(a - b, 0) for a, b in zip(p, q)]
        p = [a / sum(rest) for a in rest] if sum(rest) else p
        left = [mass * (token != x) for token, mass in enumerate(q)]
        q = [mass / sum(left) for mass in left] if sum(left) else left
    return [rng.choice(len(p), p=p)]
"""


def test_a_rule_on_trees_is_judged_on_the_drafts_that_it_is_made_for(capfd, tmp_path, settings):
    path = tmp_path / "trees.py"
    path.write_text(TREES)
    audited = f"{path}:siblings", "--vocab", "3"
    assert run(*audited, "--tree", *settings('draft = ["tree:2x1", "tree:3x1"]')) == 0
    assert "tree without" in capfd.readouterr().out
    assert run(*audited, "--tree", *settings('draft = ["tree+:2x1"]')) == 1
    assert run(*audited, *settings('draft = ["tree:2x1"]')) == 2
    assert "draft goes with --tree" in capfd.readouterr().err
