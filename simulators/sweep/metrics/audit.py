"""Somebody else's verifier on every chain of a family, with the exact law of what it emits."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from threading import Lock

import pyarrow as pa

from draftproof.simulators.audit import load
from draftproof.simulators.audit.judge.examine import examine
from draftproof.simulators.audit.targets import Target
from draftproof.simulators.sweep.columns import PLACE, WITNESS, exactly, number, place, schema, table, witness
from draftproof.simulators.sweep.configuration import Entry
from draftproof.simulators.sweep.cut import Slice
from draftproof.simulators.sweep.families import families
from draftproof.simulators.sweep.metric import Metric
from draftproof.theory.errors import BadInput

SCHEMA = schema(
    ("target", pa.string()),
    *PLACE,
    ("adapter", pa.string()),
    ("lossless", pa.bool_()),
    *number("total_variation"),
    *number("error_bound"),
    *number("expected_accepted"),
    *number("stateless_optimum"),
    *WITNESS,
    ("findings", pa.string()),
)

STEP = 16
"""Instances of a chunk: foreign code is slow."""

ALONE = Lock()
"""An audit answers random functions of the whole process, so threads of a cluster's worker take turns."""


@contextmanager
def caught() -> Iterator[None]:
    """What the target's own C code writes to standard output goes to standard error meanwhile."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


@dataclass(frozen=True)
class Audit:
    """One target on some instances."""

    target: str
    part: Slice
    seconds: float

    @property
    def evaluations(self) -> int:
        return len(self.part.indices)

    def __call__(self) -> pa.Table:
        with ALONE, caught():
            target, rows = _target(self.target), []
            for index, instance in zip(self.part.indices, self.part.instances(), strict=True):
                found = examine(
                    target, instances=[instance], edges=False, smallest=False, seconds=self.seconds
                )
                case = found.case
                rows.append(
                    {
                        "target": self.target,
                        **place(self.part.family),
                        "index": index,
                        "adapter": found.adapter,
                        "lossless": found.lossless,
                        **exactly("total_variation", case.total_variation if case else None),
                        **exactly("error_bound", case.bound if case else None),
                        **exactly("expected_accepted", case.expected_accepted if case else None),
                        **exactly("stateless_optimum", case.optimum if case else None),
                        **witness(found.wrong),
                        "findings": "\n".join([*map(str, found.findings), *filter(None, [found.undecided])]),
                    }
                )
        return table(SCHEMA, rows)


@cache
def _target(name: str) -> Target:
    return load.target(name)


def jobs(entry: Entry) -> Iterator[Audit]:
    """Every target on every family of chains; BadInput where a target cannot be loaded."""
    for name in entry.targets:
        with caught():
            _target(name)
    for family in families(entry):
        if family.draft.label != "chain":
            raise BadInput(f"drafts: audit is for chains, not for {family.draft.label}")
        for name in entry.targets:
            for start in range(0, len(family), STEP):
                part = Slice(family, start, min(start + STEP, len(family)), ())
                yield Audit(name, part, entry.seconds)


AUDIT = Metric("audit", SCHEMA, jobs)
