"""`audit --exec`: the C++ program of the docs, broken versions of it, and programs that misbehave."""

import re
import subprocess
import sys

import pytest

from draftproof.simulators.audit import examine
from draftproof.simulators.audit.battery import CORE
from draftproof.simulators.audit.judge.exact import case
from draftproof.simulators.audit.sandbox import sandboxed
from draftproof.simulators.audit.targets.programs import ForeignProgram
from draftproof.simulators.commands.audit import audit
from draftproof.simulators.commands.vectors import vectors
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from tests.simulators.audit.page_program import can_compile, compiled

SMALL = {"vocab": 2, "depth": 1}
FEW = [scenario(name, Chain(1), 2) for name in CORE[:2]]

BROKEN = {
    "a residual without the weight": ("weight * p[x] - q[x]", "p[x] - q[x]"),
    "an extra token that is always the likeliest": (
        "draw(last, uniforms.next())",
        "int(std::max_element(last.begin(), last.end()) - last.begin())",
    ),
    "one uniform for two choices": ("draw(last, uniforms.next())", "draw(last, uniforms.given[0])"),
    "token verification's test along the path": ("weight[i] * p[i]", "p[i]"),
}
"""What is wrong with the program -> (its text, the broken text)."""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A function that compiles the program of the page, with a replacement, and returns its path."""
    if not can_compile():
        pytest.skip("needs g++ and nlohmann-json")
    folder = tmp_path_factory.mktemp("cpp")
    return lambda name, *replacement: compiled(folder / name, *replacement)


def test_the_program_of_the_page_is_lossless_and_follows_the_vectors(program, tmp_path):
    block = program("block")
    report = examine(ForeignProgram(block), instances=FEW)
    assert report.lossless, str(report)
    assert not report.findings
    assert report.adapter == "foreign program, coins by bisection"
    file = tmp_path / "block.json"
    assert vectors.main(["block", "--output", str(file)], standalone_mode=False) == 0
    done = subprocess.run([block, file], capture_output=True, text=True, check=True)
    calls, wrong = map(int, re.findall(r"\d+", done.stdout))
    assert calls > 100
    assert wrong == 0


@pytest.mark.slow
def test_the_program_of_the_page_is_lossless_on_longer_drafts(program):
    longer = [scenario(name, Chain(2), 3) for name in CORE]
    report = examine(ForeignProgram(program("longer")), instances=longer)
    assert report.lossless, str(report)


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_broken_programs_are_found_with_a_witness(program, name):
    report = examine(ForeignProgram(program(name.replace(" ", "_").replace("'", ""), *BROKEN[name])))
    assert report.status == 1, str(report)
    assert report.to_dict()["witness"] is not None
    assert report.failing.instance.draft.depth <= 2


@pytest.mark.slow
def test_a_broken_program_is_found(program):
    name = "an extra token that is always the likeliest"
    report = examine(ForeignProgram(program("likeliest", *BROKEN[name])), instances=FEW)
    assert report.status == 1
    assert "its law is not the target's" in str(report)


def python(tmp_path, body, name="program.py"):
    """The command of a Python program that reads questions in a loop with this body."""
    path = tmp_path / name
    lines = "".join(f"    {line}\n" for line in body.strip().split("\n"))
    path.write_text(
        "import json, random, sys, time\n"
        "asked = 0\n"
        "for line in sys.stdin:\n"
        "    asked += 1\n"
        "    q = json.loads(line)\n"
        "    p, r, x, u = (q[k] for k in ('target_probs', 'draft_probs', 'draft_tokens', 'uniforms'))\n"
        f"{lines}"
        "    print(json.dumps(answer), flush=True)\n"
    )
    return f"{sys.executable} {path}"


TARGET_ALONE = "answer = {'tokens': [next((t for t in (0,) if u[0] < p[0][t]), 1)]"


def test_a_program_without_used_and_with_need(tmp_path):
    greedy = python(tmp_path, TARGET_ALONE + "} if len(u) > 2 else {'need': 3}")
    target = ForeignProgram(greedy)
    with sandboxed(10, target.namespace) as sandbox:
        found = case(target, sandbox, scenario("toy", Chain(1), 2))
    assert found.lossless
    assert found.expected_accepted == 0


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.exit('no rows')", "at the first question: dies: its exit status is 1: no rows"),
        ("answer = [1]", "at the first question: returns garbage: '[1]' is no answer"),
        ("print('hello')\nanswer = {}", "'hello' is no answer"),
        ("time.sleep(60)", "at the first question: dies: its exit status is -9"),
    ],
)
def test_a_program_that_does_not_answer_is_bad_input(body, said, tmp_path, monkeypatch):
    if "sleep" in body:
        monkeypatch.setattr("draftproof.simulators.audit.targets.programs.PATIENCE", 0.5)
    with pytest.raises(BadInput, match=re.escape(said)):
        ForeignProgram(python(tmp_path, body))


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("if asked > 3: sys.exit('enough')\n" + TARGET_ALONE + "}", 1, "dies: its exit status is 1: enough"),
        ("answer = {'tokens': [7]}", 1, "leaves the vocabulary"),
        ("answer = {'tokens': 'x'}", 1, "is not a list of token ids"),
        ("answer = {'tokens': [0], 'used': -1}", 1, "used is -1"),
        ("answer = {'tokens': [0], 'used': 99}", 1, "it used 99 uniforms of 2"),
        ("answer = {'need': 'many'}", 1, "need is 'many'"),
        ("answer = {'need': 10**6}", 3, "it asks for 1,000,000 uniforms"),
        ("answer = {'tokens': [random.randrange(2)]}", 1, "the same coins give different results"),
        ("if asked > 3: time.sleep(60)\n" + TARGET_ALONE + "}", 3, "took more than 0.5 s once, and not when"),
    ],
)
@pytest.mark.sampled(4)
def test_programs_that_misbehave_are_named(body, status, said, tmp_path):
    report = examine(ForeignProgram(python(tmp_path, body)), seconds=0.5, runs=100, edges=False, **SMALL)
    assert report.status == status, str(report)
    assert said in str(report)


@pytest.mark.parametrize(
    ("command", "said"),
    [("no-such-program", "cannot be started"), ("", "is empty"), ("'", "No closing quotation")],
)
def test_commands_that_cannot_be_started(command, said):
    with pytest.raises(BadInput, match=said):
        ForeignProgram(command)


@pytest.mark.parametrize("options", [["f.py:f", "--exec", "x"], [], ["--exec", "x", "--loop"]])
def test_options_that_exclude_each_other(options):
    with pytest.raises(BadInput):
        audit.main(options, standalone_mode=False)
