"""Proofs for every vocabulary and every size of draft, by induction over the run of the verifier's own
source.
"""

from draftproof.proofs_check.every_size.prover import Result, prove_every_size

__all__ = ["Result", "prove_every_size"]
