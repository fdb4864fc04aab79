"""The families of instances described by `rows` in a sweep's file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from draftproof.simulators.instances.grids import Grid
from draftproof.simulators.instances.randoms import Dirichlet, Edges, Logits, Mixed, Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.instances.texts import Corpus, Texts, corpus
from draftproof.simulators.laws.lanes import BATCH, Lanes, stack
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance

GRID = 10**7  # largest number of instances of a grid

LAWS = {"random": Edges, "mixed": Mixed, "logits": Logits, "dirichlet": Dirichlet}
"""Kind of random rows -> their law, whose fields are keys of the table."""


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

    @property
    def symmetric(self) -> bool:
        """Whether the family is reduced by relabelling tokens; it then excludes rules that order tokens."""
        return isinstance(self.instances, Grid) and self.instances.symmetric

    @property
    def block(self) -> int:
        """The number of instances made together as lanes."""
        return self.instances.block if isinstance(self.instances, Randoms) else BATCH

    def lanes(self, start: int, stop: int) -> Lanes:
        """The instances start .. stop - 1, all of one block, as lanes of floats."""
        if isinstance(self.instances, Randoms):
            return self.instances.lanes(start, stop)
        return stack([self.instances[index] for index in range(start, stop)])


def families(rows: Mapping[str, Any], draft: Scheme, vocab: int, seeds: Sequence[int]) -> Iterator[Family]:
    """The families of one table of `rows` with all keys filled in; BadInput if they cannot be made."""
    kind = rows["kind"]
    if kind in LAWS:
        for seed in seeds:
            for temperature in rows.get("temperatures", [None]):
                given = {**rows, "temperature": temperature}
                law = LAWS[kind](**{f.name: given[f.name] for f in fields(LAWS[kind]) if f.name in given})
                made = Randoms(draft, vocab, rows["count"], seed, law)
                yield Family(law.name, seed, temperature, draft, vocab, made)
        return
    if kind == "grid":
        made = Grid(draft, vocab, rows["denominator"], rows["symmetric"])
        if made.size > GRID:
            raise BadInput(
                f"rows: grid: more than {GRID:,} instances of {draft.label} at depth {draft.depth}"
            )
        name = f"{'orbits' if made.symmetric else 'grid'} denominator {made.denominator}"
    elif kind == "text":
        file = Path(rows["file"])
        read = _corpus(file, file.stat().st_mtime_ns if file.is_file() else 0, vocab, rows["histories"])
        name, made = f"text {read.name}", Texts(read, draft)
    else:
        name, made = "scenarios", Scenarios(draft, vocab)
    yield Family(name, None, None, draft, vocab, made)
