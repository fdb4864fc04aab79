"""Bugs that real verifiers had, as small verifiers of our own: those that one iteration exposes.

Numbers are those of the project's list of public bugs; each docstring says what went wrong.
"""

from itertools import pairwise

from theory.draft import Draft, Node
from theory.drafts.top_k import TopK
from theory.drafts.tree import Tree
from theory.oracle import Oracle
from theory.rows import Row, add, excess, minimum, normalise, one, point, ratio, scale, share, total
from theory.table import Rows
from theory.verifier import ALL, CHAIN, Stop, Verifier
from theory.verifiers import hsd, hsd_released, rrs, specinfer, token


def product_of_ratios(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """1: tau is the last i whose joint ratio R_i passes, earlier failures and falls notwithstanding.

    The original compares with the product of the coins so far; here each position has its own coin.
    The two agree wherever every R_i is 0 or at least 1, and there the law is wrong already.
    """
    path = draft.path
    rows = [target[node.prefix] for node in path]
    R = hsd.prefix_ratios(path, rows)
    tau = len(path) - 1
    while not oracle.accept(minimum(R[tau], one(rows[0]))):
        tau -= 1
    if tau == len(path) - 1:
        return path[tau], rows[tau]
    return path[tau], normalise(excess(rows[tau], path[tau].proposal))


def unscaled_residual(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """2: block verification whose residual is (p - q)+, not (w p - q)+."""
    *inner, leaf = draft.path
    w = [one(target[leaf.prefix])]
    for node, child in pairwise(draft.path):
        p, q, x = target[node.prefix], node.proposal, child.token
        w.append(share(w[-1] * p[x], q[x]))
    if oracle.accept(w.pop()):
        return leaf, target[leaf.prefix]
    for node, w_i in zip(reversed(inner), reversed(w), strict=True):
        A = total(excess(scale(w_i, target[node.prefix]), node.proposal))
        if oracle.accept(share(A, A + (1 - w_i))):
            break
    return node, normalise(excess(target[node.prefix], node.proposal))


def no_proposal(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """3: block verification of a sampled draft with the ratio p / 1, and residuals of p off X."""
    *inner, leaf = draft.path
    w = [one(target[leaf.prefix])]
    for node, child in pairwise(draft.path):
        w.append(w[-1] * target[node.prefix][child.token])
    if oracle.accept(w.pop()):
        return leaf, target[leaf.prefix]
    for node, w_i in zip(reversed(inner), reversed(w), strict=True):
        A = total(excess(scale(w_i, target[node.prefix]), node.proposal))
        if oracle.accept(share(A, A + (1 - w_i))):
            break
    return node, target[node.prefix]


def rejected_from_target(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """4: after a rejection Y ~ p, not the residual."""
    for node, child in pairwise(draft.path):
        p, q, x = target[node.prefix], node.proposal, child.token
        if not oracle.accept(share(p[x], q[x])):
            return node, p
    return draft.path[-1], target[draft.path[-1].prefix]


def everything(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """5: the count of matches accepts the whole draft."""
    return draft.path[-1], target[draft.path[-1].prefix]


def same_token(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """6: the target samples, and a drafted token equal to the sample is accepted without its coin."""
    for node, child in pairwise(draft.path):
        p, q, x = target[node.prefix], node.proposal, child.token
        if oracle.choose(p) == x:
            continue
        if not oracle.accept(share(p[x], q[x])):
            return node, normalise(excess(p, q))
    return draft.path[-1], target[draft.path[-1].prefix]


def _smoothed(row: Row, weight: int) -> Row:
    # The row mixed with the uniform one, 1 part in `weight`.
    unit = one(row)
    uniform = tuple([unit / (weight * len(row))] * len(row))
    return add(scale(1 - unit / weight, row), uniform)


def _token_with(p_of, q_of):
    def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
        for node, child in pairwise(draft.path):
            p, q, x = p_of(target[node.prefix]), q_of(node.proposal), child.token
            if not oracle.accept(share(p[x], q[x])):
                return node, normalise(excess(p, q))
        return draft.path[-1], target[draft.path[-1].prefix]

    return verify


def shared_noise(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """16: the residual is drawn with the exponential noise that drew the draft.

    X = argmin E_i / q_i won at time m ~ Exp(1), so every other E_i is q_i m plus a fresh one, and
    the race for argmin E_i / r_i starts late: with two runners j, k of which j starts first, k
    wins with r_k / (r_j + r_k) E[exp(-r_j (q_k / r_k - q_j / r_j) m)]. Vocabulary of three at most.
    """
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


def one_uniform(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """18: one coin for all positions: l tokens stand when it is below min(1, rho_1 .. rho_l)."""
    least = one(target[draft.root.prefix])
    for node, child in pairwise(draft.path):
        p, q, x = target[node.prefix], node.proposal, child.token
        lower = minimum(least, share(p[x], q[x]))
        if not oracle.accept(ratio(lower, least)):
            return node, normalise(excess(p, q))
        least = lower
    return draft.path[-1], target[draft.path[-1].prefix]


def padding(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """20: the padding id -1 after the draft is accepted as a token, the last of the vocabulary."""
    node, row = token.verify(oracle, draft, target)
    return (node, point(len(row) - 1, row)) if node is draft.path[-1] else (node, row)


def only_new_maxima(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """25: the prefix weight is applied only where it sets a new maximum, and is 1 elsewhere."""
    path = draft.path
    rows = [target[node.prefix] for node in path]
    R = hsd.prefix_ratios(path, rows)
    capped = hsd.capped(R)
    r, peak = [capped[0]], R[0]
    for R_t, r_t in zip(R[1:], capped[1:], strict=True):
        new = peak < R_t
        r.append(r_t if new else minimum(R_t, R[0]) if R_t is R[-1] else R[0])
        peak = R_t if new else peak
    if oracle.accept(r[-1]):
        return path[-1], rows[-1]
    return hsd.step_back(oracle, path, rows, r)


def own_probability(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """29: a drafted token of probability below 1/2 is not verified: the draft is cut before it."""
    for node, child in pairwise(draft.path):
        p, q, x = target[node.prefix], node.proposal, child.token
        if 2 * q[x] < 1:
            return node, p
        if not oracle.accept(share(p[x], q[x])):
            return node, normalise(excess(p, q))
    return draft.path[-1], target[draft.path[-1].prefix]


def bonus_off_by_one(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """30: the bonus token is drawn from the row before."""
    node, row = token.verify(oracle, draft, target)
    return (node, target[node.prefix[:-1]]) if node is draft.path[-1] else (node, row)


def residual_off_by_one(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """30: the residual is that of the first row."""
    node, row = token.verify(oracle, draft, target)
    root: Node = draft.root
    if node is draft.path[-1] or node is root:
        return node, row
    first = excess(target[root.prefix], root.proposal)
    return node, normalise(first) if total(first) > 0 else row


def bug(number: int, name: str, verify) -> Verifier:
    return Verifier(f"{number} {name}", "a public bug report", CHAIN, lossless=False, verify=verify)


def resorted(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """30: siblings drawn without replacement are put in order of token ids before they are judged."""
    return rrs.verify(oracle, Draft(_sorted(draft.root)), target)


def _sorted(node: Node) -> Node:
    children = sorted(node.children, key=lambda child: child.token)
    return Node(node.prefix, node.proposal, tuple(map(_sorted, children)))


def tree_bug(number: int, name: str, verify) -> Verifier:
    return Verifier(f"{number} {name}", "a public bug report", ALL, lossless=False, verify=verify)


TREES = [
    (tree_bug(28, "deterministic children, q ratios", rrs.verify), TopK(((), ()))),
    (tree_bug(30, "siblings re-sorted", resorted), Tree(((), ()))),
    (tree_bug(30, "with-replacement rule, draws without", specinfer.verify), Tree(((), ()))),
    (tree_bug(30, "without-replacement rule, draws with", rrs.verify), Tree(((), ()), True)),
]
"""Rules for trees whose loss one iteration shows, and the drafts that show it."""

ZOO = [
    bug(1, "product of ratios", product_of_ratios),
    bug(2, "residual not scaled", unscaled_residual),
    bug(3, "block without proposal", no_proposal),
    bug(4, "rejected from target", rejected_from_target),
    bug(5, "everything accepted", everything),
    bug(6, "same token", same_token),
    bug(10, "q before processors", _token_with(lambda p: p, lambda q: _smoothed(q, 2))),
    bug(11, "p before processors", _token_with(lambda p: _smoothed(p, 2), lambda q: q)),
    bug(12, "q rounded", _token_with(lambda p: p, lambda q: _smoothed(q, 256))),
    bug(15, "not probabilities", _token_with(lambda p: scale(2 * one(p), p), lambda q: q)),
    bug(16, "shared noise", shared_noise),
    bug(18, "one uniform", one_uniform),
    bug(20, "padding accepted", padding),
    bug(24, "uncapped leaf", hsd_released.verify),
    bug(25, "only new maxima", only_new_maxima),
    bug(29, "own probability", own_probability),
    bug(30, "bonus row off by one", bonus_off_by_one),
    bug(30, "residual row off by one", residual_off_by_one),
]
"""Chain rules whose loss one iteration shows. 9 is a draft's fault: see the test."""
