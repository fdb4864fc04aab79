"""Certificates are accepted by the extracted checker, and those of a broken program or file are refused."""

import json
import re

import pytest
from flint import fmpq

from draftproof.simulators.instances.batches import witness
from draftproof.simulators.instances.files import document
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios, scenario
from draftproof.simulators.instances.suite import deep, shallow
from draftproof.simulators.laws import certificate as written
from draftproof.simulators.laws import decode, enumerate, verdict
from draftproof.simulators.laws.certificate import (
    Answers,
    Choice,
    of_instance,
    of_law,
    of_optimum,
    of_stateless,
)
from draftproof.simulators.laws.check import applies
from draftproof.simulators.laws.optimum import drafted, full_information, stateless
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts import stratified, tree
from draftproof.theory.drafts.best_first import BestFirst
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.emission import Emission
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import ONE, text
from draftproof.theory.rows import possible, scale
from draftproof.theory.table import Table
from draftproof.theory.verifiers import VERIFIERS, named
from tests.proofs_check.certified import SOURCES, edited, put

PAIR = ((), ())
TOY, TWO = scenario("toy", Chain(2)), Randoms(Tree(PAIR), 3, 2)[1]


def certificate(*cases):
    """The certificate of verifiers, by name, on instances; NAME/2 is judged over two calls."""
    parts = []
    for instance, *spelled in cases:
        parts.append(of_instance(instance))
        for name, _, calls in (each.partition("/") for each in spelled):
            found = judge(instance, named(name), int(calls or 0) or None)
            parts.append(of_law(instance, named(name), found, int(calls or 0)))
    return "".join(parts)


def everywhere():
    """Every verifier on a few instances of every draft that it is made for."""
    drafts = [*deep(2), *shallow(), Chain(1), Chain(3), BestFirst(3, 2)]
    for draft in drafts:
        instances = [*Randoms(draft, 3 if draft.depth == 1 else 2, 2), Scenarios(draft, 2)[1]]
        for instance in instances:
            yield instance, *(name for name, verifier in VERIFIERS.items() if applies(verifier, instance))


def test_every_verifier_s_law_is_accepted(checker):
    accepted, said = checker(certificate(*everywhere()))
    assert accepted, said
    lossless, lossy = map(int, re.findall(r"(\d+) (?:laws )?that are", said))
    assert lossless > 500
    assert lossy > 5


STATES = (Chain(2), "greedy-block"), (Chain(1), "hsd-naive"), (Chain(2), "token")


@pytest.mark.parametrize("calls", [1, 2, 3])
@pytest.mark.parametrize(("draft", "name"), STATES)
def test_the_text_of_several_calls(checker, draft, name, calls):
    instance = Randoms(draft, 2, 3)[2]
    line = of_law(instance, named(name), judge(instance, named(name), calls), calls)
    assert checker(of_instance(instance) + line)[0]


# ----------------------------------------------------------------------
# A program with a fault: the certificate that it writes is refused


CASES = (
    (scenario("toy", Chain(2)), "token", "block", "hsd-released", "greedy-block"),
    (scenario("toy", Chain(2)), "hsd-released/2"),
    *((each, "block", "hsd", "greedy-block") for each in Randoms(Chain(2), 3, 2)),
    *((each, "rrs", "traversal", "nss") for each in Randoms(Tree(PAIR), 3, 2)),
    *((each, "specinfer", "traversal") for each in Randoms(Tree(PAIR, replacement=True), 3, 2)),
    *((each, "priority") for each in Randoms(Stratified(PAIR), 3, 2)),
)


def skewed_choose(self, row):
    self._at += 1
    if self._at > len(self._trail):
        weight = self.weight
        self._branch(
            [(x, weight * row[(x + 1) % len(row)]) for x, mass in __builtins__["enumerate"](row) if mass > 0]
        )
    return self._trail[self._at - 1][-1][0]


def swapped_accept(self, probability):
    self._at += 1
    if self._at > len(self._trail):
        weight, both = self.weight, [(True, 1 - probability), (False, probability)]
        self._branch([(answer, weight * mass) for answer, mass in both if possible(mass)])
    return bool(self._trail[self._at - 1][-1][0])


def forgetful_next(self):
    self._at = 0
    while self._trail:
        self._trail.pop()
        if self._trail and len(self._trail[-1]) > 1:
            self._trail[-1].pop()
            return True
    return False


def unscaled_add(self, weight, node, row):
    prefix = node.prefix
    if row is self.target[prefix]:
        self.bonus[prefix] = self.bonus.get(prefix, fmpq(0)) + weight
    else:
        self.residual[prefix] = scale(weight / 2, row)
    self.stopped[len(prefix)] = self.stopped.get(len(prefix), fmpq(0)) + weight


