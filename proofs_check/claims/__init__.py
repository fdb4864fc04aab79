"""The registry of claims: what the field states, each with a verdict that anyone can reproduce."""

from draftproof.proofs_check.claims import (
    calls,
    cells,
    chains,
    every_size,
    priority,
    selection,
    single_step,
    trees,
)
from draftproof.proofs_check.claims.claim import Claim

__all__ = ["CLAIMS", "Claim"]

MODULES = every_size, chains, calls, trees, single_step, priority, cells, selection
CLAIMS: dict[str, Claim] = {claim.key: claim for module in MODULES for claim in module.CLAIMS}
"""Key -> claim."""
