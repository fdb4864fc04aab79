"""Rules that end the draft of each request by its own tokens and rows.

Three stop after a kept token and are predictable. Two read the next token, and drop it with all that follow.
A token dropped because it has probability zero under the target, as a mask forbids it, is refilled from p as
if nothing had been drafted. But it was drawn from q, and Y ~ norm((p - q)+) would be right, which every
verifier draws from when it is shown the token.
"""

from flint import fmpq

from draftproof.theory.rows import share
from draftproof.theory.selection.view import Rule, View, in_turn, product

SMALL = fmpq(2, 5)
"""Of the probability q(x) of a token, for confidence-stop and confidence-drop."""

REJECTED = fmpq(7, 10)
"""Of the probability that a kept token is rejected, for SpecDec++."""

LARGEST = fmpq(3, 5)
"""sqrt(0.15 H) > 0.3 exactly when the entropy H, in nats, is above 3/5."""


def confidence_stop(view: View) -> None:
    """Goes on as long as the last kept token has q(x) >= 2/5; the token that ends it is still verified."""

    def goes_on(r: int) -> bool:
        kept = view.lengths[r]
        return not kept or not view.probability(r, kept - 1) < SMALL

    in_turn(view, goes_on)


def confidence_drop(view: View) -> None:
    """Goes on as long as the next token has q(x) >= 2/5."""
    in_turn(view, lambda r: not view.probability(r, view.lengths[r]) < SMALL)


def drop_forbidden(view: View) -> None:
    """Goes on as long as the next token has p(x) > 0."""

    def allowed(r: int) -> bool:
        j = view.lengths[r]
        return bool(view.models[r][0][view.prefix(r, j)][view.token(r, j)] > 0)

    in_turn(view, allowed)


def specdec_pp(view: View) -> None:
    """Goes on as long as 1 - c_1 .. c_j <= 7/10 for the kept tokens, c = min(1, p/q) of the token."""

    def goes_on(r: int) -> bool:
        target, accepted = view.models[r][0], []
        for j in range(view.lengths[r]):
            p = target[view.prefix(r, j)][view.token(r, j)]
            accepted.append(share(p, view.probability(r, j)))
        return not 1 - product(accepted, view.one()) > REJECTED  # type: ignore[operator]

    in_turn(view, goes_on)


def svip(view: View) -> None:
    """Goes on as long as sqrt(0.15 H(q)) <= 0.3 for the row q of the next token."""
    in_turn(view, lambda r: not view.unsure(r, view.prefix(r), LARGEST))


OWN, NEXT = "kept tokens of the request", "the request's drafted tokens, up to and with the token itself"

SELECTION_RULES = (
    Rule(
        "confidence-stop",
        "wolf2020transformers, assistant_confidence_threshold",
        OWN,
        predictable=True,
        select=confidence_stop,
    ),
    Rule("specdec++", "huang2024specdecpp, Section 3", OWN, predictable=True, select=specdec_pp),
    Rule("svip", "zhang2024svip, Algorithm 1", OWN, predictable=True, select=svip),
    Rule(
        "confidence-drop", "ours, confidence-stop off by one", NEXT, predictable=False, select=confidence_drop
    ),
    Rule(
        "drop-forbidden",
        "kwon2023vllm, structured output with drafts (release 0.33.0)",
        NEXT,
        predictable=False,
        select=drop_forbidden,
    ),
)
