"""Coins at the very edge of what generators return, and rows of NaN, tried on purpose.

An edge has probability 2^-24 or less, so it changes no law by more than rounding; what happens
there is a finding of its own: a token of probability zero, an id outside the vocabulary, an error.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

import numpy as np

from draftproof.simulators.audit.door import Fault, Watch
from draftproof.simulators.audit.judge.battery import equal_rows
from draftproof.simulators.audit.judge.run import bare
from draftproof.simulators.audit.randomness.sources import Fixed
from draftproof.simulators.audit.targets.loop import Loop
from draftproof.simulators.audit.targets.target import Target
from draftproof.simulators.enumerate import drafts
from draftproof.theory.draft import Draft
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Prefix

EDGES = (0.0, 2.0**-149, 1 - 2.0**-24, 1 - 2.0**-53)
"""The smallest and the largest coins of float32 and float64 generators."""

MOST = 12
"""How many coins of one call are put to an edge one by one."""


@dataclass(frozen=True)
class Finding:
    """Something an engineer should know: in a word or two, and where it was seen."""

    kind: str
    where: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}"


def edges_of(
    target: Target, watch: Watch, chosen: Sequence[Instance], found: dict[str, Finding], padding: bool
) -> None:
    """Adds to `found` what happens at the edges, on the smaller of the instances.

    A target of which every call is slow is tried on two drafts: the first, and the first that has a
    token of probability zero under the target.
    """
    least = min(instance.draft.outcomes(instance.vocab) for instance in chosen)
    small = [each for each in chosen if each.draft.outcomes(each.vocab) <= max(4, least)]
    tried = ((instance, draft) for instance in small for _, draft in drafts(instance))
    for instance, draft in _two(tried) if target.slow else tried:
        prepared = target.prepare(instance.target, draft)
        at_the_edges(target, watch, instance, prepared, _where(instance, draft), found)
    for fault in outside(target, watch, chosen[0], lambda p, q, x: (np.full_like(p, np.nan), q, x)):
        found.setdefault(fault.kind, Finding(fault.kind, f"{fault.what}; target rows of NaN"))
    if padding:  # a drafted id of -1 stands for nothing drafted: it may not come out
        for fault in outside(target, watch, chosen[0], lambda p, q, x: (p, q, np.array([*x[:-1], -1]))):
            found.setdefault("accepts padding", Finding("accepts padding", fault.what))
    if not target.slow:
        with_equal_rows(target, watch, chosen[-1].vocab, chosen[-1].draft.depth, found)


def _two(tried: Iterable[tuple[Instance, Draft]]) -> Iterator[tuple[Instance, Draft]]:
    first, *rest = tried
    yield first
    yield from islice(((each, draft) for each, draft in rest if _impossible(each, draft.path[-1].prefix)), 1)


def at_the_edges(
    target: Target | Loop,
    watch: Watch,
    instance: Instance,
    prepared: object,
    where: str,
    found: dict[str, Finding],
) -> None:
    """Adds to `found` what happens when one coin, or all of them, stand at an edge."""
    for coins, said in patterns(tossed(target, watch, prepared)):
        for last in (False,) if target.slow else (False, True):
            fault = tried(target, watch, prepared, Fixed(coins, last), instance)
            if fault is not None:
                found.setdefault(f"edge {fault.kind}", Finding(fault.kind, f"{fault.what}; {said}, {where}"))


def with_equal_rows(target: Target, watch: Watch, vocab: int, depth: int, found: dict[str, Finding]) -> None:
    """Rows of p and q that differ by rounding alone, and the largest coins.

    A ratio p/q just below 1 rejects the largest coin of its type, and then (p - q)+ may be zero
    everywhere. Rows that are given as probabilities are equal, and q once a rounding above p; rows
    given as logits differ by what the function's own softmax makes of them.
    """
    for instance in equal_rows(vocab, depth):
        for _, draft in drafts(instance):
            arrays = _arrays(target, instance, draft)
            if arrays is None:
                return
            p, q, x = arrays
            for rows in [q] if target.logits else [q, np.nextafter(q, q.dtype.type(2))]:
                for at, edge in product(range(depth), EDGES[2:]):
                    source = Fixed([*[0.0] * at, edge, 0.5])
                    fault = tried(target, watch, (p, rows, x), source, instance)
                    if fault is not None:
                        seen = f"{fault.what}; coin {at + 1} is {edge!r}, p and q equal but for rounding"
                        seen += f", {_where(instance, draft)}"
                        found.setdefault(f"equal rows {fault.kind}", Finding(fault.kind, seen))
                        return


def outside(
    target: Target, watch: Watch, instance: Instance, broken: Callable[..., tuple[np.ndarray, ...]]
) -> Iterator[Fault]:
    """Tokens outside the vocabulary that come of broken arrays, which may also raise."""
    for _, draft in drafts(instance):
        arrays = _arrays(target, instance, draft)
        if arrays is None:
            return
        for coin in (0.0, 0.5, 1 - 2.0**-24):
            fault = tried(target, watch, broken(*arrays), Fixed([coin]), None)
            if fault is not None and fault.kind == "leaves the vocabulary":
                yield fault


def _arrays(target: Target, instance: Instance, draft: Draft) -> tuple[np.ndarray, ...] | None:
    prepared = target.prepare(instance.target, draft)
    return prepared if isinstance(prepared, tuple) and isinstance(prepared[0], np.ndarray) else None


def tossed(target: Target | Loop, watch: Watch, prepared: object) -> int:
    """How many coins one run tosses."""
    source = Fixed([0.5])
    try:
        target.fresh()
        target.call(watch, source, prepared, 0)
    except Fault:
        pass
    return source.drawn


def patterns(coins: int) -> Iterator[tuple[list[float], str]]:
    """Coins with one of them, or all, at an edge; and how to say so."""
    for edge in EDGES if coins else ():
        yield [edge], f"every coin {edge!r}"
        for at in range(min(coins, MOST)):
            for other in (0.0, 0.5):
                yield [*[other] * at, edge, other], f"coin {at + 1} is {edge!r}"


def tried(
    target: Target | Loop, watch: Watch, prepared: object, source: Fixed, instance: Instance | None
) -> Fault | None:
    """What is wrong with one run, if anything; without an instance no token is impossible."""
    try:
        target.fresh()
        word = target.call(watch, source, prepared, 0)
    except Fault as fault:
        return fault
    impossible = None if instance is None else _impossible(instance, word)
    if impossible is None:
        return None
    return Fault("emits a token of probability zero", f"{impossible[-1]} after {impossible[:-1]}")


def _impossible(instance: Instance, word: Prefix) -> Prefix | None:
    for end in range(1, len(word) + 1):
        if not instance.target[word[: end - 1]][word[end - 1]]:
            return word[:end]
    return None


def _where(instance: Instance, draft: Draft) -> str:
    return f"on {instance.name or 'an instance'}, drafted {bare(draft)}"
