"""HSD on the trees of EAGLE-3, as released: one-hot proposals, and the ratio carried over a stop. Lossy.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.theory.drafts.top_k import TopK
>>> from draftproof.theory.instance import context_free
>>> emitted = emission(context_free(["1/3"] * 3, ["1/3"] * 3, TopK(SMALLEST)), VERIFIER)
>>> emitted.total_variation, emitted.wrong_prefix()
(8/153, ((0, 1), 1/17, 1/9))
"""

from draftproof.theory.draft import Draft
from draftproof.theory.drafts.shape import Shape
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import has_mass, one, point, share, total, without
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Stop, Verifier

SMALLEST: Shape = ((((),), ((),)),)
"""A token with two children of one child each: the second path has two tokens below the shared one."""


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Path by path, R_t = prod p along the rest of the path, c the ratio carried from earlier paths:

    the whole path is kept with R_gamma, without c; else step back to the last t kept with D+ / D-, where
    D+ = c R_t (1 - p(x)) and D- = 1 - c R_t p(x) for the next token x, which then leaves the row; c <- c R_t.
    With c = 1 in every path this is the lossless rule for one-hot proposals. Where nothing is left of the row
    in the end, Y is the drafted token after next, or the next one at the path's end.
    """
    node, row = draft.root, target[draft.root.prefix]
    carried, otherwise = one(row), 0
    for path in draft.paths:
        if node not in path or not node.children:
            continue
        suffix = path[path.index(node) :]
        tokens = [below.token for below in suffix[1:]]
        rows = [row, *(target[below.prefix] for below in suffix[1:])]
        R = [one(row)]
        for p, x in zip(rows, tokens, strict=False):
            R.append(R[-1] * p[x])
        if oracle.accept(R[-1]):
            return suffix[-1], rows[-1]
        for t in reversed(range(len(tokens))):
            p, x, ratio = rows[t], tokens[t], carried * R[t]
            if t == 0 or oracle.accept(share(ratio * (total(p) - p[x]), 1 - ratio * p[x])):
                break
        node, row, carried = suffix[t], without(p, x), ratio
        otherwise = tokens[min(t + 1, len(tokens) - 1)]
    return node, row if has_mass(row) else point(otherwise, row)


VERIFIER = Verifier(
    "hsd-eagle-released", "zhou2026hsd, repository, EAGLE-3H", ("top-k",), lossless=False, verify=verify
)
