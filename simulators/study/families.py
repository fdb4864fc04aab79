"""The families of instances described by `rows` in a sweep's file, and their division into slices."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from draftproof.simulators.instances.grids import Grid
from draftproof.simulators.instances.randoms import Dirichlet, Edges, Law, Logits, Mixed, Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.instances.texts import Corpus, Texts, corpus
from draftproof.simulators.laws.check import chunk
from draftproof.simulators.laws.lanes import BATCH, Lanes, stack
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.verifier import Verifier

GRID = 10**7  # largest number of instances of a grid


@cache
def _corpus(file: Path, changed: int, vocab: int, histories: int) -> Corpus:
    return corpus(file, vocab, histories)


@dataclass(frozen=True)
class Family:
    """Instances of one draft and vocabulary, with the columns that identify them.

    `rows` describes how rows are made; `seed` and `temperature` are None if they do not apply.
    """

    rows: str
    seed: int | None
    temperature: float | None
    draft: Scheme
    vocab: int
    instances: Sequence[Instance]

    def __len__(self) -> int:
        return len(self.instances)

    @property
    def symmetric(self) -> bool:
        """Whether the family is reduced by relabelling tokens; it then excludes rules that order tokens."""
        return isinstance(self.instances, Grid) and self.instances.symmetric

    @property
    def block(self) -> int:
        """The number of instances made together as lanes."""
        return self.instances.block if isinstance(self.instances, Randoms) else BATCH


def families(rows: Mapping[str, Any], draft: Scheme, vocab: int, seeds: Sequence[int]) -> Iterator[Family]:
    """The families of one table of `rows` with all keys filled in; BadInput if they cannot be made."""
    kind = rows["kind"]
    if kind == "grid":
        grid = Grid(draft, vocab, rows["denominator"], rows["symmetric"])
        if grid.size > GRID:
            raise BadInput(
                f"rows: grid: more than {GRID:,} instances of {draft.label} at depth {draft.depth}"
            )
        name = f"{'orbits' if grid.symmetric else 'grid'} denominator {grid.denominator}"
        yield Family(name, None, None, draft, vocab, grid)
    elif kind == "scenarios":
        yield Family("scenarios", None, None, draft, vocab, Scenarios(draft, vocab))
    elif kind == "text":
        file = Path(rows["file"])
        read = _corpus(file, file.stat().st_mtime_ns if file.is_file() else 0, vocab, rows["histories"])
        yield Family(f"text {read.name}", None, None, draft, vocab, Texts(read, draft))
    else:
        for seed in seeds:
            for temperature, law in _laws(rows):
                made = Randoms(draft, vocab, rows["count"], seed, law)
                yield Family(law.name, seed, temperature, draft, vocab, made)


def _laws(rows: Mapping[str, Any]) -> Iterator[tuple[float | None, Law]]:
    if rows["kind"] == "logits":
        for temperature in rows["temperatures"]:
            yield temperature, Logits(rows["spread"], rows["far"], temperature, rows["grain"])
    elif rows["kind"] == "dirichlet":
        yield None, Dirichlet(rows["concentration"], rows["far"], rows["grain"])
    else:
        yield None, Mixed() if rows["kind"] == "mixed" else Edges()


@dataclass(frozen=True)
class Slice:
    """The instances start .. stop - 1 of a family, and the names of their verifiers; cheap to pickle."""

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
        """The slice divided into parts that are made together."""
        size, at = self.family.block, self.start
        while at < self.stop:
            end = min(self.stop, at - at % size + size)
            yield replace(self, start=at, stop=end)
            at = end

    def lanes(self) -> Lanes:
        """The instances, all of one block, as lanes of floats."""
        made = self.family.instances
        return made.lanes(self.start, self.stop) if isinstance(made, Randoms) else stack(self.instances())


@dataclass(frozen=True)
class Sliced:
    """A job on one slice: every verifier on every instance."""

    part: Slice

    @property
    def evaluations(self) -> int:
        return len(self.part.indices) * len(self.part.verifiers)


def slices(family: Family, verifiers: Sequence[Verifier], wide: bool, larger: int = 1) -> Iterator[Slice]:
    """A family in order, in slices large enough for a file each and small enough to take a few seconds.

    `wide` is for lanes: about 4,000,000 drafts per slice, a file of some megabytes. `larger` multiplies the
    number of instances of other slices.
    """
    if not verifiers:
        return
    names = tuple(each.name for each in verifiers)
    drafts = family.draft.outcomes(family.vocab)
    step = larger * chunk(drafts)
    if wide:
        step = family.block * max(1, 4_000_000 // (drafts * len(names) * family.block))
    for start in range(0, len(family), step):
        yield Slice(family, start, min(start + step, len(family)), names)


def in_step(verifier: Verifier) -> bool:
    """Whether the verifier can run on lanes."""
    return not verifier.ordered and verifier.carry is None
