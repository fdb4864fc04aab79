"""The models of the code that proofs do not run: compared with it, tied to it, and no proof without it."""

import inspect
import json
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from draftproof.proofs_check.every_size.contracts import MODELLED, digest
from draftproof.proofs_check.every_size.machine.objects import OPERATIONS, Objects
from draftproof.simulators.laws import enumerate as enumerator
from draftproof.theory import rows, table
from draftproof.theory.shared import memo
from draftproof.theory.verifiers.shared import priority
from tests.mutants.syntax import edits

ROOT = Path(__file__).parents[3]
VOCAB = 6
ENTRIES = st.lists(st.integers(0, 4), min_size=VOCAB, max_size=VOCAB)


def test_every_model_was_compared_with_this_code():
    for module, known in MODELLED.items():
        assert digest(module) == known, (
            f"compare the model of {module.__name__} again, then record the new hash"
        )


def classes(*compared):
    """The tokens by what their entries compare: `compared` are lists of numbers, of which the sign counts."""
    groups = {}
    for x in range(VOCAB):
        groups.setdefault(tuple((each[x] > 0) - (each[x] < 0) for each in compared), []).append(x)
    return list(groups.values())


def sums(row, groups):
    return tuple(sum((row[x] for x in group), fmpq(0)) for group in groups)


@given(ENTRIES, ENTRIES, st.integers(0, 5))
def test_operations_act_on_classes_as_on_tokens(a, b, factor):
    """One sum for each class of tokens with the same signs of p - q, which is what a proof computes with."""
    p, q = (tuple(map(fmpq, each)) for each in (a, b))
    groups = classes([x - y for x, y in zip(p, q, strict=True)])
    P, Q, c = sums(p, groups), sums(q, groups), fmpq(factor, 3)
    for function in (rows.excess, rows.meet, rows.add, rows.otherwise):
        assert sums(function(p, q), groups) == function(P, Q), function
        modelled = Objects.compared_rows(Given(), function, P, Q)
        assert function not in (rows.excess, rows.meet) or modelled == function(P, Q)
    assert sums(rows.scale(c, p), groups) == rows.scale(c, P)
    assert sums(rows.normalise(p), groups) == rows.normalise(P)
    assert (rows.total(p), rows.has_mass(p)) == (rows.total(P), rows.has_mass(P))
    single = [[0], *classes_of_rest(groups)]
    assert sums(rows.point(0, p), single) == rows.point(0, sums(p, single))


def classes_of_rest(groups):
    return [rest for group in groups if (rest := [x for x in group if x])]


class Given:
    """A run on numbers: the classes are told apart by their own signs."""

    class space:
        number = fmpq

        @staticmethod
        def classify(differences):
            return [each <= 0 for each in differences]


NUMBERS = st.fractions(-3, 3, max_denominator=5).map(lambda each: fmpq(each.numerator, each.denominator))


@given(NUMBERS, NUMBERS)
def test_operations_have_the_values_and_signs_that_are_assumed(a, b):
    assert rows.positive(a) == (a if a > 0 else 0)
    assert rows.minimum(a, b) == (a if a <= b else b)
    assert rows.maximum(a, b) == (b if a <= b else a)
    assert rows.possible(a) == (a > 0)
    whole = abs(b)
    if a >= 0:
        assert rows.share(a, whole) == (1 if whole <= a else a / whole)
        assert 0 <= rows.share(a, whole) <= 1
    assert rows.ratio(a, whole) == (a / whole if whole > 0 else 1)


def test_every_modelled_operation_is_compared_above():
    compared = inspect.getsource(sys.modules[__name__])
    assert all(f"rows.{function.__name__}" in compared for function in OPERATIONS)


# Edits of the code that proofs rely on, each in a copy of the package.

RELIED = rows, priority, enumerator
EACH = 16
PROGRAM = """
import json, sys
from draftproof.proofs_check.every_size import prove_every_size
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifiers import named

def refuted(rule, draft):
    try:
        return not all(judge(each, rule, 2 if rule.carry else 1).lossless for each in Randoms(draft, 4, 3))
    except Exception:
        return True

drafts = {"token": Chain(2), "block": Chain(2), "greedy-block": Chain(2), "rrs": Tree(((), ())),
          "k-seq": Tree(((), ()), True), "priority": Tree(((), ()), True)}
print(json.dumps({name: [prove_every_size(named(name)).verdict, refuted(named(name), draft)]
                  for name, draft in drafts.items()}))
"""


def chosen():
    """Some edits of every module, chosen with a fixed seed."""
    for module in RELIED:
        every = edits(Path(str(module.__file__)).read_text(encoding="utf-8"))
        for number, edit in enumerate(Random(0).sample(every, min(EACH, len(every)))):
            endless = "oracle.next()" in str(edit)  # takes all of TIMEOUT
            marks = [[], [pytest.mark.slow], [pytest.mark.slow, pytest.mark.long]][
                2 if endless else min(number, 2)
            ]
            yield pytest.param(module, edit, id=f"{module.__name__} {edit}", marks=marks)


HAND = {
    "excess without the clamp": (rows, "d if above(d := a - b) else zero", "a - b"),
    "p in the place of p - q": (rows, "d if above(d := a - b) else zero", "a"),
    "the fourth token is dropped": (
        rows,
        "in zip(p, q, strict=True)])",
        "in list(zip(p, q, strict=True))[:3]])",
    ),
    "a row is found under another prefix": (table, "self[prefix] =", "self[prefix[:1]] ="),
    "unequal arguments share a cached result": (
        memo,
        "found = alike.get(near := _near(arguments))",
        "found = alike.get(near := len(arguments)); arguments = found[0] if found else arguments",
    ),
}


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    package = tmp_path_factory.mktemp("edited") / "draftproof"
    for each in ("theory", "simulators", "proofs_check"):
        shutil.copytree(ROOT / each, package / each, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "draftproof.py", package / "__init__.py")
    return package


TIMEOUT = 300
"""Seconds that one edited copy may take."""


def found(package, module, text):
    """Rule -> (the proof's verdict, whether enumeration refutes it), by the edited code."""
    file = package / Path(*module.__name__.split(".")[1:]).with_suffix(".py")
    original = file.read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    try:
        environment = {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-P", "-c", PROGRAM]
        done = subprocess.run(
            command,
            cwd=package.parent,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:  # an edit that does not end proves nothing
        return {}
    finally:
        file.write_text(original, encoding="utf-8")
    return json.loads(done.stdout) if done.returncode == 0 else {}


@pytest.mark.slow
def test_the_code_as_it_is_is_proved(copied):
    text = Path(str(rows.__file__)).read_text(encoding="utf-8")
    assert set(map(tuple, found(copied, rows, text).values())) == {("proved", False)}


@pytest.mark.parametrize("fault", HAND)
def test_a_proof_reads_its_tools(copied, fault):
    module, old, new = HAND[fault]
    text = Path(str(module.__file__)).read_text(encoding="utf-8")
    assert old in text
    verdicts = found(copied, module, text.replace(old, new))
    assert any(refuted for _, refuted in verdicts.values())
    assert not any(proof == "proved" for proof, _ in verdicts.values())


@pytest.mark.parametrize(("module", "edit"), list(chosen()))
@pytest.mark.sampled(4)
def test_nothing_that_enumeration_refutes_is_proved(copied, module, edit):
    for rule, (proof, refuted) in found(copied, module, edit.text).items():
        assert not (proof == "proved" and refuted), rule
