"""Rules that are wrong in known places."""

from collections.abc import Callable

from draftproof.theory.rows import Row
from draftproof.theory.verifier import CHAIN, Verifier
from draftproof.theory.verifiers import named


def wrong_where(condition: Callable[[Row, Row], bool]) -> Verifier:
    """Token verification, except that where the root's rows p, q meet the condition all is accepted."""

    def verify(oracle, draft, target):
        if condition(target[draft.root.prefix], draft.root.proposal):
            return draft.path[-1], target[draft.path[-1].prefix]
        return named("token").verify(oracle, draft, target)

    return Verifier("wrong somewhere", "ours", CHAIN, lossless=False, verify=verify)


def on_a_curve(p: Row, q: Row) -> bool:
    """p(0) = q(0)^2, inside."""
    return p[0] == q[0] * q[0] and q[0] > 0 and q[1] > 0
