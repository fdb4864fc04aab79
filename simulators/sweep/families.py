"""The instances that an entry of the configuration describes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from draftproof.simulators.instances.draws import Dirichlet, Draws, Logits
from draftproof.simulators.instances.grids import Grid
from draftproof.simulators.instances.mixed import Mixed
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.instances.texts import Corpus, Texts, corpus
from draftproof.simulators.sweep.configuration import Entry
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance

WORDS = 10**5
"""Most words of depth + 1 tokens of an instance."""

GRID = 10**7
"""Most instances of a grid."""


@dataclass(frozen=True)
class Family:
    """Instances of one draft and vocabulary, and the words that name them among others."""

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
        """Whether it was reduced by relabelling, so that rules which order tokens do not belong here."""
        return getattr(self.instances, "symmetric", False)


def families(entry: Entry) -> Iterator[Family]:
    """Every family of an entry; BadInput where rows cannot be made."""
    for vocab in entry.vocabularies:
        for draft in entry.drafts:
            if vocab ** (draft.depth + 1) > WORDS:
                words = f"more than {WORDS:,} words of {draft.depth + 1} tokens"
                raise BadInput(f"vocabulary {vocab} and depth {draft.depth}: {words}")
            for rows in entry.rows:
                yield from _families(rows, draft, vocab, entry.seeds)


def _families(rows: dict[str, Any], draft: Scheme, vocab: int, seeds: Sequence[int]) -> Iterator[Family]:
    kind, count = rows["kind"], rows.get("count", 0)
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
        read = _corpus(rows["file"], vocab, rows["histories"])
        yield Family(f"text {read.name}", None, None, draft, vocab, Texts(read, draft))
    elif kind == "logits":
        for seed in seeds:
            for temperature in rows["temperatures"]:
                law = Logits(rows["spread"], rows["far"], temperature)
                name = f"logits spread {law.spread:g} far {law.far:g} grain {rows['grain']}"
                drawn = Draws(draft, vocab, count, seed, law, rows["grain"])
                yield Family(name, seed, temperature, draft, vocab, drawn)
    elif kind == "dirichlet":
        law = Dirichlet(rows["concentration"], rows["far"])
        name = f"dirichlet {law.concentration:g} far {law.far:g} grain {rows['grain']}"
        for seed in seeds:
            drawn = Draws(draft, vocab, count, seed, law, rows["grain"])
            yield Family(name, seed, None, draft, vocab, drawn)
    else:
        for seed in seeds:
            made = Mixed(draft, vocab, count, seed) if kind == "mixed" else Randoms(draft, vocab, count, seed)
            yield Family(kind, seed, None, draft, vocab, made)


@cache
def _corpus(path: str, vocab: int, histories: int) -> Corpus:
    return corpus(Path(path), vocab, histories)
