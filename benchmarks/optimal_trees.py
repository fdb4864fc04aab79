"""The lift of the optimum beside the lift of the priority rule and traversal, on trees of recorded rows.

    python -m benchmarks.optimal_trees --tree 2x3 --tree '[[[],[]],[]]' --temperature 1

At every eighth new position of texts that the shipped target continues, each design draws some trees and its
rules get the rows of both models: E[tau] is the mean over their coins and these trees. Half widths of 95 %
intervals are clustered by prompt. `later` is the lift of the priority rule whose later siblings are judged
later.
"""

import argparse
import json
from collections.abc import Iterator
from functools import partial

import numpy as np
import torch

from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.output import texts
from draftproof.gpu.engine.prompts import prompts
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import named as verifier
from draftproof.simulators.study.recorded import half_width
from studies.tree_designs import values as valued
from studies.tree_designs.__main__ import EVERY
from studies.tree_designs.designs import DESIGNS, named
from studies.tree_designs.nodes import Nodes

RULES = ("lifted-priority", "lifted-optimal", "traversal")
DELAY = 2
"""Classes, four to a factor of 2 of p / q."""


def later(p, q, root) -> float:
    """E[tau] of the priority rule's lift with later siblings later."""
    return valued.lifted(p, q, root, partial(valued.iid_priority, delay=DELAY))


def places(count: int, tokens: int, temperature: float) -> Iterator[tuple[int, Nodes]]:
    """(prompt, both models' rows) at each place."""
    target, drafting = pair("shipped", None, "cpu", None)
    sampling = Sampling(temperature)
    for number, prompt in enumerate(each.ids for each in prompts(None, target, count)):
        steps = generate(
            target, None, [prompt], max_new_tokens=tokens, seed=number,
            verifier=verifier("token"), structure=None, sampling=sampling,
        )  # fmt: skip
        text = [*prompt, *texts(steps, 1)[0]]
        for place in range(len(prompt) - 1, len(text) - 1, EVERY):
            yield number, Nodes(target, drafting.model, text[: place + 1], sampling)


def rows(nodes: Nodes, which: int) -> dict:
    """The rows that were read, as float64 rows of sum 1."""
    found = {prefix: both[which].astype(float) for prefix, both in nodes.seen.items()}
    return {prefix: row / row.sum() for prefix, row in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", action="append", required=True)
    parser.add_argument("--count", type=int, default=100, help="prompts")
    parser.add_argument("--tokens", type=int, default=24)
    parser.add_argument("--drafts", type=int, default=4, help="trees of a design at each place")
    parser.add_argument("--temperature", type=float, default=1.0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    asked = {tree: named(tree) for tree in options.tree}
    kinds = [(each.tree, each.siblings) for each in DESIGNS if each.verifier == "lifted-optimal"]
    found: dict[tuple[str, str, str, str], list[float]] = {}
    sequence = []
    for number, nodes in places(options.count, options.tokens, options.temperature):
        for tree, (shape, size, designs) in asked.items():
            for kind in kinds:
                rules = [each for each in designs if (each.tree, each.siblings) == kind]
                rules = [each for each in rules if each.verifier in RULES]
                if not rules:
                    continue
                got: dict[str, list[float]] = {}
                for draft in range(options.drafts):
                    rng = np.random.default_rng([draft, len(sequence), *f"{tree} {kind}".encode()])
                    root = rules[0].draw(nodes, shape, size, rng)
                    for v in root:
                        if v.children:
                            nodes[v.prefix]  # it is read, if only as a node of one child
                    p, q = rows(nodes, 0), rows(nodes, 1)
                    for each in rules:
                        got.setdefault(each.verifier, []).append(each.value(p, q, root))
                    if kind[1] == "i.i.d.":
                        got.setdefault("later", []).append(later(p, q, root))
                for rule, values in got.items():
                    found.setdefault((tree, *kind, rule), []).append(float(np.mean(values)))
        sequence.append(number)
    lines = []
    for (tree, *kind, rule), each_place in found.items():
        means, base = np.array(each_place), np.array(found[tree, *kind, "lifted-priority"])
        both = np.stack((means, means - base), 1)
        half = half_width(both, np.array(sequence))
        mean = both.mean(0).tolist()
        lines.append(
            [tree, *kind, rule, *(round(x, 3) for pair in zip(mean, half, strict=True) for x in pair)]
        )
        print(*lines[-1], sep=" | ", flush=True)
    print(json.dumps({"places": len(sequence), "temperature": options.temperature, "rows": lines}))


if __name__ == "__main__":
    main()
