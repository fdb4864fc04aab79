"""What enumeration says of the generated mutants is kept, still true, and refutes what it must."""

import inspect
from io import StringIO
from random import Random
from tokenize import generate_tokens

import pytest

from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.verifiers import block, k_seq, nss, token, traversal
from tests.mutants.checked import flaw, runs_of
from tests.mutants.edits import edited, executed, text
from tests.mutants.generated import MODULES, WHOLE, judged, mutants, verdicts
from tests.mutants.guard import GUARDS, guarded
from tests.mutants.reasons import REASONS
from tests.mutants.syntax import SIGNS, edits

TOY = scenario("toy", Chain(2), 3)


def test_the_verdicts_are_those_of_the_mutants():
    kept = [(name, line["kind"]) for name, line in verdicts().items()]
    made = [(mutant.name, mutant.edit.kind) for mutant in mutants()]
    assert kept == made, "run python -m tests.mutants.generated --write"


def test_there_are_enough_of_them():
    refuted = [mutant for mutant in mutants() if verdicts()[mutant.name]["verdict"] == "refuted"]
    assert len(refuted) >= 100
    assert len({mutant.original.name for mutant in refuted}) >= 12
    assert {mutant.module for mutant in refuted} == set(MODULES)


def test_every_one_that_is_not_refuted_has_a_reason():
    kept = [mutant for mutant in mutants() if verdicts()[mutant.name]["verdict"] != "refuted"]
    assert {(mutant.original.name, mutant.line) for mutant in kept} == REASONS.keys()


def test_every_edited_operation_is_refuted():
    for mutant in mutants():
        assert not mutant.is_operation or verdicts()[mutant.name]["verdict"] == "refuted", mutant.name


@pytest.mark.parametrize("module", WHOLE)
def test_every_operation_is_among_them(module):
    # Counted in the text's tokens. A star before a name unpacks, a minus before a number is its sign.
    tokens = [each.string for each in generate_tokens(StringIO(inspect.getsource(module)).readline)]
    before = [tokens[i - 1] for i, each in enumerate(tokens) if each in SIGNS]
    signs = sum(each.isidentifier() or each in (")", "]") or each.isdigit() for each in before)
    found = [each for each in mutants() if each.module is module and each.edit.kind == "arithmetic"]
    assert len(found) == (len(SIGNS) - 1) * signs
    assert signs == {token: 0, block: 3, traversal: 3}[module]


@pytest.mark.parametrize("mutant", Random(0).sample(mutants(), 12), ids=lambda each: each.name)
def test_a_verdict_is_still_true(mutant):
    line = verdicts()[mutant.name]
    if line["verdict"] == "refuted":
        assert judged(mutant) == line


@pytest.mark.slow
@pytest.mark.parametrize("mutant", mutants(), ids=lambda each: each.name)
def test_every_verdict_is_still_true(mutant):
    assert judged(mutant) == verdicts()[mutant.name]


def test_an_equivalent_mutant_makes_the_same_runs():
    (mutant,) = (each for each in mutants() if each.name == EQUIVALENT)
    assert judged(mutant)["verdict"] == "the same runs"


EQUIVALENT = "block 23:14 target[leaf.prefix] -> target[leaf.prefix[:-1]]"


def test_originals_pass():
    for module in WHOLE:
        assert runs_of(module.VERIFIER)


RETURNED = "return node, normalise(excess(p, q))"
JUDGED = "oracle.accept(share(p[x], q[x]))"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (JUDGED, "oracle.accept(2 * share(p[x], q[x]))", "a coin of 2"),
        (JUDGED, "oracle.accept(-share(p[x], q[x]))", "a coin of -"),
        (RETURNED, "return node, excess(p, q)", "a row of mass 2/5"),
        (RETURNED, "return node, p[1:]", "a row of 2 tokens"),
        (RETURNED, "return node", "raises TypeError"),
        (RETURNED, "return node, p", "the law: "),
        (RETURNED, "while True: p = q", "does not stop"),
        (RETURNED, "while True: x = (x + 2) ** 2", "a number without bound"),
    ],
)
def test_what_is_refused(old, new, words):
    source = inspect.getsource(token)
    assert old in source
    verifier = executed(token, source.replace(old, new), guarded, **GUARDS)
    assert str(flaw(verifier, TOY)).startswith(words)


def test_a_right_law_of_no_program_is_refused():
    # Accepted with 999/1000, and else a row with masses below 0 and above 1: the mixture alone is p.
    source = inspect.getsource(token)
    for old, new in ((JUDGED, "oracle.accept(one(p) * 999 / 1000)"), (RETURNED, ROW)):
        source = source.replace(old, new)
    source = source.replace("import excess", "import one, excess")
    verifier = executed(token, source)
    assert "has a negative entry" in judge(scenario("toy", Chain(1), 3), verifier).invalid
    assert "a row with the mass -" in str(flaw(verifier, TOY))


ROW = "return node, tuple([1000 * a - 999 * b for a, b in zip(p, q, strict=True)])"


def test_the_edited_source_is_found():
    edit = "w[-1] * p[x]", "p[x]"
    verifier = edited(block, edit)
    assert "share(p[x], q[x])" in inspect.getsource(verifier.verify)
    assert text(verifier) == inspect.getsource(block).replace(*edit)


def test_a_guarded_original_runs_alike():
    for module in (nss, k_seq):
        verifier = executed(module, inspect.getsource(module), guarded, **GUARDS)
        assert judge(TOY, verifier).expected_accepted == judge(TOY, module.VERIFIER).expected_accepted


def test_an_edit_changes_the_tree():
    assert not edits("def f(x):\n    '''a - b'''\n    return x\n")
    assert [str(edit) for edit in edits("def f(x):\n    return not x\n")] == ["2:12 not x -> x"]