def first_row_draw(self, oracle, proposal, context=()):
    return GOOD_CHAIN(self, oracle, Table(proposal.vocab, {(): proposal[(0,)]}), context)


def drawn_again(oracle, q, count):
    return [oracle.choose(q) for _ in range(count)]


def even_outcomes(program, start=ONE):
    found = list(GOOD_OUTCOMES(program, start))
    return ((start / len(found), result) for _, result in found)


def one_branch(run, answers=()):
    try:
        return run(Answers(answers))
    except Choice as choice:
        x, mass = next((x, mass) for x, mass in __builtins__["enumerate"](choice.args[0]) if mass)
        return [[text(mass), one_branch(run, (*answers, x))]]


GOOD_CHAIN, GOOD_OUTCOMES = Chain.draw, enumerate.outcomes
GOOD_CHOOSE, GOOD_STRATA = Answers.choose, stratified.from_strata
GOOD_WRONG = Emission.wrong_prefix

FAULTS = {
    "a draw has another token's mass": (enumerate.Enumerator, "choose", skewed_choose),
    "a coin is turned round": (enumerate.Enumerator, "accept", swapped_accept),
    "branches are left out": (enumerate.Enumerator, "next", forgetful_next),
    "residuals have half their mass": (Emission, "add", unscaled_add),
    "the extra token counts as accepted": (
        Emission,
        "expected_accepted",
        property(lambda self: sum((mass * (tau + 1) for tau, mass in self.stopped.items()), fmpq(0))),
    ),
    "every law is found right": (Emission, "wrong_prefix", lambda self, slack=0: None),
    "a right law is found wrong": (
        Emission,
        "wrong_prefix",
        lambda self, slack=0: GOOD_WRONG(self) or ((0,), fmpq(1, 2), self.target[()][0]),
    ),
    "what is left behind is not used": (decode, "carried", lambda verifier, target, *_: target),
    "joint laws are found equal": (verdict, "first_difference", lambda got, want, slack: None),
    "recorded coins are turned round": (Answers, "accept", lambda self, p: not self.choose((1 - p, p))),
    "recorded draws are even": (
        Answers,
        "choose",
        lambda self, row: GOOD_CHOOSE(self, (fmpq(1, len(row)),) * len(row)),
    ),
    "only one branch is recorded": (written, "branches", one_branch),
    "chains are drawn from one row": (Chain, "draw", first_row_draw),
    "a tree without replacement repeats tokens": (tree, "without_replacement", drawn_again),
    "all drafts are equally likely": (enumerate, "outcomes", even_outcomes),
    "strata are not drawn from": (stratified, "from_strata", drawn_again),
    "rows of contexts are forgotten": (Table, "__getitem__", lambda self, prefix: self._rows[()]),
}


def test_the_cases_are_accepted(checker):
    assert checker(certificate(*CASES))[0]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_program_with_a_fault_is_refused(checker, monkeypatch, fault):
    good = [certificate(case) for case in CASES]
    monkeypatch.setattr(*FAULTS[fault])
    refused = 0
    for case, before in zip(CASES, good, strict=True):
        first = before.index("\n") + 1  # the instance as it is: a table with a fault still has its rows
        try:
            lines = before[:first] + certificate(case).split("\n", 1)[1]
        except Exception:  # broken beyond a verdict
            continue
        refused += not checker(lines)[0]
    assert refused


# ----------------------------------------------------------------------
# A file with a fault


BLOCK = certificate((scenario("toy", Chain(2)), "block"))
"""Line 2: [[["1/4",[0,0]],["3/4",["0","1"]]],[0,1],[["1/2",[1,0]],["1/2",[1,"0","1"]]],[1,1]]."""
RELEASED = certificate((scenario("toy", Chain(2)), "hsd-released"))
TREE = certificate((Randoms(Tree(PAIR), 3, 2)[1], "rrs"))
BEST = of_instance(TOY) + of_optimum(TOY, drafted(TOY), full_information(TOY))
"""Line 2: a plan of 4 drafts and 4 blocks, {"of drafts":["0","0","1","2"],"of blocks":["2","2","1","0"],
"optimum":"4/3"}."""
RULE = of_instance(TOY) + of_stateless(TOY, stateless(TOY))
"""Line 2: {"law":"stateless optimum","accepted":"11/9","drafts":[[[["1",["1","0"]]],..]};
line 3: prices of 4 drafts and 8 words, {"of drafts":[..],"of blocks":[..],"optimum":"11/9"}."""
PAIRS = of_instance(TWO) + of_stateless(TWO, stateless(TWO))
INDEPENDENT = [[str(fmpq(draft * block, 81)) for block in (1, 2, 2, 4)] for draft in (4, 2, 2, 1)]
LISTED = certificate((Randoms(BestFirst(2, 1), 2, 2)[1], "nss"))

