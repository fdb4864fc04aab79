"""What a size cannot show is said beside every verdict at that size, and nowhere else."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import draftproof as dp
from draftproof.simulators.instances.files import document
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.tree import Tree

BROKEN = """
from draftproof.theory.rows import excess, normalise, one, scale, share

def verify(oracle, draft, target):  # the residual of the first rejection is spread evenly over its tokens
    node = draft.root
    p, q = target[node.prefix], node.proposal
    for child in node.children:
        if oracle.accept(share(p[child.token], q[child.token])):
            return child, target[child.prefix]
        p = normalise(excess(p, q))
        count = sum(x > 0 for x in p)
        p = tuple(one(p) / count if x > 0 else x * 0 for x in p)
    return node, p
"""
SWEPT = """
metrics = ["check"]
verifiers = ["broken.py:verify"]
drafts = ["tree+:2x1"]
vocabularies = [{vocab}]
rows = "scenarios"
"""
FEW, SHALLOW = "vocab=2 cannot show", "depth=1 cannot show"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("broken.py").write_text(BROKEN)
    for vocab in (2, 3):
        for name, draft in (("tree", Tree(((), ()), True)), ("chain", Chain(2))):
            instance = scenario("toy", draft, vocab)
            Path(f"{name}{vocab}.json").write_text(json.dumps(document(instance)))


@pytest.mark.parametrize(
    ("given", "name", "said"),
    [
        ("tree2", "broken.py:verify", (FEW, SHALLOW)),
        ("tree3", "specinfer", (SHALLOW,)),
        ("chain2", "block", (FEW,)),
        ("chain2", "token", (FEW,)),
        ("chain3", "block", ()),
        ("chain2", "hsd-released", ()),
    ],
)
@pytest.mark.parametrize("asked", ["law", "check"])
def test_law_and_check(place, command, asked, given, name, said):
    for as_json in ([], ["--json"]):
        jobs = ["--jobs", 1] if asked == "check" else []
        _, out, _ = command(asked, f"{given}.json", "--verifier", name, *jobs, *as_json)
        assert tuple(each for each in (FEW, SHALLOW) if each in out) == said
    found = json.loads(out)
    assert ("not_shown" in (found if asked == "law" else found["summary"][0])) == bool(said)
    assert asked == "law" or ("not_shown" in found["results"][0]) == bool(said)


@pytest.mark.parametrize("vocab", [2, 3])
def test_a_sweep_and_its_page(place, command, vocab):
    pytest.importorskip("duckdb")
    Path("own.toml").write_text(SWEPT.format(vocab=vocab))
    status, out, _ = command("sweep", "own.toml", "--workers", 1)
    assert (status, FEW in out) == (0, vocab == 2)
    assert ("lossy" in out) == (vocab == 3)  # the fault, which V = 2 cannot show
    (line,) = json.loads(command("sweep", "own.toml", "--workers", 1, "--json")[1])["summary"]
    assert (FEW in line.get("not_shown", "")) == (vocab == 2)
    assert command("report", "results/own")[0] == 0
    assert (FEW in Path("report.html").read_text()) == (vocab == 2)


@pytest.mark.parametrize(("vocab", "depth", "said"), [(2, 1, FEW), (3, 1, SHALLOW), (3, 2, "")])
def test_an_audit(vocab, depth, said):
    def verify(p, q, x, rng):
        return [int(rng.choice(len(p[0]), p=p[0]))]

    report = dp.examine(verify, vocab=vocab, depth=depth, edges=False)
    assert report.lossless
    assert said in str(report)
    assert bool(said) == bool(report.not_shown) == ("not_shown" in report.to_dict())


PASSING = """
def test_ours(assert_lossless):
    assert_lossless(lambda p, q, x, rng: [int(rng.choice(len(p[0]), p=p[0]))], vocab=2)
"""


def test_pytest_says_so(tmp_path):
    (tmp_path / "test_ours.py").write_text(PASSING)
    command = [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", tmp_path, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert FEW in done.stdout, done.stdout + done.stderr
