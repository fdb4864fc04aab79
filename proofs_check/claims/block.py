"""Block verification (sun2025block), theorem by theorem, and token verification beside it."""

from flint import fmpq

from draftproof.proofs_check.claims.claim import (
    REFUTED,
    SIZES,
    Claim,
    Related,
    Together,
    chains,
    every,
    means,
)
from draftproof.proofs_check.means import block_mean, formula, greedy_mean, token_mean
from draftproof.simulators.decode import decode
from draftproof.simulators.enumerate import emission
from draftproof.theory.draft import Draft, chained
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.oracle import Oracle
from draftproof.theory.table import Rows, Table
from draftproof.theory.verifier import CHAIN, Stop, Verifier
from draftproof.theory.verifiers import block, named

SMALL = chains(2, 1, 2)
SMALL_SIZES = "V = 2, depth 1 and 2"
FORMS = {"token": token_mean, "block": block_mean, "greedy-block": greedy_mean}


def all_but_the_last(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Block verification that does not look at the last drafted token: valid like itself."""
    *above, last = draft.path[:-1]
    return block.verify(oracle, Draft(chained(last.prefix, [node.proposal for node in above])), target)


SHORTER = Verifier("block of all but the last", "ours", CHAIN, lossless=True, verify=all_but_the_last)


def ahead_is_worse(depth: int = 7) -> Instance:
    """Where it does not pay to be one token ahead: the first `depth` tokens are sure, p = q. The next
    is 0 with p = 1/2 and q = 1; after it p = 1, q = 1/2 once and then p = q. From before it every
    length is kept with 1/2; from behind it with 1/2 after 0, and after 1 nothing ever is.
    """
    sure, half, never = ["1", "0"], ["1/2", "1/2"], ["0", "1"]
    at = (0,) * depth
    p = {(): sure, at: half, (*at, 0): sure}
    q = {(): sure, at: sure, (*at, 0): half}
    for n in range(2 * depth + 3):
        p[*at, 1, *(0,) * n] = sure
        q[*at, 1, *(0,) * n] = never
        p[*at, 0, 0, *(0,) * n] = q[*at, 0, 0, *(0,) * n] = sure
    return Instance(Table.exact(2, p), Table.exact(2, q), Chain(depth))


def decoded(verifier: Verifier, instance: Instance, iterations: int) -> fmpq:
    """The mean number of tokens emitted over some iterations."""
    return sum(decode(instance, verifier, iterations).accepted, fmpq(iterations))


def _two_iterations() -> str:
    instance = ahead_is_worse()
    below = decoded(named("block"), instance, 2) < decoded(SHORTER, instance, 2)
    return REFUTED if below else "undecided"


def _toy() -> str:
    toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
    found = [emission(toy, named(name)).expected_accepted for name in ("token", "block")]
    greedy = decode(toy, named("greedy-block"), 1).accepted[0]
    return SIZES if [*found, greedy] == [fmpq(10, 9), fmpq(11, 9), fmpq(12, 9)] else REFUTED


CLAIMS = (
    every("token-lossless", "token is lossless"),
    every("token-mean", "mean of token verification"),
    Claim(
        "block-example",
        "With p = (1/3, 2/3), q = (2/3, 1/3) everywhere and two drafted tokens, token verification accepts "
        "10/9, block verification 11/9, and full information 12/9.",
        "sun2025block, Section 2 (motivating example)",
        "that instance",
        SIZES,
        1,
        _toy,
    ),
    every("block-lossless", "block is lossless"),
    every("one-block-is-enough", "one block is enough", "every chain and tree"),
    every(
        "block-keeps-w",
        "block is lossless",
        statement="Given the first l drafted tokens block verification keeps at least l with probability "
        "w_l.",
        source="sun2025block, Lemma 3; weng2025traversal, Lemma B.1",
    ),
    every(
        "block-bound",
        "block is optimal",
        "every chain, every valid verifier",
        statement="No valid verifier of one path keeps l tokens with more than probability w_l given the "
        "first l.",
        source="sun2025block, Lemma 4; weng2025traversal, Lemma B.2",
    ),
    every(
        "block-optimal",
        "block is optimal",
        "every chain, every valid verifier",
        statement="No valid verifier of one path accepts more in expectation than block verification, in one "
        "iteration.",
        source="sun2025block, Theorem 2 for one iteration",
    ),
    Claim(
        "block-optimal-over-iterations",
        "No valid verifier of one path decodes more tokens than block verification, in expectation, over a "
        "fixed number of iterations.",
        "open; beside sun2025block, Theorem 2",
        "two iterations, a chain of 7, V = 2",
        REFUTED,
        1,
        _two_iterations,
        "block verification of all but the last drafted token decodes 11 tokens, block verification 43/4: "
        "being a token ahead can cost more than a token later (ahead_is_worse in "
        "proofs_check/claims/block.py). The statement is in our words; in one iteration it holds "
        "(block-optimal)",
    ),
    every("block-above-token", "block accepts at least as much as token"),
    every("block-mean", "mean of block verification"),
    every("greedy-lossless", "greedy block verification is lossless"),
    every(
        "greedy-mean",
        "greedy block verification is optimal",
        statement="Greedy block verification attains the full-information optimum, the sum over words of "
        "min(p, q), which no verifier with or without state exceeds.",
    ),
    every("full-information-above-block", "full information is above block verification"),
    Claim(
        "chain-means-by-cells",
        "The three closed forms of E[tau], of token, block and greedy block verification, by sign cells too.",
        "leviathan2023fast; sun2025block",
        SMALL_SIZES,
        SIZES,
        7,
        Together(
            *(
                Related("equal", means(name), lambda _, form=form: formula(form), *SMALL)
                for name, form in FORMS.items()
            )
        ),
    ),
)
