"""Three bugs of real verifiers that are no edit of ours, as programs of the project's own kind."""

from itertools import pairwise

from draftproof.theory.draft import Draft
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import excess, minimum, normalise, one, point, ratio, share
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Stop
from draftproof.theory.verifiers import hsd


def product(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    # The original compares with the product of the coins so far. The two agree wherever every R_i is
    # 0 or at least 1, and there the law is wrong already.
    path = draft.path
    rows = [target[node.prefix] for node in path]
    R = hsd.prefix_ratios(path, rows)
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
