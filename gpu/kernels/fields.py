"""What a kernel keeps of each node, and what entering a node means."""

import triton.language as tl

FIELDS = tl.constexpr(6)
PP, QQ, RATE, CUT, MASS, REST = (tl.constexpr(field) for field in range(6))
"""float32 [FIELDS, N] a request. Of a drafted token: its p and q. Of a node whose children are tried: its
rate; what is left of its row is (p - CUT q)+ / MASS; REST is the mass of q off the rejected tokens."""

COINS, RATES, UNCAPPED = (tl.constexpr(rule) for rule in range(3))
"""A child is entered if its coin says so (recursive rejection), with the rate min(1, a p / q) (traversal),
or with a p / q (greedy block)."""

LARGEST = tl.constexpr(3e38)
OCTET = tl.constexpr(8)
"""Logits around the largest of a chunk whose p and q bound a node's rate: 16 bytes of bfloat16."""

BELOW_ONE = tl.constexpr(1 - 2**-24)
