"""Gumbel-max of the target alone: the extra token is keyed, drafted tokens are not."""

from draftproof.theory.keys.keyed import Keyed

SCHEME = Keyed("gumbel", "aaronson2023watermarking; vLLM, target-only watermarking", extra="B")
