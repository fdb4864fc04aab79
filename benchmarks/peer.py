"""Computes the same exact laws with icepool, a general library of exact distributions, and compares times.

    pip install icepool && python benchmarks/peer.py

This is what a user would write instead: the output of one iteration as a function of three exact
distributions in icepool (dice and Markov-style `map`), for token and block verification on a chain, and for
recursive rejection on siblings drawn without replacement. Laws are compared with `==`; times are processor
times of one run, the best of five, and only their ratio matters.

One law is computed in rationals, and the laws of a thousand instances or so in exact lanes, where the
probability of a word is its residues modulo enough primes. Ten of these laws are computed by icepool too, and
each probability is the same number: the two differ in no residue, and there are enough.
"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import log2
from random import Random
from time import process_time
from typing import Any

import icepool
import numpy as np

from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.exact_lanes.lanes import Lanes
from draftproof.simulators.laws.exact_lanes.residues import SAFE, UNIT, Arithmetic, Exact
from draftproof.simulators.support.make import tabulate, weighted
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance
from draftproof.theory.table import Table
from draftproof.theory.verifiers import named

Word = tuple[int, ...]


def die(row: list[Fraction]) -> icepool.Die:
    """A row of probabilities as an icepool die."""
    common = 1
    for mass in row:
        common *= (mass * common).denominator
    return icepool.Die({x: int(mass * common) for x, mass in enumerate(row) if mass})


def coin(probability: Fraction) -> icepool.Die:
    """True with the given probability."""
    return icepool.coin(probability.numerator, probability.denominator)


def residual(w: Fraction, p: list[Fraction], q: list[Fraction]) -> list[Fraction]:
    """(w p - q)+, not normalised."""
    return [max(w * a - b, Fraction(0)) for a, b in zip(p, q, strict=True)]


def normalised(row: list[Fraction]) -> icepool.Die:
    """norm(row) as a die."""
    whole = sum(row)
    return die([mass / whole for mass in row])


def token(p: dict[Word, list[Fraction]], q: dict[Word, list[Fraction]], depth: int) -> icepool.Die:
    """Token verification with icepool: draft and coin at each position, prefix by prefix."""

    @cache
    def emit(prefix: Word) -> icepool.Die:
        if len(prefix) == depth:
            return die(p[prefix]).map(lambda y: (*prefix, y))

        def step(x: int) -> object:
            kept = min(Fraction(1), p[prefix][x] / q[prefix][x])
            if kept == 1:
                return emit((*prefix, x))
            corrected = normalised(residual(Fraction(1), p[prefix], q[prefix])).map(lambda y: (*prefix, y))
            return coin(kept).if_else(emit((*prefix, x)), corrected)

        return die(q[prefix]).map(step)

    return emit(())


def block(p: dict[Word, list[Fraction]], q: dict[Word, list[Fraction]], depth: int) -> icepool.Die:
    """Block verification with icepool: the draft as one die, then the stop for each draft."""

    @cache
    def drafted(prefix: Word) -> icepool.Die:
        if len(prefix) == depth:
            return icepool.Die([prefix])
        return die(q[prefix]).map(lambda x: drafted((*prefix, x)))

    def verified(word: Word) -> icepool.Die:
        w = [Fraction(1)]
        for i, x in enumerate(word):
            w.append(min(Fraction(1), w[-1] * p[word[:i]][x] / q[word[:i]][x]))

        def stop(i: int) -> object:
            if i == depth:
                here, kept = die(p[word]), w[i]
                if kept == 0:
                    return stop(i - 1)
            else:
                row = residual(w[i], p[word[:i]], q[word[:i]])
                A = sum(row)
                kept = A / (A + 1 - w[i]) if A + 1 - w[i] else Fraction(1)
                if kept == 0:
                    return stop(i - 1)
                here = normalised(row)
            out = here.map(lambda y: (*word[:i], y))
            return out if kept == 1 else coin(kept).if_else(out, stop(i - 1))

        return stop(depth)

    return drafted(()).map(verified)


def siblings(p: dict[Word, list[Fraction]], q: dict[Word, list[Fraction]], count: int) -> icepool.Die:
    """Recursive rejection of `count` children of the root with icepool, drawn without replacement."""

    def judged(left: list[Fraction], have: list[Fraction], more: int) -> icepool.Die:
        whole = sum(have)
        if not more or not whole:
            return die(left).map(lambda y: (y,))

        def step(x: int) -> object:
            law = [mass / whole for mass in have]
            kept = min(Fraction(1), left[x] / law[x])
            accepted = die(p[x,]).map(lambda y: (x, y))
            if kept == 1:
                return accepted
            row = residual(Fraction(1), left, law)
            without = [mass * (y != x) for y, mass in enumerate(have)]
            rejected = judged([mass / sum(row) for mass in row], without, more - 1)
            return coin(kept).if_else(accepted, rejected) if kept else rejected

        return normalised(have).map(step)

    return judged(p[()], q[()], count)


def instance(vocab: int, draft: Scheme) -> Instance:
    """Full-support rows with weights 1 .. 9, different after every prefix."""
    random = Random(0)

    def row(prefix: Word) -> tuple:
        return weighted([random.randint(1, 9) for _ in range(vocab)])

    return tabulate(vocab, draft, row, row, "peer")


def fractions(table: Table) -> dict[Word, list[Fraction]]:
    """A table's rows as Python fractions."""
    return {prefix: [Fraction(int(x.p), int(x.q)) for x in row] for prefix, row in table.given()}


