"""Arguments for every vocabulary and depth: one file a family, each step checked by the program."""

from draftproof.proofs_check.induction import block, hsd, single_step, token_level, trees
from draftproof.proofs_check.induction.steps import Theorem

__all__ = ["THEOREMS", "Theorem"]

THEOREMS: dict[str, Theorem] = {
    theorem.key: theorem
    for family in (token_level, block, hsd, trees, single_step)
    for theorem in family.THEOREMS
}
"""Key -> theorem."""
