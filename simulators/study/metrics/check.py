"""Losslessness: the exact verdict or, in floats, total variation of the completed law and E[tau]."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from draftproof.simulators.laws import lanes
from draftproof.simulators.laws.repeat import must_have_a_law
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.study import plan
from draftproof.simulators.study.configuration import Entry
from draftproof.simulators.study.families import Sliced, in_step, slices
from draftproof.simulators.study.plan import PLACE, WITNESS, Metric
from draftproof.simulators.user_code import named

SCHEMA = pa.schema(
    [
        ("verifier", pa.string()),
        *PLACE,
        ("engine", pa.string()),
        ("declared", pa.bool_()),
        ("lossless", pa.bool_()),
        *plan.number("total_variation"),
        *plan.number("expected_accepted"),
        *WITNESS,
    ]
)


class Exact(Sliced):
    """Exact verdicts, instance by instance."""

    def __call__(self) -> pa.Table:
        where, rows = plan.place(self.part.family), []
        rules = {name: named(name) for name in self.part.verifiers}
        for index, instance in zip(self.part.indices, self.part.instances(), strict=True):
            for name, rule in rules.items():
                found = judge(instance, rule)
                must_have_a_law(rule, found.invalid)
                verdict = {"declared": found.declared, "lossless": found.lossless}
                distance = plan.exactly("total_variation", found.total_variation)
                accepted = plan.exactly("expected_accepted", found.expected_accepted)
                row = {"verifier": name, **where, "index": index, "engine": "exact", **verdict}
                rows.append(row | distance | accepted | plan.witness(found.wrong))
        return pa.Table.from_pylist(rows, SCHEMA)


class Float(Sliced):
    """Total variation and E[tau] in float64, all lanes at once."""

    def __call__(self) -> pa.Table:
        return plan.columns(SCHEMA, self.parts())

    def parts(self) -> Iterator[plan.Values]:
        """The rows of each block and verifier."""
        where = plan.place(self.part.family)
        for block in self.part.blocks():
            many, indices = block.lanes(), np.arange(block.start, block.stop)
            for name in self.part.verifiers:
                rule = named(name)
                found = lanes.measure(many, rule)
                yield {
                    "verifier": name,
                    **where,
                    "index": indices,
                    "engine": "float",
                    "declared": rule.lossless,
                    "total_variation": found.total_variation,
                    "expected_accepted": found.expected_accepted,
                }


def jobs(entry: Entry) -> Iterator[Exact | Float]:
    """Every family of an entry; in floats, rules that cannot run on lanes are checked exactly."""
    for family in entry.families():
        fit = entry.suited(family)
        wide = [each for each in fit if entry.engine == "float" and in_step(each)]
        yield from map(Float, slices(family, wide, wide=True))
        yield from map(Exact, slices(family, [each for each in fit if each not in wide], wide=False))


CHECK = Metric("check", SCHEMA, jobs)
