"""The work of a sweep as numbered chunks, each a pure function of the configuration and its number."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pkgutil import resolve_name

from draftproof.simulators.sweep.configuration import Entry
from draftproof.simulators.sweep.metric import Job, Metric
from draftproof.simulators.sweep.shard import Part, encoded
from draftproof.theory.errors import BadInput

METRICS = {
    "check": "draftproof.simulators.sweep.metrics.check:CHECK",
    "gap": "draftproof.simulators.sweep.metrics.gap:GAP",
    "audit": "draftproof.simulators.sweep.metrics.audit:AUDIT",
}
"""Name -> where the metric is defined; other rooms add theirs at the front door."""


@dataclass(frozen=True)
class Chunk:
    """A job with its place in the plan."""

    number: int
    metric: str
    job: Job

    @property
    def name(self) -> str:
        """The name of its shard."""
        return f"{self.metric}-{self.number:06d}"


def plan(entries: Iterable[Entry], metrics: Mapping[str, str]) -> list[Chunk]:
    """Every chunk of a configuration, in order; BadInput where its families cannot be made."""
    found: dict[str, Metric] = {}
    out: list[Chunk] = []
    for entry in entries:
        for name in entry.metrics:
            metric = found.setdefault(name, resolve_name(metrics[name]))
            out += [Chunk(number, name, job) for number, job in enumerate(metric.jobs(entry), len(out))]
    return out


def computed(chunk: Chunk) -> list[Part]:
    """A chunk's shard; what goes wrong is BadInput that names the chunk."""
    try:
        return encoded(chunk.job())
    except BadInput as error:
        raise BadInput(f"chunk {chunk.name}: {error}") from None
    except Exception as error:
        raise BadInput(f"chunk {chunk.name}: {type(error).__name__}: {error}") from error
