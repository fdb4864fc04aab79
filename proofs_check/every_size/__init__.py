"""Proofs for every vocabulary and every size of draft, by induction over the run of the verifier's own
source.
"""

from draftproof.proofs_check.every_size.prover import Result, prove_accepted, prove_every_size
from draftproof.proofs_check.every_size.selection import prove_batch, prove_predictable

__all__ = ["Result", "prove_accepted", "prove_batch", "prove_every_size", "prove_predictable"]
