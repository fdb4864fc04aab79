"""Proofs at every size from the verifiers' own code, and broken code that they refuse."""

import inspect
import sys
from dataclasses import replace
from types import ModuleType

import pytest

from draftproof.proofs_check.every_size import contracts, prove_every_size
from draftproof.proofs_check.every_size.machine.flow import NotFollowed, flow_of
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.verifier import ALL
from draftproof.theory.verifiers import (
    VERIFIERS,
    block,
    greedy_block,
    hsd,
    hsd_naive,
    k_seq,
    lifted,
    lifted_k_seq,
    lifted_priority,
    named,
    nss,
    one_hot,
    priority,
    rrs,
    specinfer,
    token,
    traversal,
)
from draftproof.theory.verifiers.shared import modified_target, optimal
from draftproof.theory.verifiers.shared.modified_target import carry
from tests.mutants.edits import edited
from tests.proofs_check.rocq.code import FILES
from tests.proofs_check.rocq.compiled import SOURCES
from tests.proofs_check.rocq.test_rocq import THEOREMS as ROCQ

RUN = ("lifted", "k-seq", "lifted-k-seq", "priority", "lifted-priority", "optimal", "lifted-optimal")


@pytest.mark.parametrize("name", RUN)
@pytest.mark.sampled(4)
def test_proved_by_a_run_of_its_own_code(name):
    proof = prove_every_size(named(name), seconds=300)
    assert proof.verdict == "proved", proof.why
    assert proof.claims
    assert proof.cells > 0
    assert not proof.theorem


THEOREMS = {
    "token": "chain",
    "block": "chain",
    "hsd": "chain",
    "greedy-block": "chain",
    "hsd-naive": "chain",
    "specinfer": "chain, tree with replacement",
    "rrs": "chain, paths, tree without replacement",
    "traversal": "chain, paths, tree with replacement, tree without replacement",
    "naive-tree": "chain, paths, tree with replacement, tree without replacement",
    "nss": "every draft",
    "one-hot": "every draft",
    "hu-greedy": "greedy",
}
"""Verifier -> the drafts that its theorem in Rocq is about."""


@pytest.mark.parametrize("name", THEOREMS)
def test_proved_by_a_theorem_about_its_own_code(name):
    proof = prove_every_size(rule := named(name))
    assert (proof.verdict, proof.cells, proof.claims) == ("proved", 0, [])
    assert proof.theorem.endswith("_code_lossless")
    about = sorted(ALL) if THEOREMS[name] == "every draft" else THEOREMS[name].split(", ")
    assert sorted(rule.drafts) == about
    assert (rule.carry is carry) == (name in ("greedy-block", "hsd-naive"))
    assert contracts.theorem_of(replace(rule, drafts=("other",))) == ""
    assert contracts.theorem_of(replace(rule, carry=prove_every_size)) == ""


def test_every_theorem_is_one_of_rocq_about_that_code():
    """Its statement names the function, as a program wrote it from the modules of which the hash is."""
    files = {path.stem: path.read_text() for path in SOURCES.glob("*.v")}
    assert len(contracts.THEOREMS) == len(THEOREMS)
    for function, (theorem, _, modules) in contracts.THEOREMS.items():
        file, *others = (module.__name__.rpartition(".")[2] for module in modules)
        assert function.__module__.endswith(f".{file}")
        assert {file, *others} - {"modified_target"} <= {*FILES}
        [where] = [stem for stem, names in ROCQ.items() if theorem in names]
        statement = files[where].partition(f"Theorem {theorem} :")[2].partition("Proof.")[0]
        if function in (greedy_block.verify, hsd_naive.verify):  # of the texts that its calls emit
            assert f"{theorem.split('_code')[0].split('_')[-1]}_code_text" in statement
            assert f"({file}.verify V)" in files[where]
        else:
            assert f"({file}.verify V)" in statement


