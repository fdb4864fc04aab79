"""Symbolic proofs for all p and q: the same verifiers on rational functions."""
