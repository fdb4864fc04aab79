"""Why the generated mutants that enumeration does not refute are right: (verifier, edited line) -> reason.

Most make the same runs as the original; the others are lossless rules of their own.
"""

_KIND = "`one` looks at the kind of the numbers alone"
_GROUPED = "the rule is lossless however the nodes of a level are grouped"
_SYMMETRIC = "meet, add and minimum are symmetric"
_POINT = "`point` looks at the length and the kind of the row alone"
_LOOP = "at the end of the loop both names stand for the leaf"
_LEAF = "at a leaf p is the target's row"
_STOPS = "the root, entered with rate 1, stops at once: Y ~ its row, and no draft is ever accepted"
_NO_PATH = "no path is judged: all are passed over, and Y ~ the root's row"
_RHO = "no smaller rho is found, and K-SEQ is lossless with the largest"

REASONS: dict[tuple[str, str], str] = {
    ("token", "return leaf, target[child.prefix]"): _LOOP,
    ("nss", "return child, target[node.prefix]"): _LOOP,
    ("one-hot", "return child, p"): _LOOP,
    ("one-hot", "return node, target[node.prefix]"): _LEAF,
    ("specinfer", "return node, target[node.prefix]"): _LEAF,
    ("rrs", "return node, target[node.prefix]"): _LEAF,
    ("naive-tree", "return node, point(y, q)"): _POINT,
    ("naive-tree", "return node, target[child.prefix]"): _LOOP,
    ("khisti", "return child, target[node.prefix]"): _LOOP,
    ("k-seq", "kept = meet(q, scale(1 / rho, t))"): _SYMMETRIC,
    ("k-seq", "while (high - low) < 1:"): _RHO,
    ("k-seq", "holds = geometric(total(meet(scale(0 / rho, p), q)), k) <= rho"): _RHO,
    ("block", "w = [one(target[leaf.prefix[:-1]])]"): _KIND,
    ("greedy-block", "P, Q = [one(target[leaf.prefix[:-1]])], [one(target[leaf.prefix])]"): _KIND,
    ("greedy-block", "P, Q = [one(target[leaf.prefix])], [one(target[leaf.prefix[:-1]])]"): _KIND,
    ("hsd", "R = peak = one(target[leaf.prefix[:-1]])"): _KIND,
    ("hsd-naive", "R = [one(target[leaf.prefix[:-1]])]"): _KIND,
    ("hsd-naive", "if oracle.accept(minimum(R.pop(), one(target[leaf.prefix[:-1]]))):"): _KIND,
    ("hsd-naive", "if oracle.accept(minimum(one(target[leaf.prefix]), R.pop())):"): _SYMMETRIC,
    ("hsd-naive", "return child, target[leaf.prefix]"): _LOOP,
    ("hsd-naive", "return leaf, target[child.prefix]"): _LOOP,
    ("hsd-multidraft", "if node not in path[:-1]:"): _NO_PATH,
    ("hsd-multidraft", "if node in path[:-0]:"): _NO_PATH,
    ("hsd-multidraft", "if node in path[:-2]:"): "a path may be passed over: the next one is a fresh block",
    ("hsd-multidraft", "pass"): _NO_PATH,
    ("multipath-block", "J = C = one(target[node.prefix[:-1]])"): _KIND,
    (
        "multipath-block",
        "ranked = ranking(target[node.prefix[:-1]], node.proposal)",
    ): "the rule is lossless for any ranking of the tokens",
    (
        "multipath-block",
        "drafted = [x for x in range(len(q)) if q[x] > 0]",
    ): "ties rank otherwise; any ranking will do",
    (
        "traversal",
        "stop = traverse(oracle, draft, draft.root, one(target[draft.root.prefix[:-1]]), target)",
    ): _KIND,
    (
        "lifted-priority",
        "stop = lift(oracle, draft, draft.root, one(target[draft.root.prefix[:-1]]), target, rule)",
    ): _KIND,
    ("lifted-priority", "if v.children:"): _STOPS,
    ("lifted-k-seq", "kept = meet(q, scale(1 / rho, t))"): _SYMMETRIC,
    ("lifted-k-seq", "taken = add(scale(early, kept), meet(q_last, t_last))"): _SYMMETRIC,
    ("layered", "last = any(any(u.shape) for u, _ in [*nodes, (v, e)])"): _GROUPED,
    ("layered", "if nodes and (prod(map(len, [*laws, law])) < (LAST if last else TOGETHER)):"): _GROUPED,
    (
        "layered",
        "segments = SEGMENTS if any(any(v.shape) for v, _ in nodes) else 2  # leaves are all alike",
    ): "in more segments the plan of leaves is the same",
    ("layered", "left = left - left * sum(given.values(), left * 0)"): "a sum starts with 0 in either way",
}