COPIED = token, nss, priority
NOT_COPIED = {
    "one-hot": "p is not known where it is read",
    "rrs": "p is not known where it is read",
    "specinfer": "p is not known where it is read",
    "traversal": "line 4: a loop over Children",
    "naive-tree": "an item of Children",
    "block": "line 7: an assignment of the path's nodes as a list is not followed",
    "hsd": "line 3: an assignment of the path's nodes as a list is not followed",
    "greedy-block": "a target that is left behind is not followed at every size",
    "hsd-naive": "a target that is left behind is not followed at every size",
}
"""Verifiers with a theorem -> why a copy of their code, which has none, is undecided."""


@pytest.mark.parametrize("module", COPIED, ids=lambda each: each.__name__)
def test_a_copy_is_run(module):
    proof = prove_every_size(edited(module))
    assert (proof.verdict, proof.theorem) == ("proved", "")
    assert len(proof.claims) == 1


@pytest.mark.parametrize("name", NOT_COPIED)
def test_a_copy_that_is_not_followed_says_why_in_one_line(name):
    proof = prove_every_size(edited(sys.modules[named(name).verify.__module__]))
    assert (proof.verdict, proof.theorem) == ("undecided", "")
    assert NOT_COPIED[name] in proof.why
    assert "\n" not in proof.why


@pytest.mark.parametrize("module", [token, hsd_naive, hsd, modified_target], ids=lambda each: each.__name__)
def test_a_theorem_is_void_when_the_code_has_changed(module, monkeypatch):
    known = contracts.digest
    changed = lambda *modules: "another" if module in modules else known(*modules)  # noqa: E731
    monkeypatch.setattr(contracts, "digest", changed)
    about = {rule: modules for rule, (_, _, modules) in contracts.THEOREMS.items() if module in modules}
    assert about
    for rule in VERIFIERS.values():
        if rule.verify in about:
            proof = prove_every_size(rule)
            assert proof.verdict == "undecided"
            theorem, _, _ = contracts.THEOREMS[rule.verify]
            assert f"{rule.name} has changed since {theorem} was proved in Rocq" in proof.why


@pytest.mark.parametrize(
    "rule", [each for each in VERIFIERS.values() if not each.lossless], ids=lambda each: each.name
)
def test_what_is_lossy_is_not_proved(rule):
    assert prove_every_size(rule).verdict == "undecided"


def loop(module: ModuleType, head: str, end: str = "    return (") -> str:
    """The source of a loop, up to what follows it."""
    source = inspect.getsource(module)
    return head + source.partition(head)[2].partition(end)[0]


