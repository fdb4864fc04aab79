"""Dual-key Gumbel-max: drafted tokens by one key, the extra token by another, acceptance coins fresh.

SynthID's way of watermarking a speculative decoder, and vLLM's (`dual_key_gumbel`).
"""

from draftproof.theory.keys.keyed import Keyed

SCHEME = Keyed("dual-key", "dathathri2024synthid, fast speculative sampling; vLLM", draft="A", extra="B")
