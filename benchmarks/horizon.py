"""Tokens a call in the long run, beside the certified optimum of rules with memory: figures.

    python -m benchmarks.horizon --count 10 --out docs/images

Independent rows (the same after every prefix), V = 3, softmax of normal logits of standard deviation 2; the
proposal's logits lie a fraction of the way to others. One thing varies: the drafted tokens, the temperature,
or that fraction. Means over the instances of the gain over block verification.
"""

import argparse
import json
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from draftproof.simulators.instances.randoms import Logits
from draftproof.simulators.laws.calls import Calls, measure_calls
from draftproof.simulators.support import figures
from draftproof.simulators.support.make import weighted
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.table import Table
from draftproof.theory.verifiers import named

STATES = 300  # of a verifier whose long run is estimated
VARIED = {
    "drafted tokens": {depth: (depth, Logits()) for depth in (1, 2, 3)},
    "temperature": {at: (2, Logits(temperature=at)) for at in (0.5, 1, 2)},
    "distance": {at: (2, Logits(far=at)) for at in (0.1, 0.3, 0.6, 1)},
}


def instances(depth: int, law: Logits, count: int) -> list[Instance]:
    """Pairs of rows as instances; with the same random numbers for every law."""
    p, q = next(law.rows(np.random.default_rng(0), 3, count))
    tables = [[Table(3, {(): weighted(column.tolist())}) for column in rows.T] for rows in (p, q)]
    return [Instance(target, proposal, Chain(depth)) for target, proposal in zip(*tables, strict=True)]


def gains(instance: Instance) -> dict[str, float]:
    """Per cent above block verification."""
    found = measure_calls(instance, [named("block")], 1)
    block = found.long_run["block"].value
    values = {"optimum, at least": float(found.most.lower), "optimum, at most": float(found.most.upper)}
    for name in ("shaped-block", "greedy-block", "token"):
        values[name] = Calls(instance, named(name)).long_run(STATES).value
    return {"block": block, **{name: 100 * (value / block - 1) for name, value in values.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    series: dict[str, dict[Any, dict[str, float]]] = {}
    for what, places in VARIED.items():
        series[what] = {}
        for at, (depth, law) in places.items():
            found = [gains(each) for each in instances(depth, law, given.count)]
            series[what][at] = {name: round(fmean(each[name] for each in found), 3) for name in found[0]}
            print(json.dumps({what: at, **series[what][at]}), flush=True)
    if given.out:
        figure = figures.required()(figsize=(9.5, 3.4), layout="constrained")
        for axes, (what, points) in zip(figure.subplots(1, 3), series.items(), strict=True):
            names = [name for name in next(iter(points.values())) if name not in ("block", "token")]
            lines = {name: [point[name] for point in points.values()] for name in names}
            figures.curves(axes, list(points), lines, what, "tokens a call, % above block")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
        figures.write(figure, given.out / "horizon", dpi=150)


if __name__ == "__main__":
    main()
