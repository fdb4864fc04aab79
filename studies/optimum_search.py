"""Searches for a node at which the plan of `optimal` keeps less than alpha*, in rationals, with `==`.

python -m studies.optimum_search [--blocks 0:224] > search.json      # the plan's own code
python -m studies.optimum_search --broken > broken.json              # edited versions of it

Blocks 0 to 23 are whole lattices, from 24 on 10,000 random nodes each, by the block's number as seed. Every
node is one plan and all 2^V bounds g(X) + t(off X), in whole numbers over one denominator. The plan must keep
the least of them, and what it leaves must be what its orders, whose chances are a law, leave of t.
"""

import inspect
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations_with_replacement, islice, product
from math import lcm, prod
from random import Random
from time import process_time
from typing import Any

import click
from flint import fmpq, fmpz

from draftproof.theory.rows import Row
from draftproof.theory.shared.strata import strata
from draftproof.theory.verifiers.shared import optimal as plans

Node = tuple[Row, tuple[Row, ...]]
"""t, which may be a part of a row, and the row of each sibling."""

NODES = 10_000  # random nodes of a block
STEPS = 200  # a loop that takes more is said not to end
CUT = "min(bounds) <= total(meet(t, lead))"

LATTICES = (
    *(("rows", 2, 2, 16), ("rows", 2, 3, 10), ("rows", 2, 4, 6), ("rows", 3, 2, 6), ("rows", 3, 3, 4)),
    *(("rows", 3, 4, 3), ("rows", 4, 2, 4), ("rows", 4, 3, 2), ("rows", 4, 4, 2), ("rows", 5, 2, 3)),
    *(("rows", 5, 3, 2), ("i.i.d.", 5, 3, 4), ("strata", 5, 3, 4), ("strata", 5, 4, 4)),
    *(("i.i.d.", vocab, count, size) for vocab, size in ((3, 12), (4, 6)) for count in (2, 3, 4)),
    *(("strata", vocab, count, size) for vocab, size in ((3, 12), (4, 6)) for count in (2, 3)),
)
"""Kind of siblings, V, siblings, and the denominator of all rows; t is also any part of a row."""

BROKEN = {
    "at most 1 order": (CUT, f"len(rows) > 1 or {CUT}"),
    "at most 2 orders": (CUT, f"len(rows) > 2 or {CUT}"),
    "at most 3 orders": (CUT, f"len(rows) > 3 or {CUT}"),
    "at most 4 orders": (CUT, f"len(rows) > 4 or {CUT}"),
    "at most 5 orders": (CUT, f"len(rows) > 5 or {CUT}"),
    "at most 6 orders": (CUT, f"len(rows) > 6 or {CUT}"),
    "done when half of the bound is kept": ("min(bounds) <=", "min(bounds) / 2 <="),
    "bounds without the empty set": ("min(bounds)", "min(list(bounds)[1:])"),
    "the new order has to keep more at once": (
        "        chances = nearest(",
        "        if total(meet(t, rows[order])) <= total(meet(t, lead)):\n"
        "            return Plan(chances, tuple(map(share, t, lead)), excess(t, lead))\n"
        "        chances = nearest(",
    ),
    "the last order and the new one": ("{**chances, order", "{[*chances][-1]: one(t), order"),
    "orders by t - lead, squares over pi": (
        "key=lambda x: (t[x] - lead[x]) / pi[x], reverse",
        "key=lambda x: t[x] - lead[x], reverse",
    ),
    "orders by (t - lead) / pi, plain squares": ("a * b / weight for", "a * b for"),
    "orders by lead / t": ("(t[x] - lead[x]) / pi[x]", "-lead[x] / (t[x] + pi[x])"),
    "no order goes": ("if part < 0]", "if part < -9]"),
    "orders go one time only": ("if not below:", "if True:"),
}
"""One edit each in the plan's source, after which it may keep less, or not end."""

OPEN = {
    "orders go at the longest step": ("min(below, default", "max(below, default"),
    "orders go without a step": ("step * (part - have)", "(part - have)"),
}
"""Edits after which it keeps alpha* if it ends; that it ends is not known."""