OF_LISTED = Randoms(BestFirst(2, 1), 2, 2)[1]
OWN = of_instance(OF_LISTED) + of_stateless(OF_LISTED, stateless(OF_LISTED))


def cheaper(price):
    return str(fmpq(*map(int, price.split("/"))) - fmpq(1, 90))


def dearer(price):
    return str(fmpq(*map(int, price.split("/"))) + fmpq(1, 90))


def all_cheaper(values):
    values[2]["of drafts"] = list(map(cheaper, values[2]["of drafts"]))
    values[2]["optimum"] = cheaper(values[2]["optimum"])


def shallower(values):
    values[0]["draft"]["shape"] = [[]]
    del values[1]


def moved(values):
    """Some mass of a draft that has two outputs goes from one to the other."""
    masses = next(each for each in values[1]["drafts"] if len(each) > 1)
    masses[0][0], masses[1][0] = cheaper(masses[0][0]), dearer(masses[1][0])


def negative(values):
    masses = next(each for each in values[1]["drafts"] if len(each) > 1)
    masses += [["-1/90", masses[0][1]], ["1/90", masses[0][1]]]


def listed_otherwise(values):
    values[0]["draft"]["drafts"][0][0] = cheaper(values[0]["draft"]["drafts"][0][0])
    values[0]["draft"]["drafts"][1][0] = dearer(values[0]["draft"]["drafts"][1][0])


