"""Audits a foreign verifier on every chain of a family, by the exact law of its output."""

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
from draftproof.simulators.audit.targets.base import Target
from draftproof.simulators.study.configuration import Entry
from draftproof.simulators.study.families import Slice, Sliced
from draftproof.simulators.study.plan import PLACE, WITNESS, Metric, exactly, number, place, witness
from draftproof.simulators.support.sources import Root, digest
from draftproof.theory.errors import BadInput

NUMBERS = {
    "total_variation": "total_variation",
    "error_bound": "bound",
    "expected_accepted": "expected_accepted",
    "stateless_optimum": "optimum",
}
"""Column -> the attribute of a report's case."""

SCHEMA = pa.schema(
    [
        ("target", pa.string()),
        *PLACE,
        ("adapter", pa.string()),
        ("lossless", pa.bool_()),
        *(column for name in NUMBERS for column in number(name)),
        *WITNESS,
        ("findings", pa.string()),
    ]
)

STEP = 16  # instances per chunk: foreign code is slow
ALONE = Lock()
"""An audit replaces random functions in the whole process, so threads of a cluster's worker take turns."""


@contextmanager
def caught() -> Iterator[None]:
    """Redirects the target's standard output, also that of C code, to standard error."""
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
class Audit(Sliced):
    """One target, the slice's only name, on some instances. `version` is a hash of its sources: a worker that
    has loaded another version loads the target again.
    """

    version: str
    seconds: float

    def sources(self, known: dict[Root, str]) -> dict[str, str]:
        (target,) = self.part.verifiers
        return {target: digest(__name__, *self.part.family.roots, load.source(target), known=known)}

    def __call__(self) -> pa.Table:
        rows, options = [], {"edges": False, "smallest": False, "seconds": self.seconds}
        (target,) = self.part.verifiers
        with ALONE, caught():
            for index, instance in zip(self.part.indices, self.part.instances(), strict=True):
                found = examine(_target(target, self.version), instances=[instance], **options)
                row = {"target": target, **place(self.part.family), "index": index}
                for column, attribute in NUMBERS.items():
                    row |= exactly(column, getattr(found.case, attribute, None))
                row |= {"adapter": found.adapter, "lossless": found.lossless, **witness(found.wrong)}
                findings = [*map(str, found.findings), *filter(None, [found.undecided])]
                rows.append(row | {"findings": "\n".join(findings)})
        return pa.Table.from_pylist(rows, SCHEMA)


@cache
def _target(name: str, version: str) -> Target:
    return load.target(name)


def jobs(entry: Entry) -> Iterator[Audit]:
    """Every target on every family of chains; BadInput if a target cannot be loaded."""
    versions = {}
    for name in entry.targets:
        with caught():
            load.target(name)
            versions[name] = digest(load.source(name))
    for family in entry.families():
        if family.draft.label != "chain":
            raise BadInput(f"drafts: audit is for chains, not for {family.draft.label}")
        for name in entry.targets:
            for start in range(0, len(family), STEP):
                part = Slice(family, start, min(start + STEP, len(family)), (name,))
                yield Audit(part, versions[name], entry.seconds)


AUDIT = Metric("audit", SCHEMA, jobs)