ACCEPT = "if not oracle.accept(share(p[x], q[x])):"
HOSTILE = {
    "accepts too often and makes up for it with a row that is no law": (
        token,
        (ACCEPT, "if not oracle.accept(1 - (1 - share(p[x], q[x])) / 1000):"),
        ("normalise(excess(p, q))", "scale_up(p, q)"),
        ("VERIFIER =", "def scale_up(p, q):\n    return add(scale(1000, p), scale(-999, q))\n\n\nVERIFIER ="),
        ("import excess,", "import add, scale, excess,"),
    ),
    "wrong only where p equals q": (
        token,
        (ACCEPT, "if p[x] == q[x] or not oracle.accept(share(p[x], q[x])):"),
    ),
    "wrong only at a threshold": (
        token,
        (ACCEPT, "if p[x] > 1 - q[x] and not oracle.accept(share(p[x], q[x])):"),
    ),
    "a coin below 0": (token, ("share(p[x], q[x])", "share(p[x], q[x]) - 1")),
    "one coin for two children": (
        specinfer,
        (
            "        for child in node.children:",
            "        u = oracle.accept(1 - one(p) / 2)\n        for child in node.children:",
        ),
        ("if oracle.accept(share(p[child.token], q[child.token])):", "if u:"),
        ("import excess,", "import one, excess,"),
    ),
    "the same children twice": (
        rrs,
        (
            "        else:\n            return node, p",
            "        for child in node.children:\n            if oracle.accept(p[child.token]):\n"
            "                return node, p\n        else:\n            return node, p",
        ),
    ),
    "the same children again once they are judged": (
        traversal,
        ("    return (f, p)", loop(traversal, "    for child in") + "    return (f, p)"),
    ),
    "independent siblings of drafts without replacement": (
        lifted_priority,
        ('"tree with replacement", "stratified"', '"tree without replacement"'),
    ),
    "does not go down": (one_hot, ("node, p = child, target[child.prefix]", "p = target[child.prefix]")),
    "a subtree is entered twice": (
        traversal,
        (
            "            return stop\n",
            "            return stop\n        if stop := traverse(oracle, draft, child, a * 0, target):\n"
            "            return stop\n",
        ),
    ),
    "the last row stays": (
        block,
        (
            "residual = excess(scale(w_i, target[node.prefix]), node.proposal)",
            "residual = excess(scale(w_i, target[leaf.prefix]), node.proposal)",
        ),
    ),
    "rates of judging in place of shares": (lifted_priority, ("plan.shares(v)", "plan.judged(v)")),
    "a method of the plan that has no contract": (lifted_priority, ("plan.shares(v)", "plan.given(v)")),
    "the proposal of a leaf, which has none": (
        traversal,
        (
            "p, q = target[f.prefix], f.proposal\n",
            "p, q = target[f.prefix], f.proposal\n    residual = excess(p, q)\n",
        ),
    ),
    "a local name before it is bound": (
        token,
        ("    leaf = draft.path[-1]\n", "    leaf, share = draft.path[-1], share\n"),
    ),
    "the peak is forgotten": (
        hsd,
        ("peak = maximum(peak, R)", "peak = maximum(R, one(p))"),
        ("excess, max", "excess, one, max"),
    ),
    "the ratio is not capped": (hsd, ("r.append(ratio(R, peak))", "r.append(R)")),
    "a residual of another ratio": (
        hsd,
        ("want = node.proposal, scale(r_t,", "want = node.proposal, scale(r_t * r_t,"),
    ),
    "no target is left behind": (greedy_block, ("    carry=carry,\n", "")),
    "a capped ratio and a modified target": (
        hsd_naive,
        ("R.append(R[-1] * ratio(p[x], q[x]))", "R.append(minimum(R[-1] * ratio(p[x], q[x]), one(p)))"),
    ),
    "the ratio of the row above": (greedy_block, ("Q.append(Q[-1] * q[x])", "Q.append(Q[-1] * p[x])")),
    "block verification that modifies the target": (
        block,
        ("verify=verify,\n", "verify=verify,\n    carry=carry,\n"),
        (
            "from draftproof.theory.rows import",
            "from draftproof.theory.verifiers.shared.modified_target import carry\n"
            "from draftproof.theory.rows import",
        ),
    ),
    "K-SEQ with another sum": (k_seq, ("geometric(total(kept), k)", "geometric(total(kept), k) - 1")),
    "K-SEQ's lift with another last child": (lifted_k_seq, ("scale(1 - early / rho, t)", "t")),
}


PLANNED = "\n\n\nfrom {} import planned\n\n\nVERIFIER ="
"""The plan of an original, in the place of the edited module's own, which has no contract."""


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("", "", "proved"),
        ("normalise(plan.left)", "target[node.prefix]", "undecided"),
        ("plan.judged(node)", "plan.shares(node)", "undecided"),
        ("if oracle.accept(rate)", "if not oracle.accept(rate)", "undecided"),
        ("                node = child\n                break\n", "                break\n", "undecided"),
        ("planned(draft, node, target[node.prefix])", "planned(draft, node, node.proposal)", "undecided"),
        ("return node, point(y, plan.left)", "return node, plan.left", "undecided"),
        ("            node = child\n    return", "    return", "undecided"),
        ('"tree with replacement"', '"tree without replacement"', "undecided"),
        ('"tree with replacement"', '"stratified"', "undecided"),
    ],
)
def test_code_that_carries_out_k_seqs_plan_otherwise_is_not_proved(old, new, verdict):
    changed = edited(k_seq, (old, new), ("\n\nVERIFIER =", PLANNED.format(k_seq.__name__)))
    assert prove_every_size(changed).verdict == verdict