RIGHT = {
    "pi is one": ("pi = included(laws)", "pi = tuple(one(t) * possible(mass) for mass in included(laws))"),
    "pi is squared": ("pi = included(laws)", "pi = tuple(mass * mass for mass in included(laws))"),
    "ties the other way": (
        "in enumerate(pi) if possible(mass)]",
        "in enumerate(pi) if possible(mass)][::-1]",
    ),
    "begun with the worst order": (
        "order = lacking(scale(0 * one(t), t))",
        "order = lacking(scale(0 * one(t), t))[::-1]",
    ),
    "bounds without the whole set": ("min(bounds)", "min(list(bounds)[:-1])"),
}
"""Edits after which it must still keep alpha*: any weights above 0 serve, and any order to begin with; the
bound of the whole set is 1, that of the empty one is no more."""


def lattice(kind: str, vocab: int, siblings: int, size: int) -> Iterator[Node]:
    """All nodes whose rows have this denominator; the siblings' rows in one order."""
    parts = [w for w in product(range(size + 1), repeat=vocab) if sum(w) <= size]
    every = [tuple(fmpq(w, size) for w in weights) for weights in parts]
    rows = [row for row, weights in zip(every, parts, strict=True) if sum(weights) == size]
    alike = {"i.i.d.": lambda q: (q,) * siblings, "strata": lambda q: strata(q, siblings)}
    laws = map(alike[kind], rows) if kind in alike else combinations_with_replacement(rows, siblings)
    return ((t, each) for each in laws for t in every)


WEIGHTS = (
    lambda rng: rng.choice((0, 0, 1, 2, 3, 5, 8)),
    lambda rng: rng.choice((1, 1, 1, 2)),
    lambda rng: rng.randint(1, 30),
    lambda rng: rng.choice((0, rng.randint(1, 1000))),
    lambda rng: 3 ** rng.randint(0, 6),
)
"""Rows with zeros, with ties, dense, of large denominators, peaked."""


def random_nodes(seed: int, count: int) -> Iterator[Node]:
    """i.i.d. siblings, strata, any rows in turn, V = 2 to 5, K = 2 to 4; in a third the rows are near t."""
    rng = Random(seed)

    def row(vocab: int) -> Row:
        weights = [0]
        while not any(weights):
            draw = rng.choice(WEIGHTS)
            weights = [draw(rng) for _ in range(vocab)]
        return tuple([fmpq(w, sum(weights)) for w in weights])

    for n in range(count):
        vocab, siblings, near = rng.randint(2, 5), rng.randint(2, 4), rng.random() < 1 / 3
        t = row(vocab)

        def drafted(vocab: int = vocab, t: Row = t, near: bool = near) -> Row:
            return tuple((a + b) / 2 for a, b in zip(t, row(vocab), strict=True)) if near else row(vocab)

        if n % 3 == 2:
            laws = tuple([drafted() for _ in range(siblings)])
        else:
            q = drafted()
            laws = (q,) * siblings if n % 3 == 0 else strata(q, siblings)
        part = rng.choice((fmpq(1), fmpq(1), fmpq(rng.randint(1, 9), 10)))
        yield tuple([part * mass for mass in t]), laws


def block(number: int) -> Iterator[Node]:
    """The nodes of a block."""
    of_lattices = number < len(LATTICES)
    return lattice(*LATTICES[number]) if of_lattices else random_nodes(number, NODES)


