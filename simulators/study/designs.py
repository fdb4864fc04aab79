"""What a node accepts by design and verifier, from one pair of rows over a large vocabulary, in float64.

A design is how a node's K siblings are drawn. What is *accepted* is the probability that the node's token is
a drafted one. Each form takes rows p and q of one length that sum to 1.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from draftproof.theory.rows import likeliest
from draftproof.theory.shared.strata import inclusion, rest_and_top, strata
from draftproof.theory.transport.single_step import inclusion_bound, of_prefixes
from draftproof.theory.verifiers.shared.priority import included

SIBLINGS = 1, 2, 3, 4, 6, 8, 12, 16
"""The numbers of siblings K that are tabulated."""

CLASSES, OCTAVE = 64, 4
"""The priority rule's classes: so many in all, so many to a factor of 2 of p / pi."""


@dataclass(frozen=True)
class Column:
    """A design with a verifier, or with the name of a number that no verifier exceeds.

    `kind` is "rule", "optimum" or "bound"; `attained` says whether a verifier that runs at this size has it.
    """

    design: str
    verifier: str
    kind: str
    accepted: Callable[[np.ndarray, np.ndarray, Sequence[int], np.random.Generator], list[float]]
    attained: bool = True


def specinfer(p: np.ndarray, q: np.ndarray, counts: Sequence[int], _: np.random.Generator) -> list[float]:
    """i.i.d. siblings, recursive rejection: of what reaches sibling j sum min(p_j, q) is accepted, and then
    p_{j+1} = norm((p_j - q)+).
    """
    refused = [1.0]
    for _sibling in range(max(counts)):
        over = np.maximum(p - q, 0)
        refused.append(refused[-1] * (left := over.sum()))
        p = over / left if left > 0 else p
    return [float(1 - refused[k]) for k in counts]


def priority(p: np.ndarray, q: np.ndarray, counts: Sequence[int], _: np.random.Generator) -> list[float]:
    """i.i.d. siblings, the priority rule in classes (`draftproof.theory.verifiers.shared.priority.plan`)."""
    return [_kept(p, (q,) * k) for k in counts]


def alpha(p: np.ndarray, q: np.ndarray, counts: Sequence[int], _: np.random.Generator) -> list[float]:
    """i.i.d. siblings, alpha* (`draftproof.theory.transport.single_step.alpha`), sorted by arrays."""
    order = np.argsort(np.divide(p, q, out=np.full_like(p, np.inf), where=q > 0))
    P, Q = np.cumsum(p[order]), np.minimum(np.cumsum(q[order]), 1)
    return [float(of_prefixes(P.tolist(), (Q**k).tolist())[0]) for k in counts]


def rrs(p: np.ndarray, q: np.ndarray, counts: Sequence[int], rng: np.random.Generator) -> list[float]:
    """Without replacement, recursive rejection: an unbiased estimate, exact for one sibling. The rejected
    tokens are drawn, each from norm((q - p)+), and the chances of being rejected multiplied.
    """
    refused, out, q = 1.0, [], q.copy()
    for _ in range(min(max(counts), int((q > 0).sum()))):
        over, excess = np.maximum(q - p, 0).cumsum(), np.maximum(p - q, 0)
        refused *= min(float(over[-1]), 1.0)
        out.append(1 - refused)
        if not (over[-1] > 0 and excess.sum() > 0):  # nothing is refused, except by rounding
            break
        q[min(int(np.searchsorted(over, rng.random() * over[-1], side="right")), len(q) - 1)] = 0
        if not (rest := q.sum()) > 0:
            break
        p, q = excess / excess.sum(), q / rest
    return [out[min(k, len(out)) - 1] for k in counts]


def top(p: np.ndarray, q: np.ndarray, counts: Sequence[int], _: np.random.Generator) -> list[float]:
    """The likeliest tokens of q: their mass under p is accepted, which is also the optimum."""
    mass = np.cumsum(p[likeliest(q, max(counts))])
    return [float(mass[min(k, len(mass)) - 1]) for k in counts]


def greedy(p: np.ndarray, q: np.ndarray, counts: Sequence[int], _: np.random.Generator) -> list[float]:
    """The K - 1 likeliest tokens and one sample of the others, at that draft's optimum (hu2025towards)."""
    return [float(inclusion_bound(p, included(rest_and_top(q, k)))) for k in counts]  # type: ignore[arg-type]


def stratified(p: np.ndarray, q: np.ndarray, counts: Sequence[int], _: np.random.Generator) -> list[float]:
    """One sibling of each stratum, the priority rule in classes."""
    return [_kept(p, strata(q, k)) for k in counts]


def bound(p: np.ndarray, q: np.ndarray, counts: Sequence[int], _: np.random.Generator) -> list[float]:
    """sum min(p, pi) of strata (`draftproof.theory.transport.single_step.inclusion_bound`)."""
    return [float(inclusion_bound(p, inclusion(q, k))) for k in counts]  # type: ignore[arg-type]


def classes(t: np.ndarray, pi: np.ndarray) -> np.ndarray:
    """The class of each token by t / pi, the largest ratios in class 0; rounding moves no ratio of 1."""
    with np.errstate(divide="ignore"):
        octaves = np.log2(t) - np.log2(pi)
    return np.clip(CLASSES // 2 - np.floor(OCTAVE * octaves + 1e-9), 0, CLASSES - 1).astype(int)


def judged(left: np.ndarray, laws: Sequence[Any]) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """The priority rule in classes, sibling j drawn from laws[j]: (j, the tokens that are judged together,
    the mass that is kept of each, the most that could be), in the order of judging. What is kept is taken
    from `left`, which is t at first.
    """
    pi, unkept = np.sum(laws, axis=0), np.ones(len(laws))
    drafted = np.flatnonzero(pi)
    kinds = classes(left[drafted], pi[drafted])
    order = np.argsort(kinds, kind="stable")
    for together in np.split(drafted[order], np.flatnonzero(np.diff(kinds[order])) + 1):
        for j, law in enumerate(laws):
            reach = float(np.prod(unkept[:j]) * np.prod(unkept[j + 1 :]))
            at = together[law[together] > 0]
            if reach > 0 and len(at):
                most = law[at] * reach
                take = np.minimum(left[at], most)
                left[at] -= take
                yield j, at, take, most
                unkept[j] = max(unkept[j] - float(take.sum()) / reach, 0.0)


def _kept(t: np.ndarray, laws: Sequence[Any]) -> float:
    return sum(float(take.sum()) for _, _, take, _ in judged(t.copy(), laws))


COLUMNS = (
    Column("i.i.d.", "specinfer", "rule", specinfer),
    Column("i.i.d.", "priority", "rule", priority),
    Column("i.i.d.", "alpha*", "optimum", alpha, attained=False),
    Column("without replacement", "rrs", "rule", rrs),
    Column("top-k", "nss", "optimum", top),
    Column("greedy", "hu-greedy", "optimum", greedy),
    Column("stratified", "priority", "rule", stratified),
    Column("stratified", "sum min(p, pi)", "bound", bound, attained=False),
)