@pytest.mark.parametrize("planner", [lifted_k_seq, lifted, optimal], ids=lambda each: each.__name__)
def test_a_plan_answers_what_its_class_has(planner):
    """The plans of `lifted` and of the optimum say shares alone; judged by rates, Python raises."""
    changed = edited(k_seq, ("\n\nVERIFIER =", PLANNED.format(planner.__name__)))
    proof = prove_every_size(changed)
    assert (proof.verdict == "proved") == (planner is lifted_k_seq)
    assert planner is lifted_k_seq or "Plan.judged" in proof.why


def test_two_plans_of_a_row_leave_different_rows():
    other = PLANNED.format(k_seq.__name__).replace(
        "VERIFIER", f"from {priority.__name__} import planned as other\n\nVERIFIER"
    )
    left = "normalise(other(draft, node, target[node.prefix]).left)"
    assert (
        prove_every_size(edited(k_seq, ("normalise(plan.left)", left), ("\n\nVERIFIER =", other))).verdict
        == "undecided"
    )
    same = left.replace("other", "planned")
    assert (
        prove_every_size(edited(k_seq, ("normalise(plan.left)", same), ("\n\nVERIFIER =", other))).verdict
        == "proved"
    )


@pytest.mark.parametrize("name", ["k-seq", "lifted-k-seq"])
@pytest.mark.parametrize("drawn", ["stratified", "tree without replacement", "paths"])
def test_k_seqs_plan_is_for_siblings_of_one_row(name, drawn):
    assert (
        "its contract does not cover" in prove_every_size(replace(named(name), drafts=("chain", drawn))).why
    )


@pytest.mark.parametrize("flaw", HOSTILE)
@pytest.mark.sampled(5)
def test_broken_code_is_not_proved(flaw):
    module, *edits = HOSTILE[flaw]
    assert prove_every_size(edited(module, *edits)).verdict == "undecided"


def test_the_threshold_and_the_null_set_are_lossy_indeed():
    """The two cases above that hold on most rows: exact enumeration refutes them on some instance."""
    for flaw in ("wrong only where p equals q", "wrong only at a threshold"):
        module, *edits = HOSTILE[flaw]
        rule = edited(module, *edits)
        chains = (each for each in Randoms(Chain(1), 2, 40))
        cases = [*chains, *Scenarios(Chain(1), 2)]
        assert not all(judge(instance, rule).lossless for instance in cases)


def test_the_text_has_to_be_the_code(tmp_path, monkeypatch):
    path = tmp_path / "mine.py"
    text = "def verify(oracle, draft, target):\n    return draft.root, target[draft.root.prefix]\n"
    path.write_text(text)
    namespace: dict = {}
    exec(compile(text, str(path), "exec"), namespace)
    rule = replace(token.VERIFIER, verify=namespace["verify"])
    path.write_text(text.replace("draft.root, target", "draft.root, 2 * target"))
    assert "not the code" in prove_every_size(rule).why


def test_a_closure_is_not_followed():
    row = 1

    def verify(oracle, draft, target):
        return draft.root, row

    with pytest.raises(NotFollowed, match="not a plain function"):
        flow_of(verify)


def test_a_generator_is_not_followed():
    """A call of it runs nothing, so that the verifier would return no stop."""
    flawed = edited(
        token, ("    leaf = draft.path[-1]\n", "    if False:\n        yield\n    leaf = draft.path[-1]\n")
    )
    assert "is a generator" in prove_every_size(flawed).why


def test_a_contract_is_void_when_the_code_has_changed(monkeypatch):
    assert prove_every_size(k_seq.VERIFIER).assumed
    monkeypatch.setattr(contracts, "MODELLED", {})
    monkeypatch.setattr(contracts, "digest", lambda *modules: "another")
    proof = prove_every_size(k_seq.VERIFIER)
    assert proof.verdict == "undecided"
    assert "has changed since its contract was tested" in proof.why


def test_time_is_limited():
    proof = prove_every_size(k_seq.VERIFIER, seconds=0.0)
    assert proof.verdict == "undecided"
    assert "out of time" in proof.why
