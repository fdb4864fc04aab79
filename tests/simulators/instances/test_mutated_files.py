"""Instance files changed at random: `law`, `check` and `gap` give an answer or one line, within seconds."""

import json
import random
import signal
from copy import deepcopy

import click
import pytest

from draftproof.simulators.commands.check import check
from draftproof.simulators.commands.entry import enter
from draftproof.simulators.commands.gap import gap
from draftproof.simulators.commands.law import law

SECONDS = 5  # of processor time
HALF = ["1/2", "1/2"]
SEEDS = [
    {"vocab": 2, "target": {"": ["1/3", "2/3"]}, "proposal": {"": ["2/3", "1/3"]}, "draft": "chain:2"},
    {"vocab": 2, "target": {"": HALF, "0": [1, 0]}, "proposal": {"": HALF}, "draft": "paths:2:2"},
    {
        "vocab": 3,
        "target": {"": ["1/3", "1/3", "1/3"]},
        "proposal": {"": [1, 0, 0]},
        "draft": {"kind": "tree", "shape": [[], [[]]], "replacement": True},
    },
]
ODD = [0, -1, 1, 2, 3, 7, 40, 256, 257, 10**6, 10**30, 0.5, 1e-300, "1/3", "1e999999", "0/0", "", None, True]
ODD += [
    [],
    {},
    [[[]]],
    ["1/2", "1/2"],
    [1, 0],
    [1, 0, 0],
    "chain:9",
    "chain:40",
    "tree:2x2",
    "paths:3:3",
    "x" * 999,
]
COMMANDS = click.Group("draftproof", [law, check, gap])
ASKED = (("law", "--verifier", "block"), ("check",), ("gap",), ("law", "--verifier", "traversal", "--json"))


class Late(BaseException):
    """A command took longer than the limit."""


def places(value, path=()):
    """Every place of a document, as a sequence of keys."""
    yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*path, key))


def mutated(seed):
    """A file of SEEDS with one to three changes."""
    chance = random.Random(seed)
    document = deepcopy(chance.choice(SEEDS))
    for _ in range(chance.randint(1, 3)):
        *above, last = chance.choice([path for path in places(document) if path])
        holder = document
        for key in above:
            holder = holder[key]
        match chance.randrange(6):
            case 0:
                del holder[last]
            case 1 if isinstance(holder, dict):
                holder[chance.choice(["", "0", "1 1", "vocab", "shape", "depth", "9"])] = chance.choice(ODD)
            case 2 if isinstance(holder, list):
                holder.insert(chance.randrange(len(holder) + 1), deepcopy(holder[last]))
            case 3:
                for _ in range(chance.choice([3, 30, 300])):
                    holder[last] = [holder[last]]
            case 4 if holder is document:
                rows = chance.choice([8, 40, 300])
                document |= {
                    "vocab": rows,
                    "target": {"": [f"1/{rows}"] * rows},
                    "proposal": {"": [f"1/{rows}"] * rows},
                }
            case _:
                holder[last] = deepcopy(chance.choice(ODD))
    text = json.dumps(document)
    return text[: chance.randrange(len(text))] if chance.random() < 0.05 else text


def late(*_):
    raise Late


def run(path, asked, capfd):
    """(status, standard error, whether the limit ended it) of a command on a file."""
    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        status = enter(COMMANDS, [asked[0], str(path), *asked[1:]])
    except Late:
        status = None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return status, capfd.readouterr().err


def examined(seeds, tmp_path, capfd):
    """Every command on the mutated files; the ones that a limit ended without a word of their cost."""
    path, untold = tmp_path / "instance.json", []
    for seed in seeds:
        path.write_text(mutated(seed))
        asked = ASKED[seed % len(ASKED)]
        status, err = run(path, asked, capfd)
        assert "Traceback" not in err, (seed, err)
        if status is None:
            if "takes " not in err:
                untold.append((seed, asked, path.read_text()[:200]))
            continue
        assert status in (0, 1, 2), (seed, status)
        if status == 2:
            *before, last = err.strip().splitlines()  # a line for each verifier that is left out
            assert len(before) < 40, (seed, err)
            assert all(line.startswith(("left out", "takes ")) for line in before), (seed, err)
            assert last.startswith(("draftproof: ", "left out")), (seed, err)
    return untold


def test_a_few_mutated_files(tmp_path, capfd):
    assert examined(range(8), tmp_path, capfd) == []


@pytest.mark.slow
def test_mutated_files(tmp_path, capfd):
    untold = examined(range(400), tmp_path, capfd)
    assert untold == []
