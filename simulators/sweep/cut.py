"""How families are cut: enough work for a chunk to be worth its file, little enough to be lost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from draftproof.simulators.check import chunk
from draftproof.simulators.instances.draws import Draws
from draftproof.simulators.lanes import BATCH, Lanes, stack
from draftproof.simulators.sweep.configuration import Entry
from draftproof.simulators.sweep.families import Family
from draftproof.theory.instance import Instance
from draftproof.theory.verifier import Verifier

WIDE = 4_000_000
"""About how many drafts a chunk of lanes verifies: a file of some megabytes."""


@dataclass(frozen=True)
class Slice:
    """The instances start .. stop - 1 of a family, and verifiers for them; small to send.

    `verifiers` are names; `indices` the numbers of the instances.
    """

    family: Family
    start: int
    stop: int
    verifiers: tuple[str, ...]

    @property
    def indices(self) -> range:
        return range(self.start, self.stop)

    def instances(self) -> list[Instance]:
        """The instances, exact."""
        return [self.family.instances[index] for index in self.indices]

    def blocks(self) -> Iterator["Slice"]:
        """The same in parts that are made in one go, to run in step."""
        size, at = _block(self.family), self.start
        while at < self.stop:
            end = min(self.stop, at - at % size + size)
            yield replace(self, start=at, stop=end)
            at = end

    def lanes(self) -> Lanes:
        """The instances, of one block, as lanes of floats."""
        instances = self.family.instances
        if isinstance(instances, Draws):
            return instances.lanes(self.start, self.stop)
        return stack(self.instances())


@dataclass(frozen=True)
class Sliced:
    """A job on one slice: every verifier on every instance."""

    part: Slice

    @property
    def evaluations(self) -> int:
        return len(self.part.indices) * len(self.part.verifiers)


def _block(family: Family) -> int:
    return family.instances.block if isinstance(family.instances, Draws) else BATCH


def in_step(verifier: Verifier) -> bool:
    """Whether lanes can run the verifier."""
    return not verifier.ordered and verifier.carry is None


def fitting(entry: Entry, family: Family) -> list[Verifier]:
    """The verifiers of an entry that a family is for."""
    fit = entry.fitting(family.draft)
    return [each for each in fit if not (family.symmetric and each.ordered)]


def slices(family: Family, verifiers: Sequence[Verifier], wide: bool, larger: int = 1) -> Iterator[Slice]:
    """A family in order; `wide` for lanes, many at a time; `larger` times as many where each costs less."""
    if not verifiers:
        return
    names = tuple(each.name for each in verifiers)
    drafts = family.draft.outcomes(family.vocab)
    step = larger * chunk(drafts)
    if wide:
        block = _block(family)
        step = block * max(1, WIDE // (drafts * len(names) * block))
    for start in range(0, len(family), step):
        yield Slice(family, start, min(start + step, len(family)), names)
