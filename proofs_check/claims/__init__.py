"""The registry of claims: what the field states, each with a verdict that anyone can reproduce."""

from draftproof.proofs_check.claims import cells, chains, priority, single_step, trees
from draftproof.proofs_check.claims.claim import Claim, by_induction

__all__ = ["CLAIMS", "Claim"]

CLAIMS: dict[str, Claim] = {
    claim.key: claim
    for claims in (
        by_induction(),
        chains.CLAIMS,
        trees.CLAIMS,
        single_step.CLAIMS,
        priority.CLAIMS,
        cells.CLAIMS,
    )
    for claim in claims
}
"""Key -> claim."""
