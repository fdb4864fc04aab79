"""The registry of claims: what the field states, each with a verdict that anyone can reproduce."""

from draftproof.proofs_check.claims import (
    calls,
    cells,
    chains,
    priority,
    selection,
    single_step,
    systems,
    targets,
    trees,
)
from draftproof.proofs_check.claims.claim import Claim, by_induction, from_code

__all__ = ["CLAIMS", "Claim"]

MODULES = chains, calls, trees, single_step, priority, cells, selection, systems, targets
CLAIMS: dict[str, Claim] = {
    claim.key: claim
    for claims in (by_induction(), from_code(), *(module.CLAIMS for module in MODULES))
    for claim in claims
}
"""Key -> claim."""
