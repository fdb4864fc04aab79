"""Reads the TOML file that describes a sweep, and makes its families of instances.

pydantic checks every key and fills in every default. An error is one line that names the key.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, ValidationInfo, model_validator

from draftproof.simulators.instances.files import draft_of
from draftproof.simulators.instances.grids import Grid
from draftproof.simulators.instances.randoms import Edges, Law, Logits, Mixed, Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.instances.texts import Corpus, Texts, corpus
from draftproof.simulators.laws.check import must_fit
from draftproof.simulators.support.files import text_of
from draftproof.simulators.user_code import named
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput, located, quoted
from draftproof.theory.instance import Instance, draft_document
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS

T = TypeVar("T")
Listed = Annotated[list[T], Field(min_length=1)]
Distinct = Annotated[list[T], AfterValidator(lambda values: list(dict.fromkeys(values)))]
Whole = Annotated[int, Field(ge=1, lt=2**63)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]

WORDS = 10**5  # most words of depth + 1 tokens of an instance
GRID = 10**7  # largest number of instances of a grid


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


class Spec(pydantic.BaseModel):
    """A table of known keys with values of the right type; whole numbers are accepted as floats."""

    model_config = pydantic.ConfigDict(extra="forbid", strict=True, frozen=True)


class _Drawn(Spec):
    # Rows that are random: `laws` has a law for each temperature.
    kind: Literal["random", "mixed"]
    count: Whole = 100

    def laws(self) -> Iterator[tuple[Law, float | None]]:
        yield (Edges() if self.kind == "random" else Mixed()), None

    def families(self, draft: Scheme, vocab: int, seeds: Sequence[int]) -> Iterator[Family]:
        for seed in seeds:
            for law, temperature in self.laws():
                made = Randoms(draft, vocab, self.count, seed, law)
                yield Family(law.name, seed, temperature, draft, vocab, made)


class _Logits(_Drawn):
    kind: Literal["logits"]  # type: ignore[assignment]
    temperatures: Listed[Positive] = Field([1.0])
    spread: Positive = 2.0
    far: Annotated[float, Field(ge=0, le=1)] = 0.7
    grain: Whole = 360

    def laws(self) -> Iterator[tuple[Law, float | None]]:
        for temperature in self.temperatures:
            yield Logits(self.spread, self.far, temperature, self.grain), temperature


class _Grid(Spec):
    kind: Literal["grid"]
    denominator: Whole = 3

    def families(self, draft: Scheme, vocab: int, seeds: Sequence[int]) -> Iterator[Family]:
        made = Grid(draft, vocab, self.denominator)
        if len(made) > GRID:
            raise BadInput(
                f"rows: grid: more than {GRID:,} instances of {draft.label} at depth {draft.depth}"
            )
        yield Family(f"grid denominator {made.denominator}", None, None, draft, vocab, made)


class _Scenarios(Spec):
    kind: Literal["scenarios"]

    def families(self, draft: Scheme, vocab: int, seeds: Sequence[int]) -> Iterator[Family]:
        yield Family("scenarios", None, None, draft, vocab, Scenarios(draft, vocab))


class Text(Spec):
    """Rows of a text."""

    kind: Literal["text"]
    file: str
    histories: Whole = 50

    def families(self, draft: Scheme, vocab: int, seeds: Sequence[int]) -> Iterator[Family]:
        file = Path(self.file)
        read = _corpus(file, file.stat().st_mtime_ns if file.is_file() else 0, vocab, self.histories)
        yield Family(f"text {read.name}", None, None, draft, vocab, Texts(read, draft))


@cache
def _corpus(file: Path, changed: int, vocab: int, histories: int) -> Corpus:
    return corpus(file, vocab, histories)


def fault(error: ValidationError) -> str:
    """The first error of a table, an unknown key before others, after the keys that lead to it."""
    first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    keys = [part for part in first["loc"] if isinstance(part, str)]
    line = first["msg"].removeprefix("Value error, ")
    if line.startswith("Input should be "):
        line = f"must be {line.removeprefix('Input should be ')}, not {quoted(first['input'])}"
    return ": ".join([*keys, "unknown key" if first["type"] == "extra_forbidden" else line])


def _scheme(value: Any) -> Scheme:
    # A word, or an object as in an instance file.
    return draft_of(value if isinstance(value, str) else json.dumps(value, default=str))


def _verifier(value: Any, info: ValidationInfo) -> str:
    if info.context is None:  # of finished results, which do not need its code
        return value
    return (named if isinstance(value, str) and ":" in value else VERIFIERS.named)(value).name


_Rows = Annotated[
    Annotated[_Drawn | _Logits | _Grid | _Scenarios | Text, Field(discriminator="kind")],
    BeforeValidator(lambda value: {"kind": value} if isinstance(value, str) else value),
]
_Draft = Annotated[Any, BeforeValidator(_scheme)]
_ONE_OR_MORE = BeforeValidator(lambda value: value if isinstance(value, list) else [value])
_CHAIN: Any = Field(["chain:2"], validate_default=True)
_ROWS: Any = Field("random", validate_default=True)


class Entry(Spec):
    """One [[family]] of the file with all defaults filled in.

    Without `verifiers`, all verifiers made for a draft are run. `optima`: whether `gap` computes the optima.
    """

    metrics: Annotated[Distinct[Literal["check", "gap"]], Field(min_length=1)]
    verifiers: Distinct[Annotated[str, BeforeValidator(_verifier)]] = Field([])
    drafts: Annotated[Distinct[_Draft], Field(min_length=1)] = _CHAIN
    vocabularies: Listed[Annotated[int, Field(ge=2, lt=2**63)]] = Field([2])
    rows: Annotated[Listed[_Rows], _ONE_OR_MORE] = _ROWS
    seeds: Listed[Annotated[int, Field(ge=0, lt=2**63)]] = Field([0])
    optima: bool = True

    @model_validator(mode="after")
    def _check_useful(self, info: ValidationInfo) -> "Entry":
        # Settings that would silently compute nothing are errors.
        with located("verifiers"):
            for name in self.verifiers if info.context is not None else ():
                must_fit(named(name), self.drafts)
        for draft in self.drafts if info.context is not None else ():
            if not self.fitting(draft):
                what = f"{getattr(draft, 'spelling', draft)}: no verifier is made for {draft.label}"
                raise BadInput(f"drafts: {what}; name one in verifiers")
        return self

    def fitting(self, draft: Scheme) -> tuple[Verifier, ...]:
        """The verifiers to run on a draft."""
        chosen = [named(name) for name in self.verifiers] or VERIFIERS.values()
        return tuple(each for each in chosen if draft.label in each.drafts)

    def families(self) -> Iterator[Family]:
        """Every family of the entry; BadInput if its rows cannot be made."""
        for vocab in self.vocabularies:
            for draft in self.drafts:
                if vocab ** (draft.depth + 1) > WORDS:
                    words = f"more than {WORDS:,} words of {draft.depth + 1} tokens"
                    raise BadInput(f"vocabulary {vocab} and depth {draft.depth}: {words}")
                for rows in self.rows:
                    yield from rows.families(draft, vocab, self.seeds)

    def document(self) -> dict[str, Any]:
        """The entry as written to the manifest; `Entry.model_validate` reads it."""
        drafts = [draft_document(draft) for draft in self.drafts]
        return self.model_dump(exclude={"drafts"}) | {"drafts": drafts}


def read(path: Path) -> list[Entry]:
    """The entries of a file; BadInput is one line that names the file, the key and the error."""
    content = text_of(path)
    with located(path):
        try:
            return parsed(tomllib.loads(content))
        except tomllib.TOMLDecodeError as error:
            raise BadInput(f"not TOML: {error}") from None


def parsed(given: Mapping[str, Any]) -> list[Entry]:
    """The entries that a parsed file describes: its [[family]] tables, with the top level as defaults."""
    tables = given.get("family", [{}])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables) or not tables:
        raise BadInput("family: must be tables, [[family]]")
    shared = {key: value for key, value in given.items() if key != "family"}
    entries = []
    for number, table in enumerate(tables, 1):
        try:
            entries.append(Entry.model_validate({**shared, **table}, context="file"))
        except ValidationError as error:
            raise BadInput(f"family {number}: {fault(error)}" if len(tables) > 1 else fault(error)) from None
    return entries