def whole(row: Row) -> tuple[list[int], int]:
    """A row's weights over one denominator."""
    bottom = lcm(*(int(mass.q) for mass in row))
    return [int(mass.p) * (bottom // int(mass.q)) for mass in row], bottom


def of_sets(weights: Sequence[int]) -> list[int]:
    """What each set of tokens has, by the set's bits."""
    sums = [0]
    for weight in weights:
        sums += [weight + mass for mass in sums]
    return sums


def fault(t: Row, laws: Sequence[Row], plan: Any) -> str | None:
    """What is wrong with a plan; None if it keeps alpha*."""
    given = [whole(R) for R in laws]
    bottom = prod(denominator for _, denominator in given)
    sums = [of_sets(weights) for weights, _ in given]
    none = [
        prod(denominator - mass for (_, denominator), mass in zip(given, masses, strict=True))
        for masses in zip(*sums, strict=True)
    ]
    own, unit = whole(t)
    of_t = of_sets(own)
    most = min((bottom - n) * unit + (of_t[-1] - mass) * bottom for n, mass in zip(none, of_t, strict=True))
    chances = plan.chances.values()
    if any(chance < 0 for chance in chances) or sum(chances) != 1:
        return "no law"
    lead = [fmpq(0)] * len(t)
    for order, chance in plan.chances.items():
        before = 0
        for x in order:
            lead[x] += chance * fmpq(none[before] - none[before | 1 << x], bottom)
            before |= 1 << x
    rest = tuple([mass - had if had < mass else fmpq(0) for mass, had in zip(t, lead, strict=True)])
    if plan.left != rest:
        return "not what its orders leave"
    kept = sum(t, fmpq(0)) - sum(plan.left, fmpq(0))
    return None if kept == fmpq(fmpz(most), fmpz(bottom * unit)) else "short of alpha*"


@dataclass
class Searched:
    """Nodes tried, how many show each fault, and the first that does; nodes by the steps of the loop, and by
    the orders of the plan.
    """

    nodes: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    first: int | None = None
    steps: Counter[int] = field(default_factory=Counter)
    orders: Counter[int] = field(default_factory=Counter)


class DoesNotEnd(ArithmeticError):
    """The loop took more than STEPS steps."""


def search(nodes: Iterable[Node], code: dict[str, Any]) -> Searched:
    """Plans every node by these functions of the plan's module."""
    found = Searched()
    nearest, taken = code["nearest"], [0]

    def counted(*arguments: Any) -> Any:
        taken[0] += 1
        if taken[0] > STEPS:
            raise DoesNotEnd
        return nearest(*arguments)

    code["nearest"] = counted
    try:
        for t, laws in nodes:
            taken[0] = 0
            found.nodes += 1
            try:
                plan = inspect.unwrap(code["optimal"])(t, laws)
                wrong = fault(t, laws, plan)
                found.orders[len(plan.chances)] += 1
            except DoesNotEnd:
                wrong = "does not end"
            except ZeroDivisionError:
                wrong = "divides by 0"
            found.steps[taken[0]] += 1
            if wrong:
                found.faults[wrong] += 1
                found.first = found.first or found.nodes
    finally:
        code["nearest"] = nearest
    return found


def edited(edit: tuple[str, str]) -> dict[str, Any]:
    """The plan's functions after one edit of their source."""
    source = inspect.getsource(plans)
    if source.count(edit[0]) != 1:
        raise ValueError(f"{edit[0]!r} is not once in the plan's source")
    code: dict[str, Any] = {"__name__": "edited"}
    exec(source.replace(*edit), code)
    return code


def spread(counts: Counter[int]) -> dict[str, int]:
    """The counts of each number, the smallest number first."""
    return {str(number): counts[number] for number in sorted(counts)}


def blocks(first: int, end: int) -> Iterator[dict[str, Any]]:
    """A record of every block, planned by the code that ships."""
    for number in range(first, end):
        begun, found = process_time(), search(block(number), plans.__dict__)
        yield {
            "block": number,
            "nodes": found.nodes,
            "faults": dict(found.faults),
            "steps": spread(found.steps),
            "orders": spread(found.orders),
            "seconds": round(process_time() - begun, 1),
        }


def versions(first: int, count: int) -> Iterator[dict[str, Any]]:
    """Of every edited version: faults among `count` random nodes, and the first node that shows one."""
    seeds = range(first, first + -(-count // NODES))
    for kind, edits in (("broken", BROKEN), ("open", OPEN), ("right", RIGHT)):
        for name, edit in edits.items():
            nodes = chain.from_iterable(random_nodes(seed, NODES) for seed in seeds)
            found = search(islice(nodes, count), edited(edit))
            yield {
                "version": name,
                "kind": kind,
                "nodes": found.nodes,
                "faults": dict(found.faults),
                "first": found.first,
            }


@click.command(help=__doc__)
@click.option("--blocks", "chosen", default="0:224", show_default=True, help="FIRST:END of the blocks")
@click.option("--broken", is_flag=True, help="edited versions on random nodes instead")
@click.option("--nodes", default=NODES, show_default=True, help="nodes of each edited version")
def main(chosen: str, broken: bool, nodes: int) -> None:
    """A line of JSON for each block or version. Blocks are independent: a search goes on where it ended."""
    first, end = map(int, chosen.split(":"))
    for record in versions(len(LATTICES), nodes) if broken else blocks(first, end):
        print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