def best(function: Callable[[], Any]) -> tuple[float, Any]:
    """The least processor time of five runs, and what the last one returned."""
    times, found = [], None
    for _ in range(5):
        started = process_time()
        found = function()
        times.append(process_time() - started)
    return min(times), found


MASSES, ALSO = 2**18, 10
"""How many probabilities of words are computed at once, and how many of the laws by icepool too."""


def many(given: Instance) -> Lanes:
    """Instances of the same size, weights from 1 to 9; their laws have about MASSES words in all."""
    rng = np.random.default_rng(0)
    count = MASSES // sum(given.vocab ** (length + 1) for length in range(given.draft.depth + 1))

    def table(like: Table) -> Table:
        return Table(like.vocab, {at: rng.integers(1, 10, (like.vocab, count)) for at, _ in like.given()})

    return Lanes(table(given.target), table(given.proposal), given.draft)


def single(table: Table, lane: int) -> dict[Word, list[Fraction]]:
    """One lane of a table, as Python fractions."""
    rows = {at: row[:, lane].tolist() for at, row in table.given()}
    return {at: [Fraction(x, sum(row)) for x in row] for at, row in rows.items()}


def words(lanes: Any, name: str) -> dict[Word, Exact]:
    """Every word with its probability in every lane."""
    found, law = emission(lanes, named(name)), dict[Word, Exact]()
    for prefix, mass in found.bonus.items():
        for x, share in enumerate(lanes.target[prefix]):
            law[*prefix, x] = mass * share
    for prefix, row in found.residual.items():
        for x, mass in enumerate(row):
            known = law.get((*prefix, x))
            law[*prefix, x] = mass if known is None else known + mass
    return law


def constant(by: Arithmetic, values: list[Fraction]) -> Exact:
    """A fraction of each lane, as an exact number of the lanes."""
    key = "icepool", max(value.denominator for value in values)
    by.sizes[key] = log2(key[1]) * SAFE
    primes = [int(prime) for prime in by.primes[:, 0]]
    whole = [[v.numerator * pow(v.denominator, -1, m) % m for v in values] for m in primes]
    near = np.array([float(value) for value in values])
    return by.number(near, by.reduced(np.array(whole, float)), UNIT * float(near.max()), Counter((key,)))


def at_once(given: Instance, name: str, peer: Callable[..., Any]) -> tuple[float, int, int, bool]:
    """Seconds for each of many laws in exact lanes, their number, the primes that they need, and whether
    icepool's are equal.
    """
    lanes, primes = many(given), 1
    theirs = [peer(single(lanes.target, lane), single(lanes.proposal, lane)) for lane in range(ALSO)]
    while True:
        by: Any = Arithmetic(lanes.count, primes)
        ours = words(lanes.each(by.row), name)
        same = not by.undecided.any() and {word for law in theirs for word in law} <= ours.keys()
        for word, mass in ours.items():
            first = by.number(mass.near[:ALSO], mass.residues[..., :ALSO], mass.error, mass.factors)
            wanted = constant(by, [Fraction(law.probability(word)) for law in theirs])
            same &= bool(by.zero(by.plus(first, wanted, np.subtract)).all())
        by.known.clear()
        if by.need < by.bits or not same:
            break
        primes = by.enough

    def computed() -> None:
        by: Any = Arithmetic(lanes.count, primes)
        words(lanes.each(by.row), name)
        by.known.clear()

    seconds, _ = best(computed)
    return seconds / lanes.count, lanes.count, primes, same


CASES: list[tuple[str, Callable[..., icepool.Die], int, Scheme]] = [
    *(("token", token, vocab, Chain(depth)) for vocab, depth in ((2, 2), (3, 3), (2, 6))),
    *(("block", block, vocab, Chain(depth)) for vocab, depth in ((2, 2), (3, 3), (4, 3), (2, 6))),
    *(("rrs", siblings, vocab, Tree(((),) * count)) for vocab, count in ((3, 2), (4, 2), (4, 3))),
]


def main() -> None:
    heads = (
        "V",
        "draft",
        "icepool ms",
        "ms",
        "ratio",
        "same law",
        "ms, of many",
        "ratio",
        "primes",
        "same laws",
    )
    print(f"{'verifier':<9}" + "".join(f"{head:>13}" for head in heads))
    for name, written, vocab, draft in CASES:
        given = instance(vocab, draft)
        mine, ours = best(lambda given=given, name=name: emission(given, named(name)).law())
        p, q = fractions(given.target), fractions(given.proposal)
        size = draft.depth if isinstance(draft, Chain) else len(draft.shape)
        peer, theirs = best(lambda written=written, p=p, q=q, size=size: written(p, q, size))
        law = {word: Fraction(int(mass.p), int(mass.q)) for word, mass in ours.items()}
        same = law == {word: Fraction(theirs.probability(word)) for word in theirs}
        kind = f"{'chain' if isinstance(draft, Chain) else 'siblings'} {size}"
        each, laws, primes, equal = at_once(
            given, name, lambda p, q, written=written, size=size: written(p, q, size)
        )
        print(
            f"{name:<9}{vocab:>13}{kind:>13}{1e3 * peer:>13.3f}{1e3 * mine:>13.3f}{peer / mine:>12.1f}x",
            end="",
        )
        print(f"{same!s:>13}{1e3 * each:>13.5f}{peer / each:>12.0f}x{laws:>13}{primes:>13}{equal!s:>13}")


if __name__ == "__main__":
    main()
