"""Rows over a vocabulary of any size, of which only classes of tokens are tested."""

from pathlib import Path
from typing import Any

import numpy as np

from draftproof.simulators.audit.randomness.sources import Chance
from draftproof.theory.draft import Draft, Node
from draftproof.theory.errors import BadInput
from draftproof.theory.rows import Prefix

OUTCOMES = 100
"""Most words of classes: with more of them a test needs more runs for the same total variation."""

DRAFTS = 10**6
"""Most drafts whose acceptance is added up."""


class Wide:
    """Chains over V tokens, with an exact joint law of the classes of depth + 1 tokens.

    After every context the tokens are put in C classes, about equal in target mass, by falling p/q:
    most faults of a verifier move mass along that order. The class of a token is the context of the
    next row, so that rows that were mixed up show too. `target` and `proposal` hold the rows:
    [depth + 1, C, V] and [depth, C, V] of float64.

    >>> wide = Wide.peaked(vocab=1000, depth=2, seed=0)
    >>> wide.outcomes, round(sum(wide.classes[0][0]), 9)
    (64, 1.0)
    """

    tokens = False

    def __init__(self, target: np.ndarray, proposal: np.ndarray, name: str):
        self.p, self.q, self.name = target, proposal, name
        self.depth, self.count, self.vocab = proposal.shape[0], target.shape[1], target.shape[2]
        self.outcomes = self.count ** (self.depth + 1)
        self.target = self
        self.kinds = np.stack([_classes(p, q) for p, q in zip(target, [*proposal, None], strict=True)])
        self.classes = [
            [np.bincount(kinds, row, self.count).tolist() for kinds, row in zip(*at, strict=True)]
            for at in zip(self.kinds, target, strict=True)
        ]
        self._p, self._q = np.cumsum(target, axis=2), np.cumsum(proposal, axis=2)

    @classmethod
    def peaked(cls, vocab: int, depth: int, seed: int = 0) -> "Wide":
        """Random rows that fall like rank^-1.5, and proposals near them."""
        from scipy.special import softmax

        rng, count = np.random.default_rng(seed), classes(vocab, depth)
        ranks = rng.permuted(np.tile(np.arange(1.0, vocab + 1), (depth + 1, count, 1)), axis=2)
        logits = -1.5 * np.log(ranks)
        near = logits[:-1] + rng.normal(size=logits[:-1].shape)
        rows = softmax(logits, axis=-1), softmax(near, axis=-1)
        return cls(*rows, f"random peaked rows, V={vocab:,} depth {depth}")

    @classmethod
    def read(cls, path: Path) -> "Wide":
        """Rows of a .npz file, used after every context: `target` [depth + 1, V], `proposal` [depth, V]."""
        try:
            with np.load(path, allow_pickle=False) as file:
                p, q = (np.asarray(file[key], dtype=np.float64) for key in ("target", "proposal"))
        except (OSError, ValueError, KeyError, EOFError, AttributeError) as error:
            raise BadInput(f"{path}: not a .npz file with `target` and `proposal`: {error}") from None
        if p.ndim != 2 or q.ndim != 2 or p.shape != (len(q) + 1, q.shape[1]) or p.shape[1] < 2 or not len(q):
            raise BadInput(
                f"{path}: target must be [depth + 1, V] and proposal [depth, V], "
                f"not {list(p.shape)} and {list(q.shape)}"
            )
        for name, rows in (("target", p), ("proposal", q)):
            if not (rows >= 0).all() or not np.allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-3):
                raise BadInput(f"{path}: {name}: a row is not non-negative numbers that sum to 1")
        count = classes(p.shape[1], len(q))
        p, q = (rows / rows.sum(axis=1, keepdims=True) for rows in (p, q))
        p, q = (np.repeat(rows[:, None], count, axis=1) for rows in (p, q))
        return cls(p, q, f"{path.name}, V={p.shape[2]:,} depth {len(q)}")

    def __getitem__(self, prefix: Prefix) -> Any:
        return self.p[len(prefix), self._after(prefix)]

    def draw(self, chance: Chance) -> Draft:
        """A draft, its rows of floats."""
        prefix, above = (), []
        for at in range(self.depth):
            after = self._after(prefix)
            above.append((prefix, self.q[at, after]))
            prefix = (*prefix, _drawn(self._q[at, after], chance))
        node = Node(prefix, ())
        for prefix, q in reversed(above):
            node = Node(prefix, q, (node,))
        return Draft(node)

    def next(self, chance: Chance, prefix: Prefix) -> int:
        """The target's own next token."""
        return _drawn(self._p[len(prefix), self._after(prefix)], chance)

    def seen(self, word: Prefix) -> tuple[tuple[int, ...], float]:
        """The classes of a word's tokens, and how probable they are together; 0 for a word that cannot be."""
        after, probability, found = 0, 1.0, []
        for at, token in enumerate(word):
            kind = int(self.kinds[at, after, token])
            probability *= self.classes[at][after][kind] if self.p[at, after, token] > 0 else 0.0
            found.append(kind)
            after = kind
        return tuple(found), probability

    @property
    def optimum(self) -> float | None:
        """The E[tau] of block verification; None where there are too many drafts to add up.

        >>> round(Wide.peaked(vocab=10, depth=2).optimum, 3)
        1.015
        """
        if self.vocab**self.depth > DRAFTS:
            return None
        weight, mass, after, total = np.ones(1), np.ones(1), np.zeros(1, dtype=np.int64), 0.0
        for p, q, kinds in zip(self.p, self.q, self.kinds[:-1], strict=False):
            ratio = np.divide(p, q, out=np.zeros_like(p), where=q > 0)
            weight = np.minimum(1.0, weight[:, None] * ratio[after]).ravel()
            mass = (mass[:, None] * q[after]).ravel()
            total += float(weight @ mass)
            after = kinds[after].ravel()
        return total

    def _after(self, prefix: Prefix) -> int:
        after = 0
        for at, token in enumerate(prefix):
            after = int(self.kinds[at, after, token])
        return after


def classes(vocab: int, depth: int) -> int:
    """How many classes a position has, 2 or more.

    >>> classes(32_000, 1), classes(32_000, 3), classes(2, 1)
    (10, 3, 2)
    """
    count = 2
    while count < vocab and (count + 1) ** (depth + 1) <= OUTCOMES:
        count += 1
    return count


def _classes(p: np.ndarray, q: np.ndarray | None) -> np.ndarray:
    # [C, V]: each row's tokens by falling p/q, or by falling p, cut where the mass passes k/C.
    ratio = p if q is None else np.divide(p, q, out=np.full_like(p, np.inf), where=q > 0)
    order = np.argsort(-ratio, axis=1, kind="stable")
    middle = (
        np.cumsum(np.take_along_axis(p, order, axis=1), axis=1) - np.take_along_axis(p, order, axis=1) / 2
    )
    kinds = np.empty(p.shape, dtype=np.int64)
    np.put_along_axis(kinds, order, np.minimum((middle * len(p)).astype(np.int64), len(p) - 1), axis=1)
    return kinds


def _drawn(cumulative: np.ndarray, chance: Chance) -> int:
    at = int(np.searchsorted(cumulative, chance.rng.random() * cumulative[-1], side="right"))
    return min(at, len(cumulative) - 1)
