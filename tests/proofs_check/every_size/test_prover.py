"""Proofs at every size from the verifiers' own code, and broken code that they refuse."""

import inspect
from dataclasses import replace
from types import ModuleType

import pytest

from draftproof.proofs_check.every_size import contracts, prove_accepted, prove_every_size
from draftproof.proofs_check.every_size.machine.flow import NotFollowed, flow_of
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.verifiers import (
    VERIFIERS,
    block,
    greedy_block,
    hsd,
    hsd_naive,
    k_seq,
    lifted_k_seq,
    lifted_priority,
    named,
    nss,
    one_hot,
    rrs,
    specinfer,
    token,
    traversal,
)
from tests.mutants.edits import edited

FROM_CODE = (
    *("token", "nss", "one-hot", "specinfer", "rrs", "naive-tree", "block", "traversal", "lifted"),
    *(
        "k-seq",
        "priority",
        "lifted-priority",
        "optimal",
        "lifted-optimal",
        "hsd",
        "hsd-naive",
        "greedy-block",
    ),
)

MINUTES = [pytest.mark.slow, pytest.mark.long]


@pytest.mark.parametrize("name", [*FROM_CODE, pytest.param("lifted-k-seq", marks=MINUTES)])
@pytest.mark.sampled(6)
def test_proved_from_its_own_code(name):
    proof = prove_every_size(named(name), seconds=300)
    assert proof.verdict == "proved", proof.why
    assert proof.claims
    assert proof.cells > 0


@pytest.mark.slow
@pytest.mark.long
def test_the_induction_hypotheses_are_found_in_the_code():
    assert prove_every_size(traversal.VERIFIER).claims == [
        "traverse: stops with probability a, then follows the target's row",
        "traverse, the loop of line 4: stops with probability a, then follows p",
    ]
    assert prove_every_size(block.VERIFIER).claims == [
        "verify, the loop of line 9: stops with probability w, then follows the target's row"
    ]
    assert prove_every_size(greedy_block.VERIFIER).claims == [
        "verify, the loop of line 10: stops with probability min(1, P / Q); with what enters by a residual, "
        "follows the target's row"
    ]


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
    "more entries than children": (
        lifted_k_seq,
        ("* (k - 1) + [(t_last, q_last)]", "* k + [(t, scale(rho, q))]"),
        ("add(scale(early, kept), meet(t_last, q_last))", "scale(geometric(beta, k), kept)"),
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
}


@pytest.mark.parametrize("flaw", HOSTILE)
@pytest.mark.sampled(5)
def test_broken_code_is_not_proved(flaw):
    module, *edits = HOSTILE[flaw]
    assert prove_every_size(edited(module, *edits)).verdict == "undecided"


def test_a_target_that_is_left_behind_has_a_contract():
    rule = replace(greedy_block.VERIFIER, carry=lambda target, proposal, draft, stop: target)
    assert "leaves behind is not known" in prove_every_size(rule).why


CHAIN_RULES = {
    "token": "min(p(y), q(y)) once its prefix is kept",
    "specinfer": "min(p(y), q(y)) once its prefix is kept",
    "block": "min(w p(y), q(y)); w is the probability of its prefix",
    "hsd": "min(r p(y), q(y)); r is the probability of its prefix",
    "traversal": "min(a p(y), q(y)); a is the probability of its prefix",
    "greedy-block": "min(P / Q p(y), q(y)); P / Q grows by p / q",
    "hsd-naive": "min(R p(y), q(y)); R grows by p / q",
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=MINUTES if name == "greedy-block" else []) for name in CHAIN_RULES]
)
@pytest.mark.sampled(4)
def test_what_is_kept_of_a_drafted_token(name):
    proof = prove_accepted(named(name))
    assert proof.verdict == "proved", proof.why
    assert [claim.split("with mass ")[1] for claim in proof.claims] == [CHAIN_RULES[name]]


KEEPS_LESS = {
    "nss keeps q p": (nss,),
    "every other coin is lost": (
        token,
        (ACCEPT, "if not oracle.accept(share(p[x], q[x]) / 2):"),
        ("normalise(excess(p, q))", "normalise(add(excess(p, q), scale(one(p) / 2, meet(p, q))))"),
        ("import excess, normalise, share", "import add, excess, meet, normalise, one, scale, share"),
    ),
}


@pytest.mark.parametrize("rule", KEEPS_LESS)
def test_lossless_rules_that_keep_less_are_told_apart(rule):
    module, *edits = KEEPS_LESS[rule]
    verifier = edited(module, *edits)
    assert prove_every_size(verifier).verdict == "proved"
    assert prove_accepted(verifier).verdict == "undecided"


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
    assert prove_every_size(k_seq.VERIFIER).contracts
    monkeypatch.setattr(contracts, "MODELLED", {})
    monkeypatch.setattr(contracts, "digest", lambda *modules: "another")
    proof = prove_every_size(k_seq.VERIFIER)
    assert proof.verdict == "undecided"
    assert "has changed since its contract was tested" in proof.why


def test_time_is_limited():
    proof = prove_every_size(traversal.VERIFIER, seconds=0.0)
    assert proof.verdict == "undecided"
    assert "out of time" in proof.why
