"""Medusa's typical acceptance. Lossy by design; kept as a negative control.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> emitted = emission(scenario("toy", Chain(2)), VERIFIER)
>>> emitted.expected_accepted, emitted.total_variation
(2, 1/3)
"""

from math import exp, log

from flint import arb, ctx, fmpq

from draftproof.theory.rows import Number, Row
from draftproof.theory.verifier import CHAIN, Draft, Node, Oracle, Path, Rows, Stop, Verifier

EPSILON, DELTA = fmpq(9, 100), fmpq(3, 10)
"""Medusa's defaults: the hard threshold and the factor on the entropy-dependent one."""


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Accept a token when p(x) > min(epsilon, delta exp(-H(p))); of all paths keep the longest
    accepted prefix, the likeliest under p of equally long ones. No coin is tossed.
    """
    best, likelihood = draft.root, 1
    for path in draft.paths:
        node, joint = accepted(path, target)
        longer = len(node.prefix) - len(best.prefix)
        if longer > 0 or (longer == 0 and joint > likelihood):
            best, likelihood = node, joint
    return best, target[best.prefix]


def accepted(path: Path, target: Rows) -> tuple[Node, Number]:
    """The last accepted node of one path, and its joint probability."""
    node, joint = path[0], 1
    for child in path[1:]:
        p = target[node.prefix]
        if not is_typical(p, child.token):
            break
        node, joint = child, joint * p[child.token]
    return node, joint


def is_typical(p: Row, x: int) -> bool:
    """p(x) > min(epsilon, delta exp(-H(p))), decided exactly when p is rational.

    >>> from draftproof.theory.numbers import exact
    >>> is_typical((exact("1/20"), exact("19/20")), 0)
    False
    """
    if not isinstance(p[x], fmpq):
        entropy = -sum(a * log(a) for a in p if a > 0)
        return bool(p[x] > min(float(EPSILON), float(DELTA) * exp(-entropy)))
    if p[x] > EPSILON or not p[x]:
        return bool(p[x])
    for bits in (64, 256, 1024):
        with ctx.workprec(bits):
            difference = (arb(p[x]) / arb(DELTA)).log() - sum(arb(a) * arb(a).log() for a in p if a)
            if difference > 0 or difference < 0:
                return bool(difference > 0)
    # Balls that still overlap mean a tie or nearly one: compare integer powers instead.
    common = 1
    for a in p:
        common *= int((a * common).q)
    powers = fmpq(1)
    for a in p:
        powers *= a ** int((a * common).p) if a else 1
    return bool((p[x] / DELTA) ** common > powers)


VERIFIER = Verifier(
    "typical", "cai2024medusa, Section 2.3.1", (*CHAIN, "top-k"), lossless=False, verify=verify, ordered=True
)
