"""Block verification (sun2025block), theorem by theorem, and token verification beside it."""

from functools import partial
from itertools import product
from math import prod
from typing import Any

from flint import fmpq

from draftproof.proofs_check.cells.domain import Domain
from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.proofs_check.claims.claim import (
    REFUTED,
    SIZES,
    Claim,
    Related,
    Together,
    chains,
    every,
    means,
    refuted_on,
)
from draftproof.proofs_check.means import closed_form, mean_on
from draftproof.simulators.decode import decode
from draftproof.theory.draft import Draft, chained
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, minimum
from draftproof.theory.table import Rows, Table
from draftproof.theory.verifier import CHAIN, Stop, Verifier
from draftproof.theory.verifiers import block, named

SMALL = chains(2, 1, 2)
SMALL_SIZES = "V = 2, depth 1 and 2"


def all_but_the_last(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Block verification that does not look at the last drafted token: valid like itself."""
    *above, last = draft.path[:-1]
    return block.verify(oracle, Draft(chained(last.prefix, [node.proposal for node in above])), target)


SHORTER = Verifier("block of all but the last", "ours", CHAIN, lossless=True, verify=all_but_the_last)


def full_information(domain: Domain, oracle: Oracle) -> Any:
    """sum over words of min(p(word), q(word)): the full-information optimum."""

    def mass(rows: Table, word: Prefix) -> Symbol:
        return prod((rows[word[:i]][x] for i, x in enumerate(word)), start=domain.number(1))

    words = [word for n in range(domain.depth) for word in product(range(domain.vocab), repeat=n + 1)]
    minima = (minimum(mass(domain.target, word), mass(domain.proposal, word)) for word in words)
    return sum(minima, domain.number(0))


def ahead_is_worse(depth: int = 7) -> Instance:
    """An instance on which keeping one token more costs more later than it gains now.

    The first `depth` tokens are 0 under p and q alike. At the next one q is sure of 0 and p(0) = 1/2.
    After 0 follows one token with p(0) = 1 and q(0) = 1/2, then p = q; after 1 q is sure of 1 and p of 0,
    so that nothing is accepted any more.
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


def _decodes_most(instance: Instance) -> bool:
    longest, shorter = (sum(decode(instance, rule, 2).accepted) for rule in (named("block"), SHORTER))
    return longest >= shorter


def _toy() -> str:
    toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
    found = [mean_on(toy, name) for name in ("token", "block", "greedy-block")]
    return SIZES if found == [fmpq(10, 9), fmpq(11, 9), fmpq(12, 9)] else REFUTED


CLAIMS = (
    every("token-lossless", "token is lossless"),
    every("token-mean", "mean of token verification"),
    Claim(
        "block-example",
        "With p = (1/3, 2/3), q = (2/3, 1/3) everywhere and two drafted tokens, token verification accepts "
        "10/9, block verification 11/9, and full information 12/9.",
        "sun2025block, Section 2 (motivating example)",
        "that instance",
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
        refuted_on(ahead_is_worse, _decodes_most),
        verdict=REFUTED,
        note="block verification of all but the last drafted token decodes 11 tokens, block verification "
        "43/4: being a token ahead can cost more than a token later (ahead_is_worse in "
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
        Together(
            Related("equal", means("token"), partial(closed_form, "token"), *SMALL),
            Related("equal", means("block"), partial(closed_form, "block"), *SMALL),
            Related("equal", means("greedy-block"), lambda _: full_information, *SMALL),
        ),
        seconds=7,
    ),
)
