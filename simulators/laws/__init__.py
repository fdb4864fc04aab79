"""Exact and decoded laws of a verifier on an instance, their verdicts and smallest witnesses."""