EDITS = {
    "a coin": (BLOCK, put(1, "drafts", 0, 0, 0, to="1/3")),
    "both sides of a coin": (BLOCK, put(1, "drafts", 0, to=[["1/3", [0, 0]], ["2/3", ["0", "1"]]])),
    "a coin above one": (BLOCK, put(1, "drafts", 0, to=[["5/4", [0, 0]], ["-1/4", ["0", "1"]]])),
    "a residual": (BLOCK, put(1, "drafts", 2, 1, 1, to=[1, "1/2", "1/2"])),
    "a residual that is no law": (BLOCK, put(1, "drafts", 2, 1, 1, to=[1, "1/2", "1"])),
    "a residual that is too long": (BLOCK, put(1, "drafts", 2, 1, 1, to=[1, "0", "1", "0"])),
    "a stop": (BLOCK, put(1, "drafts", 1, to=[0])),
    "a stop outside the draft": (BLOCK, put(1, "drafts", 3, to=[1, 0])),
    "a verification left out": (BLOCK, put(1, "drafts", to=lambda l: l[:-1])),
    "one verification more": (BLOCK, put(1, "drafts", to=lambda l: [*l, l[-1]])),
    "two verifications changed": (BLOCK, put(1, "drafts", to=lambda l: [l[0], l[1], l[3], l[2]])),
    "the mean": (BLOCK, put(1, "accepted", to="4/3")),
    "the target": (BLOCK, put(0, "target", 0, 1, to=["1/2", "1/2"])),
    "the target is no law": (BLOCK, put(0, "target", 0, 1, to=["1/3", "1/3"])),
    "the proposal": (BLOCK, put(0, "proposal", 0, 1, to=["1/2", "1/2"])),
    "the vocabulary": (BLOCK, put(0, "vocab", to=3)),
    "the depth": (BLOCK, put(0, "draft", "shape", to=[[]])),
    "the draft": (BLOCK, put(0, "draft", to={"kind": "paths", "count": 1, "shape": [[]]})),
    "an unknown draft": (BLOCK, put(0, "draft", to={"kind": "oak", "shape": [[[]]]})),
    "with replacement": (TREE, put(0, "draft", "kind", to="tree+")),
    "a loss denied": (RELEASED, lambda values: values[1].pop("wrong")),
    "a loss invented": (BLOCK, put(1, "wrong", to={"prefix": [1, 0], "got": "1/3", "want": "2/9"})),
    "a loss without difference": (BLOCK, put(1, "wrong", to={"prefix": [1, 0], "got": "2/9", "want": "2/9"})),
    "another witness": (RELEASED, put(1, "wrong", "prefix", to=[1, 1])),
    "another probability": (RELEASED, put(1, "wrong", "got", to="4/9")),
    "several calls": (BLOCK, put(1, "calls", to=2)),
    "a listed draft's probability": (LISTED, put(0, "draft", "drafts", 0, 0, to="1/7")),
    "an optimum": (BEST, put(1, "optimum", to="5/3")),
    "another plan": (BEST, put(1, "plan", 0, to=["4/9", "0", "0", "0"])),
    "a plan of less worth": (BEST, put(1, "plan", to=INDEPENDENT)),
    "a negative mass": (BEST, put(1, "plan", 1, to=["1/9", "2/9", "-1/9", "0"])),
    "a plan without a draft": (BEST, put(1, "plan", to=lambda l: l[1:])),
    "a price of a draft": (BEST, put(1, "of drafts", 0, to="-1")),
    "prices too high": (BEST, put(1, "of blocks", to=["3", "3", "2", "1"])),
    "no price": (BEST, put(1, "of blocks", to=[])),
    "a price of a draft without state": (RULE, put(2, "of drafts", 0, to=cheaper)),
    "prices of all drafts too low, with their value": (RULE, all_cheaper),
    "a price of a word": (RULE, put(2, "of blocks", 7, to=cheaper)),
    "a price of a word too high": (RULE, put(2, "of blocks", 0, to=dearer)),
    "a word without a price": (RULE, put(2, "of blocks", to=lambda l: l[:-1])),
    "a draft without a price": (RULE, put(2, "of drafts", to=lambda l: l[1:])),
    "a bound below the optimum": (RULE, put(2, "optimum", to="109/90")),
    "a bound above its prices": (RULE, put(2, "optimum", to="37/30")),
    "prices of another target": (RULE, put(0, "target", 0, 1, to=["1/2", "1/2"])),
    "prices of another proposal": (RULE, put(0, "proposal", 0, 1, to=["1/2", "1/2"])),
    "prices of a shallower draft": (RULE, shallower),
    "a mass moved to another output": (PAIRS, moved),
    "a mass moved to another draft": (RULE, put(1, "drafts", to=lambda l: [l[0], l[2], l[1], l[3]])),
    "a negative mass without state": (PAIRS, negative),
    "masses without a draft's probability": (PAIRS, put(1, "drafts", 1, 0, 0, to=dearer)),
    "a lower bound too high": (RULE, put(1, "accepted", to="37/30")),
    "a lower bound too low": (RULE, put(1, "accepted", to="109/90")),
    "a probability of a listed draft": (OWN, listed_otherwise),
    "no instance": (BLOCK, lambda values: values.pop(0)),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_file_with_a_fault_is_refused(checker, edit):
    lines, change = EDITS[edit]
    assert checker(edited(lines, lambda values: None))[0]
    assert not checker(edited(lines, change))[0]


TEXTS = {
    "a line cut short": (lambda s: s[:-9] + "\n", "line 2: refused: the line ends too early"),
    "something after it": (lambda s: s[:-1] + "]\n", "line 2: refused: something follows"),
    "a zero below": (lambda s: s.replace('"3/4"', '"3/0"'), "line 2: refused: a denominator is zero"),
    "no JSON": (lambda s: "law\n" + s, "line 1: refused: no value at column 0"),
    "a decimal": (lambda s: s.replace('"3/4"', "0.75"), "line 2: refused: no ]"),
    "nothing": (lambda s: "", "accepted: 0 laws"),
    "the instance alone": (lambda s: s[: s.index("\n") + 1], "accepted: 0 laws"),
}


@pytest.mark.parametrize("fault", TEXTS)
def test_what_is_no_certificate_is_refused_in_one_line(checker, fault):
    edit, expected = TEXTS[fault]
    accepted, said = checker(edit(BLOCK))
    assert not accepted
    assert said.startswith(expected)
    assert said.count("\n") == 1


# ----------------------------------------------------------------------
# The commands


def test_law_writes_one(checker, command, tmp_path, toy):
    file = tmp_path / "law.jsonl"
    for name, calls in (("block", 1), ("hsd-released", 1), ("greedy-block", 2), ("greedy-block", 1)):
        status, _, _ = command("law", toy, "--verifier", name, "--iterations", calls, "--certificate", file)
        accepted, said = checker(file.read_text())
        assert accepted
        assert f"{1 - status} laws that are the target's, {status} that are not" in said


def test_check_writes_one_of_instances_and_text(checker, command, tmp_path, toy):
    file = tmp_path / "check.jsonl"
    for more in ([toy], ["--text", __file__, "--vocab", 2, "--depth", 1]):
        status, out, _ = command("check", *more, "--json", "--certificate", file)
        assert status == 0
        results = json.loads(out)["results"]
        accepted, said = checker(file.read_text())
        assert accepted
        right = sum(each["lossless"] for each in results)
        assert f"{right} laws that are the target's, {len(results) - right} that are not" in said


def test_check_writes_one_against_declared_laws(checker, command, tmp_path, toy):
    file = tmp_path / "check.jsonl"
    for law, more in (("own", ()), ("interpolation:1/4", ()), ("interpolation:1/4", ("--verifier", "token"))):
        status, out, _ = command("check", toy, "--against", law, *more, "--json", "--certificate", file)
        assert status == bool(more)
        lossless = [each["lossless"] for each in json.loads(out)["results"]]
        accepted, said = checker(file.read_text())
        assert accepted
        assert f"{sum(lossless)} laws that are the target's, {lossless.count(False)} that are not" in said
    assert not checker(edited(file.read_text(), lambda values: values[1].pop("wrong")))[0]
    of_target = edited(file.read_text(), put(0, "target", to=json.loads(of_instance(TOY))["target"]))
    assert not checker(of_target)[0]  # token verification follows p


def test_gap_writes_one(checker, command, tmp_path):
    file, path = tmp_path / "gap.jsonl", tmp_path / "instance.json"
    for draft in (Chain(2), Tree(PAIR, replacement=True), Paths(2, 2), BestFirst(2, 1), TopK(PAIR)):
        path.write_text(json.dumps(document(Randoms(draft, 2, 2)[1])), encoding="utf-8")
        status, out, _ = command("gap", path, "--certificate", file, "--json")
        assert status == 0
        *_, rule, prices = map(json.loads, file.read_text().splitlines())
        shown = json.loads(out)["certificates"]["stateless"]
        assert shown == {"lower": rule["accepted"], "upper": prices["optimum"]}
        accepted, said = checker(file.read_text())
        assert accepted
        assert "1 laws that are the target's, 0 that are not" in said
        assert "optima: 1, bounds of rules without state: 1" in said


def test_the_stateless_optimum_of_every_draft_and_of_rows_with_zeros(checker):
    drafts = [*deep(2), *shallow(), Chain(1), Chain(3), BestFirst(3, 2)]
    cases = [each for draft in drafts for each in (Randoms(draft, 3, 2, seed=5)[1], Scenarios(draft, 2)[1])]
    for p, q in (([1, 0], [0, 1]), (["1/2", "1/2", 0], ["1/8", "3/4", "1/8"]), ([0, 1], [0, 1])):
        cases += [context_free(p, q, Chain(2)), context_free(p, q, Paths(2, 2))]
    lines = (of_instance(each) + of_stateless(each, stateless(each)) for each in cases)
    accepted, said = checker("".join(lines))
    assert accepted, said
    assert f"bounds of rules without state: {len(cases)}" in said


def test_prove_writes_one_of_a_refutation(checker, command, tmp_path):
    file = tmp_path / "prove.jsonl"
    for rule in (["hsd-released"], ["token", "--against", "interpolation:1/4"]):
        assert command("prove", *rule, "--certificate", file)[0] == 1
        assert checker(file.read_text()) == (
            True,
            "accepted: 0 laws that are the target's, 1 that are not, on 1 instances\n",
        )


README = (SOURCES.parents[1] / "README.md").read_text(encoding="utf-8")


def test_check_counts_what_has_none(command, tmp_path, toy):
    file, mine = tmp_path / "check.jsonl", tmp_path / "mine.py"
    mine.write_text(README.split('title="mine.py"')[1].split("```")[0], encoding="utf-8")
    for more, without in (
        (("--verifier", f"{mine}:verify"), "1 verdict without a certificate: in floats"),
        ((), ""),
    ):
        _, _, err = command("check", toy, "--verifier", "token", *more, "--certificate", file)
        assert without in err
        assert ("without" in err) == bool(without)
        assert file.read_text().count('"law"') == 1


def test_there_is_none_of_keys_and_floats(command, tmp_path, toy):
    file, batch, mine = (tmp_path / name for name in ("law.jsonl", "batch.json", "mine.py"))
    mine.write_text(README.split('title="mine.py"')[1].split("```")[0], encoding="utf-8")
    batch.write_text(json.dumps(document(witness("tetris"))), encoding="utf-8")
    for arguments, why in (
        (("law", toy, "--verifier", f"{mine}:verify"), "goes without --keys and floats"),
        (("law", toy, "--verifier", "token", "--keys", "dual-key"), "goes without --keys"),
        (("prove", "token", "--every-size"), "goes without --every-size"),
        (("gap",), "goes with an instance"),
        (("gap", batch), "one instance is needed"),
    ):
        status, _, err = command(*arguments, "--certificate", file)
        assert status == 2
        assert why in err
        assert err.count("\n") == 1
        assert not file.exists()
