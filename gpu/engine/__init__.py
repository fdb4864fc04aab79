"""Decoding with real models: one speculative loop over transformers' networks."""
