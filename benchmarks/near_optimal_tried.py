"""Variants of the priority rule that were tried: orders and classes, on exact instances.

    python benchmarks/near_optimal_tried.py --count 60

* plan order: the lift enters children in the order in which they are judged, not in drawing order;
* classes: tokens judged together whose t / pi are in one quarter of an octave, sibling by sibling;
* tail first: the same, with the last stratum first;
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
    "binary": every(2, 2),
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
    last, k = plan(t, laws[::-1], groups), len(laws) - 1
    turned = [{(x, k - j): value for (x, j), value in part.items()} for part in (last.rate, last.mass)]
    return Plan(*turned, last.left)


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
