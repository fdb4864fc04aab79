"""The registry of claims: what the field states, each with a verdict that anyone can reproduce."""

from collections.abc import Iterable

from draftproof.proofs_check.claims import (
    calls,
    cells,
    chains,
    every_size,
    pooled,
    prices,
    priority,
    selection,
    single_step,
    stated,
    systems,
    targets,
    trees,
)
from draftproof.proofs_check.claims.claim import Claim

__all__ = ["CLAIMS", "Claim", "registry"]

MODULES = (
    every_size,
    stated,
    chains,
    calls,
    pooled,
    trees,
    single_step,
    priority,
    prices,
    cells,
    selection,
    systems,
    targets,
)
CLAIMS: dict[str, Claim] = {claim.key: claim for module in MODULES for claim in module.CLAIMS}
"""Key -> claim."""


def registry(claims: Iterable[Claim] = tuple(CLAIMS.values())) -> list[dict[str, str]]:
    """The claims as rows of text, as recorded: nothing is checked again."""
    return [
        {
            "statement": claim.statement + (f" ({claim.note})" if claim.note else ""),
            "source": claim.source,
            "scope": claim.scope,
            "verdict": claim.verdict,
            "behind": ", ".join(claim.behind),
            "command": claim.command,
        }
        for claim in claims
    ]
