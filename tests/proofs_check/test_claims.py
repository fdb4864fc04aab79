"""The registry: every verdict can be had again, the page is fresh, every source is known."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from runpy import run_path

import pytest

from draftproof import commands
from draftproof.proofs_check.claims import CHECKS, CLAIMS, SUBJECTS, of_entry, quantities
from draftproof.proofs_check.claims.claim import EVERY, REFUTED, SIZES, THEOREM, UNDECIDED
from draftproof.proofs_check.claims.every_size import CodeRun, Stated
from draftproof.proofs_check.claims.review import QUICK
from draftproof.proofs_check.claims.topics import trees
from draftproof.simulators.commands.entry import enter
from draftproof.simulators.instances.randoms import Randoms
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.rows import point
from draftproof.theory.selection import RULES
from draftproof.theory.verifiers import VERIFIERS, block, token
from tests.mutants.edits import edited
from tests.mutants.selections import SELECTIONS, rule

ROOT = Path(__file__).parents[2]
RUN = {"lifted", "k-seq", "lifted-k-seq", "priority", "lifted-priority", "optimal", "lifted-optimal"}
"""Verifiers whose own code is run at every size; of the others a theorem is about it."""
FAST = [claim for claim in CLAIMS.values() if claim.seconds <= 1]
SLOW = [
    pytest.param(claim, id=claim.key)
    for claim in CLAIMS.values()
    if claim.seconds > QUICK  # `draftproof claims` decides the others
]


@pytest.mark.parametrize("claim", FAST, ids=lambda claim: claim.key)
def test_verdict(claim):
    assert claim.check() == claim.verdict


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("claim", SLOW)
def test_verdict_that_takes_longer(claim):
    assert claim.check() == claim.verdict


def test_every_verifier_is_judged():
    judged = {getattr(claim.check, "verifier", None) for claim in CLAIMS.values()}
    judged |= {name for claim in CLAIMS.values() for name in getattr(claim.check, "verifiers", ())}
    judged |= {key.removesuffix("-search").removesuffix("-lossless") for key in CLAIMS}
    assert judged >= set(VERIFIERS) - {"typical"}
    assert "typical-lossless" in CLAIMS


def test_a_verdict_that_differs_is_said_so(capsys, monkeypatch):
    key = "token-lossless"
    monkeypatch.setitem(CLAIMS, key, replace(CLAIMS[key], verdict=SIZES))
    status = enter(commands(), ["claims", key])
    assert status == 1
    assert "NOT every verdict is as recorded" in capsys.readouterr().out


def test_the_page_is_fresh():
    made = run_path(str(ROOT / "docs" / "claims_page.py"))
    assert (ROOT / "docs" / "claims.md").read_text(encoding="utf-8") == made["page"]()


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.key)
def test_verdicts_are_of_the_known_kinds(claim):
    searched = re.fullmatch(r"no counterexample in [\d,]+ exact instances", claim.verdict)
    assert claim.verdict in (EVERY, THEOREM, SIZES, REFUTED) or searched


def test_what_is_stated_has_a_machine_proof():
    """No claim rests on an argument alone."""
    for claim in CLAIMS.values():
        typed = isinstance(claim.check, Stated)
        assert typed == (claim.verdict == THEOREM), claim.key
        assert claim.behind, claim.key
        assert claim.rocq or "Rocq" not in claim.behind, claim.key
        run = isinstance(claim.check, CodeRun)
        assert run == (claim.verdict == EVERY), claim.key
        ways = {name in RUN for name in claim.check.verifiers} if run else set()
        assert ("code run" in claim.behind) == (True in ways), claim.key
        assert "Rocq" in claim.behind or ways != {False}, claim.key


def test_a_theorem_is_about_the_code_as_it_is(monkeypatch):
    """What a theorem says of verifiers is not taken from its text."""
    assert Stated(("token",))() == THEOREM
    assert Stated(("priority",))() == Stated(("hsd-released",))() == UNDECIDED
    above = CLAIMS["block-above-token"]
    assert above.check() == above.verdict == THEOREM
    flawed = edited(block, ("share(w[-1] * p[x], q[x])", "share(w[-1] * p[x], q[x]) / 2"))
    monkeypatch.setitem(VERIFIERS, "block", flawed)
    assert above.check() == UNDECIDED


BATCHES = "predictable-selection", "tetris-repaired-lossless"


@pytest.mark.parametrize("key", BATCHES)
def test_a_batch_of_a_broken_verifier_is_not_proved(key, monkeypatch):
    """The residual at the first dropped token is left out."""
    flawed = edited(token, ("return node, normalise(excess(p, q))", "return node, p"))
    monkeypatch.setitem(VERIFIERS, "token", flawed)
    assert CLAIMS[key].check() == UNDECIDED


def test_broken_repairs_of_tetris_are_not_proved(monkeypatch):
    repaired = RULES["tetris-repaired"]
    lossless, accepts = (CLAIMS[f"tetris-{key}"] for key in ("repaired-lossless", "repaired-accepts"))
    with monkeypatch.context() as other:  # the first dropped token is read and not judged
        other.setitem(RULES, "tetris-repaired", replace(repaired, ahead=False))
        assert lossless.check() == UNDECIDED
    with monkeypatch.context() as other:  # a right rule, but not TETRIS' own tokens
        other.setitem(RULES, "tetris-repaired", replace(repaired, select=RULES["dspark"].select))
        assert accepts.check() == UNDECIDED


@pytest.mark.parametrize("select", SELECTIONS, ids=lambda each: each.__name__)
def test_predictable_selection_is_of_every_rule_that_is_declared_so(select, monkeypatch):
    claim = CLAIMS["predictable-selection"]
    assert set(claim.check.rules) == {each.name for each in RULES.values() if each.predictable}
    monkeypatch.setitem(RULES, "fixed", rule(select, True))
    assert claim.check() == UNDECIDED


def test_every_machine_proof_is_in_the_rocq_files():
    files = (ROOT / "proofs_check" / "rocq").glob("*.v")
    stated = set(re.findall(r"^(?:Theorem|Lemma|Corollary) (\w+)", "".join(map(Path.read_text, files)), re.M))
    proved = [claim for claim in CLAIMS.values() if "Rocq" in claim.behind]
    assert len(proved) >= 15
    assert {claim.rocq for claim in proved} <= stated


def test_every_check_is_of_a_claim_that_does_not_say_how_it_is_checked():
    table = tomllib.loads((ROOT / "proofs_check" / "claims" / "claims.toml").read_text(encoding="utf-8"))
    ways = {"code", "theorem", "lossless", "follows", "equal", "never_below"}
    assert {key for key, entry in table.items() if not ways & entry.keys()} == CHECKS.keys()
    assert sum(len(subject.CHECKS) for subject in SUBJECTS) == len(CHECKS)
    with pytest.raises(TypeError, match="colde"):
        of_entry("token-lossless", {"statement": "", "source": "", "scope": "", "colde": ["token"]})


def test_every_source_is_in_the_references():
    known = set(re.findall(r"@\w+\{(\w+),", (ROOT / "references.bib").read_text(encoding="utf-8")))
    for source in [claim.source for claim in CLAIMS.values()]:
        cited = set(re.findall(r"\b[a-z]+20\d\d[a-z0-9]+", source))
        assert cited <= known
        assert cited or source.startswith(("our", "open", "draftproof")), source


def test_claims_about_trees_refuse_other_rules_and_trees(monkeypatch):
    """NaiveTree accepts less than naive sampling; a tree of two levels has not the most of q."""
    pairs = list(Randoms(TopK(every(2, 1)), 3, 8))
    assert not all(trees._best_tree(replace(each, draft=TopK(every(2, 2)))) for each in pairs)
    monkeypatch.setattr(quantities, "named", lambda name: replace(token.VERIFIER, verify=first_child_only))
    assert not all(trees._all_of_the_tree(each) for each in pairs)


def first_child_only(oracle, draft, target):
    """Naive sampling that leaves out all children but the first."""
    x = oracle.choose(target[draft.root.prefix])
    first = draft.root.children[0]
    return (first, target[first.prefix]) if x == first.token else (draft.root, point(x, target[()]))
