"""Variants of the priority rule that were tried: orders and classes, on exact instances.

    python benchmarks/near_optimal_tried.py --count 60

* plan order: the lift enters children in the order in which they are judged, not in drawing order;
* classes: tokens judged together whose t / pi are in one quarter of an octave, sibling by sibling;
* tail first: the same, with the last stratum first;
* added rates: tokens in the usual order, but a child is kept with min(r, what those judged before it left of
  1): rates add up, where coins of their own would waste what several accept. Each r is solved for, from the
  law of what the other siblings leave;
* added, tail first: the same with the last stratum first;
* likeliest first: tokens in the order of pi, whatever t is.

Means of exact E[tau] over random instances of `Mixed` rows, V = 3, 4 and 5 in turn. Every variant is
lossless.
"""

import argparse
import json
from dataclasses import replace
from math import floor, log2

from draftproof.simulators.enumerate import emission
from draftproof.simulators.instances.randoms import Mixed, Randoms
from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.oracle import Oracle
from draftproof.theory.priority import Plan, included, plan
from draftproof.theory.rows import Number, Row, normalise, one, scale, share, total
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Stop
from draftproof.theory.verifiers import lifted_priority, named

SHAPES = {
    "pair": every(2, 1),
    "two paths": (((),), ((),)),
    "deepest first": (((), ()), ()),
    "deepest last": ((), ((), ())),
}


def in_classes(t: Row, laws: tuple[Row, ...], of: str) -> Plan:
    """The plan of one variant."""
    pi = included(laws)
    drafted = [x for x, mass in enumerate(pi) if mass > 0]

    def kind(x: int) -> float:
        if of == "likeliest first":
            return float(pi[x])
        return floor(4 * log2(float(t[x] / pi[x])) + 1e-9) if t[x] > 0 else -1e9

    groups = [[x for x in drafted if kind(x) == c] for c in sorted({*map(kind, drafted)}, reverse=True)]
    if of != "tail first":
        return plan(t, laws, groups)
    return turned(plan(t, laws[::-1], groups))


class Added(Plan):
    """A plan whose rates add up."""

    def shares(self, node: Node) -> list[Number]:
        left, kept = one(self.left), {}
        for child, rate in self.judged(node):
            kept[child] = min(rate, left)
            left = left - kept[child]
        return [kept[child] for child in node.children]


def added(t: Row, laws: tuple[Row, ...]) -> Plan:
    """What sibling j takes of x is R_j(x) E[min(r, L)], L what the others judged before leave of 1. r is
    chosen to take all that is left of t(x); 1 if that takes less.
    """
    pi, number = included(laws), one(t)
    order = sorted((x for x, mass in enumerate(pi) if mass > 0), key=lambda x: t[x] / pi[x], reverse=True)
    used = [{number * 0: number} for _ in laws]  # the law of each sibling's rate; 0 while it was not judged
    left, rate, mass = list(t), {}, {}
    for x in order:
        for j, R in enumerate(laws):
            if not R[x] > 0:
                continue
            L = {number: number}
            for i, law in enumerate(used):
                if i != j:
                    after: dict[Number, Number] = {}
                    for rest, chance in L.items():
                        for r, part in law.items():
                            still = max(rest - r, number * 0)
                            after[still] = after.get(still, number * 0) + chance * part
                    L = after
            r, taken = solved(left[x] / R[x], L)
            rate[x, j], mass[x, j] = r, R[x] * taken
            left[x] = left[x] - mass[x, j]
            used[j][number * 0] = used[j][number * 0] - R[x]
            used[j][r] = used[j].get(r, number * 0) + R[x]
    return Added(rate, mass, tuple(left))


def solved(want: Number, L: dict[Number, Number]) -> tuple[Number, Number]:
    """(r, E[min(r, L)]): the r from 0 to 1 with that mean, or 1 if the mean is less there."""
    at = reached = want * 0
    for end in sorted(L):
        slope = sum((chance for rest, chance in L.items() if rest >= end), want * 0)
        if slope > 0 and reached + slope * (end - at) >= want:
            return at + (want - reached) / slope, want
        at, reached = end, reached + slope * (end - at)
    return want * 0 + 1, reached


def turned(made: Plan) -> Plan:
    """The plan of siblings that were given last first."""
    k = max((j for _, j in made.rate), default=0)
    parts = [{(x, k - j): value for (x, j), value in part.items()} for part in (made.rate, made.mass)]
    return type(made)(*parts, made.left)


def in_plan_order(oracle: Oracle, draft: Draft, v: Node, a: Number, target: Rows) -> Stop | None:
    """`lifted_priority.lift`, but children are entered as they are judged."""
    p = target[v.prefix]
    if not v.children:
        return (v, p) if oracle.accept(a) else None
    made = lifted_priority.planned(draft, v, scale(a, p))
    for child, rate in made.judged(v):
        if stop := in_plan_order(oracle, draft, child, rate, target):
            return stop
    S = total(made.left)
    return (v, normalise(made.left)) if oracle.accept(share(S, S + (1 - a))) else None


def variants(instances: list) -> dict[str, float]:
    """Mean E[tau] by variant; AssertionError if one is lossy."""
    rule, out = named("lifted-priority"), {}

    def mean(name: str, verify: object = rule.verify) -> None:
        found = [emission(each, replace(rule, verify=verify)) for each in instances]
        assert all(each.total_variation == 0 for each in found), name
        out[name] = round(float(sum(each.expected_accepted for each in found) / len(found)), 4)

    mean("lifted-priority")
    mean("plan order", lambda o, d, t: in_plan_order(o, d, d.root, one(t[()]), t))
    usual = lifted_priority.planned
    for name in ("classes", "tail first", "likeliest first"):
        lifted_priority.planned = lambda d, v, t, name=name: in_classes(t, d.laws(v), name)
        mean(name)
    lifted_priority.planned = lambda d, v, t: added(t, d.laws(v))
    mean("added rates")
    lifted_priority.planned = lambda d, v, t: turned(added(t, d.laws(v)[::-1]))
    mean("added, tail first")
    lifted_priority.planned = usual
    return out


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=60)
    count = parser.parse_args().count
    rows = []
    for name, shape in SHAPES.items():
        for siblings, draft in (("i.i.d.", Tree(shape, True)), ("stratified", Stratified(shape))):
            families = [Randoms(draft, vocab, count, law=Mixed()) for vocab in (3, 4, 5)]
            found = variants([families[number % 3][number] for number in range(count)])
            rows.append([name, siblings, *found.values()])
            print(json.dumps(rows[-1]), flush=True)
    print(json.dumps({"columns": ["shape", "siblings", *found], "rows": rows}))


if __name__ == "__main__":
    main()
