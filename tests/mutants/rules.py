"""Bugs that real verifiers had, as rules of the project's own kind: judged exactly, and refuted by proof.

Most are an edit of our own verifiers. `functions.py` and `objects.py` have many of the same bugs in the
form in which they were found, for the audit. Two more rules are wrong on a null set only.
"""

from collections.abc import Callable
from itertools import pairwise

from draftproof.theory.draft import Draft
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row, excess, minimum, normalise, one, point, ratio, share
from draftproof.theory.table import Rows
from draftproof.theory.verifier import CHAIN, Stop, Verifier
from draftproof.theory.verifiers import (
    block,
    hsd,
    hsd_multidraft_released,
    hsd_released,
    rrs,
    spechub,
    specinfer,
    token,
    traversal,
)
from tests.mutants.edits import CHAINS, DOUBLE, FLAT, PLAIN, edited
from tests.mutants.registry import CATALOGUE, rule


def product(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    # The original compares with the product of the coins so far. The two agree wherever every R_i is
    # 0 or at least 1, and there the law is wrong already.
    path = draft.path
    rows = [target[node.prefix] for node in path]
    R = [one(rows[0])]
    for node, child in pairwise(path):
        R.append(R[-1] * ratio(target[node.prefix][child.token], node.proposal[child.token]))
    tau = len(path) - 1
    while not oracle.accept(minimum(R[tau], one(rows[0]))):
        tau -= 1
    if tau == len(path) - 1:
        return path[tau], rows[tau]
    return path[tau], normalise(excess(rows[tau], path[tau].proposal))


def one_uniform(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    # l tokens stand when the coin is below min(1, rho_1 .. rho_l).
    least = one(target[draft.root.prefix])
    for node, child in pairwise(draft.path):
        p, q, x = target[node.prefix], node.proposal, child.token
        lower = minimum(least, share(p[x], q[x]))
        if not oracle.accept(ratio(lower, least)):
            return node, normalise(excess(p, q))
        least = lower
    return draft.path[-1], target[draft.path[-1].prefix]


def shared_noise(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    # X = argmin E_i / q_i won at time m ~ Exp(1), so every other E_i is q_i m plus a fresh one, and
    # the race for argmin E_i / r_i starts late: with two runners j, k of which j starts first, k
    # wins with r_k / (r_j + r_k) E[exp(-r_j (q_k / r_k - q_j / r_j) m)]. Vocabulary of three at most.
    for node, child in pairwise(draft.path):
        p, q, x = target[node.prefix], node.proposal, child.token
        if not oracle.accept(share(p[x], q[x])):
            r = normalise(excess(p, q))
            runners = [i for i in range(len(r)) if i != x and r[i] > 0]
            if len(runners) != 2:
                return node, r
            j, k = runners
            if q[k] * r[j] < q[j] * r[k]:
                j, k = k, j
            late = r[j] * (q[k] / r[k] - q[j] / r[j])
            wins = r[k] / (1 + late)  # r_j + r_k = 1
            return node, point(k if oracle.accept(wins) else j, r)
    return draft.path[-1], target[draft.path[-1].prefix]


def wrong_where(condition: Callable[[Row, Row], bool]) -> Verifier:
    """Token verification, except that where the root's rows p, q meet the condition all is accepted."""

    def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
        if condition(target[draft.root.prefix], draft.root.proposal):
            return draft.path[-1], target[draft.path[-1].prefix]
        return token.verify(oracle, draft, target)

    return Verifier("wrong somewhere", "ours", CHAIN, lossless=False, verify=verify)


ON_AN_EDGE = wrong_where(lambda p, q: not p[0] > 0)
ON_A_CURVE = wrong_where(lambda p, q: p[0] == q[0] * q[0] and q[0] > 0 and q[1] > 0)


def _rule(verify) -> Verifier:
    return Verifier(verify.__name__, "a public bug report", CHAIN, lossless=False, verify=verify)


PRODUCT = _rule(product)
UNSCALED = edited(block, ("normalise(residual)", "normalise(excess(target[node.prefix], node.proposal))"))

ROWS = "p, q, x = target[node.prefix], node.proposal, child.token\n"
JUDGED = "if not oracle.accept(share(p[x], q[x])):"


def _then(line: str) -> Verifier:
    # Token verification with a line of its own behind the one that reads p, q and x.
    return edited(token, (ROWS, f"{ROWS}        {line}\n"))


_NO_PROPOSAL = edited(
    block, ("share(w[-1] * p[x], q[x])", "w[-1] * p[x]"), ("normalise(residual)", "target[node.prefix]")
)
_LAST_TOKEN = edited(
    token,
    (
        "return leaf, target[leaf.prefix]",
        "row = target[leaf.prefix]\n    return leaf, point(len(row) - 1, row)",
    ),
    ("normalise, share", "normalise, point, share"),
)
_ONLY_NEW_MAXIMA = edited(
    hsd,
    ("r.append(ratio(R, peak))", "r.append(ratio(R, peak) if not R < peak else minimum(R, peak))"),
    ("maximum, normalise", "maximum, minimum, normalise"),
)
_SHORTCUT = edited(
    spechub,
    (
        "        kept = None\n",
        "        kept = next((c for c in node.children if p[c.token] * 1000 > 999), None)\n"
        "        if kept:\n            node = kept\n            continue\n",
    ),
)

for _row, _name, _flaw, _verifier, _drafts in (
    ("1", "joint ratio", "tau = last i whose joint ratio passes its own coin", PRODUCT, CHAINS),
    ("2", "unscaled residual", "block rule, only Y from (p - q)+, not (w p - q)+", UNSCALED, CHAINS),
    ("3", "block without a proposal", "ratio p / 1 on sampled drafts, Y from p", _NO_PROPOSAL, CHAINS),
    ("5", "everything", "all that was drafted is accepted", edited(token, (JUDGED, "if False:")), CHAINS),
    (
        "6",
        "same token",
        "a drafted token that the target samples too needs no coin",
        edited(token, (JUDGED, JUDGED.replace("if", "if oracle.choose(p) != x and"))),
        CHAINS,
    ),
    (
        "9",
        "argmax",
        "drafted greedily, verified with the softmax q",
        token.VERIFIER,
        (TopK(((),)), TopK((((),),))),
    ),
    (
        "10",
        "q before processors",
        "a smoothed q in the place of the drafter's own",
        _then("q = tuple((m + 1) / (len(q) + 1) for m in q)"),
        CHAINS,
    ),
    (
        "11",
        "p before processors",
        "a smoothed p in the place of the target's own",
        _then("p = tuple((m + 1) / (len(p) + 1) for m in p)"),
        CHAINS,
    ),
    (
        "12",
        "q rounded",
        "q off by one part in 256",
        _then("q = tuple((256 * m + 1) / (256 + len(q)) for m in q)"),
        CHAINS,
    ),
    ("15", "not probabilities", "p sums to 2", _then("p = tuple(2 * m for m in p)"), CHAINS),
    ("16", "shared noise", "the draft's exponential noise races for Y too", _rule(shared_noise), CHAINS),
    ("18", "one coin", "one coin for all positions", _rule(one_uniform), CHAINS),
    ("20", "padding accepted", "the id -1 behind the draft is the last token", _LAST_TOKEN, CHAINS),
    ("24", "hsd as released", "full draft kept with the uncapped ratio", hsd_released.VERIFIER, CHAINS),
    (
        "25",
        "hsd, weight only at a new maximum",
        "the earlier peak is forgotten where the ratio is below it",
        _ONLY_NEW_MAXIMA,
        CHAINS,
    ),
    (
        "26",
        "hsd over paths as released",
        "prefix ratio carried over a stop",
        hsd_multidraft_released.VERIFIER,
        (Paths(2, 2),),
    ),
    (
        "27",
        "spechub with a shortcut",
        "the likeliest token is taken outright above 0.999",
        _SHORTCUT,
        (SpecHub(1), SpecHub(2)),
    ),
    ("28", "q ratios on deterministic children", "drafts were not sampled", rrs.VERIFIER, FLAT),
    ("28", "q ratios on deterministic trees, traversal", "drafts were not sampled", traversal.VERIFIER, FLAT),
    (
        "29",
        "own probability",
        "a drafted token of q below 1/2 is not verified: the draft is cut before it",
        _then("if 2 * q[x] < 1:\n            return node, p"),
        CHAINS,
    ),
    ("30", "specinfer on draws without replacement", "rules mixed", specinfer.VERIFIER, PLAIN),
    ("30", "rrs on draws with replacement", "rules mixed", rrs.VERIFIER, DOUBLE),
    (
        "30",
        "traversal as if with replacement",
        "rules mixed",
        edited(traversal, ("if not draft.replacement", "if False")),
        PLAIN,
    ),
    (
        "30",
        "traversal as if without",
        "rules mixed",
        edited(traversal, ("if not draft.replacement", "if True")),
        DOUBLE,
    ),
):
    rule(_name, _flaw, _verifier, _drafts, row=_row)

BEYOND = edited(
    token,
    ("import excess, normalise, share", "import add, one, scale"),
    ("share(p[x], q[x])", "one(p) * 999 / 1000"),
    ("normalise(excess(p, q))", "add(scale(1000 * one(p), p), scale(-999 * one(p), q))"),
)
"""Its masses add up to the target's law, but no sampler can draw from its rows."""
rule("accepts with 999/1000", "the residual has negative entries", BEYOND, CHAINS)

for _name, _verifier in (("p(0) = 0", ON_AN_EDGE), ("p(0) = q(0)^2", ON_A_CURVE)):
    rule(f"wrong where {_name}", "everything is accepted there", _verifier, (Chain(1),), judge="proof")

LISTED = [each for each in CATALOGUE if each.verifier is not None and each.row]
"""Every mutant of the list of bugs that is a rule, those of `edits.py` too."""
