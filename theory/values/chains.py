"""What block verification accepts, which is the stateless optimum of a chain."""

from flint import fmpq

from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import share


def block(instance: Instance) -> fmpq:
    """sum over l and x^l of q(x^l) w(x^l), w <- min(1, w p/q): the stateless optimum of a chain.

    Source: sun2025block, Theorem 2 and Lemma 3.
    """
    out, level = ZERO, [((), ONE, ONE)]
    for _ in range(instance.draft.depth):
        below = []
        for prefix, Q, w in level:
            for x, (p, q) in enumerate(zip(instance.target[prefix], instance.proposal[prefix], strict=True)):
                if q > ZERO and (kept := share(w * p, q)) > ZERO:
                    out += Q * q * kept
                    below.append(((*prefix, x), Q * q, kept))
        level = below
    return out
