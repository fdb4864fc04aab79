"""Exact means of E[tau] on uneven trees: stages beside draws without replacement and strata.

python -m benchmarks.stages --count 15
"""

import argparse
import json
from dataclasses import replace

from draftproof.simulators.enumerate import emission
from draftproof.simulators.instances.randoms import Mixed, Randoms
from draftproof.theory.drafts.stages import Stages
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifiers import named

SHAPES = {
    "2 + 1 + 1": (((),), (), ()),
    "3 + 1 + 1": (((), ()), (), ()),
    "2 + 2 + 1 + 1": (((),), ((),), (), ()),
}
RULES = (
    ("stages, lifted-stages", Stages, "lifted-stages"),
    ("without replacement, traversal", Tree, "traversal"),
    ("without replacement, rrs", Tree, "rrs"),
    ("strata, lifted-priority", Stratified, "lifted-priority"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=15)
    count = parser.parse_args().count
    rows = []
    for vocab in (4, 5):
        for name, shape in SHAPES.items():
            found = [
                [
                    emission(replace(each, draft=kind(shape)), named(rule)).expected_accepted
                    for _, kind, rule in RULES
                ]
                for each in Randoms(Stages(shape), vocab, count, law=Mixed())
            ]
            means = [round(float(sum(column) / count), 4) for column in zip(*found, strict=True)]
            above = sum(each[0] >= each[1] for each in found)
            rows.append([vocab, name, *means, above])
    columns = ["V", "shape", *(name for name, _, _ in RULES), "not below traversal"]
    print(json.dumps({"tables": [{"columns": columns, "rows": rows}]}, indent=2))


if __name__ == "__main__":
    main()
