"""Block transport with full information: drafts coupled with target blocks.

Variables f(D, y), D a draft and y ~ p^gamma a target block of the draft's depth; row sums Pr(D),
column sums p(y); maximise the mean length of the longest prefix of y that is in D. The optimum bounds E[tau]
of every verifier in its first call, including verifiers that keep state between calls (sun2025block,
Appendix). Drafts with the same drafted prefixes are merged into one row; blocks of probability zero have no
column.
"""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq

from draftproof.theory.draft import Draft
from draftproof.theory.errors import BadInput
from draftproof.theory.law import law_of
from draftproof.theory.numbers import ZERO
from draftproof.theory.rows import Prefix, minimum, one, share
from draftproof.theory.table import Rows
from draftproof.theory.transport.certificate import Transport

Drafted: TypeAlias = dict[frozenset[Prefix], fmpq]
"""Set of drafted prefixes -> probability that exactly these are drafted."""

DRAFTS = 10**5
"""Largest number of drafts whose law is listed; CELLS would allow more only with few target blocks."""

CELLS = 5 * 10**7
"""Largest (number of drafts) x (number of blocks) of a problem: 400 MB of rewards."""


def merged(drafts: Iterable[tuple[fmpq, Draft]]) -> Drafted:
    """The law of the drafted prefixes, from pairs (probability, draft); BadInput for more than DRAFTS."""
    law: Drafted = {}
    for mass, draft in drafts:
        if mass > ZERO:
            key = frozenset(node.prefix for node in draft.root)
            law[key] = law.get(key, ZERO) + mass
            if len(law) > DRAFTS:
                raise BadInput(f"more than {DRAFTS:,} drafts: optima are solved for fewer")
    return law


def problem(law: Drafted, target: Rows, depth: int) -> Transport:
    """The block transport problem of drafts of up to `depth` tokens.

    Raises BadInput for more than CELLS pairs of a draft and a block.

    >>> from draftproof.theory.table import Table
    >>> from draftproof.theory.transport.certificate import certified
    >>> p, q = (fmpq(1, 3), fmpq(2, 3)), (fmpq(2, 3), fmpq(1, 3))
    >>> law = {frozenset({(), (x,)}): q[x] for x in (0, 1)}
    >>> certified(problem(law, Table(2, {(): p}), 1)).value
    2/3
    """
    words = law_of(target, depth)
    if len(law) * len(words) > CELLS:
        raise BadInput(
            f"{len(law):,} drafts times {len(words):,} target blocks; at most {CELLS:,} are solved for"
        )
    rewards = np.zeros((len(law), len(words)), dtype=np.int64)
    order = list(words)  # sorted
    for reward, prefixes in zip(rewards, law, strict=True):
        for prefix in filter(None, prefixes):
            first, last = (bisect_left(order, word) for word in (prefix, (*prefix, target.vocab)))
            reward[first:last] += 1  # all shorter prefixes are drafted too
    return Transport(tuple(law.values()), tuple(words.values()), rewards)


def chain_optima(target: Rows, proposal: Rows, depth: int) -> tuple[Any, Any]:
    """Both optima of a chain in closed form, (full information, stateless): the sums over l and x^l of
    min(p(x^l), q(x^l)), and of q(x^l) w(x^l), w <- min(1, w p/q), which block verification accepts
    (sun2025block, Theorem 2 and Lemma 3).

    >>> from draftproof.theory.table import Table
    >>> p, q = Table.exact(2, {(): ["1/3", "2/3"]}), Table.exact(2, {(): ["2/3", "1/3"]})
    >>> chain_optima(p, q, 2)
    (4/3, 11/9)
    """
    start = one(target[()])
    full, stateless, level = start * 0, start * 0, [((), start, start, start)]
    for _ in range(depth):
        below = []
        for prefix, P, Q, w in level:
            for x, (p, q) in enumerate(zip(target[prefix], proposal[prefix], strict=True)):
                if p > 0 and q > 0:
                    kept = share(w * p, q)
                    full, stateless = full + minimum(P * p, Q * q), stateless + Q * q * kept
                    below.append(((*prefix, x), P * p, Q * q, kept))
        level = below
    return full, stateless
