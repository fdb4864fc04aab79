"""Reads the TOML file that describes a sweep, and makes its families of instances.

pydantic checks every key and fills in every default. An error is one line that names the key.
"""

import json
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, ValidationInfo, model_validator

from draftproof.simulators.instances.files import draft_of
from draftproof.simulators.instances.grids import Grid
from draftproof.simulators.instances.randoms import Edges, Logits, Mixed, Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.simulators.instances.texts import Corpus, Texts, corpus
from draftproof.simulators.laws.check import must_fit
from draftproof.simulators.laws.lanes import BATCH, Lanes, stack
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
Fraction = Annotated[float, Field(ge=0, le=1)]

Keys = Mapping[str, Any]
"""Key -> (type, default); `...` means that there is no default."""

WORDS = 10**5  # most words of depth + 1 tokens of an instance
GRID = 10**7  # largest number of instances of a grid

_COUNT: Keys = {"count": (Whole, 100)}
ROWS: dict[str, Keys] = {
    "random": _COUNT,
    "mixed": _COUNT,
    "logits": {
        **_COUNT,
        "temperatures": (Listed[Positive], [1.0]),
        "spread": (Positive, 2.0),
        "far": (Fraction, 0.7),
        "grain": (Whole, 360),
    },
    "grid": {"denominator": (Whole, 3)},
    "scenarios": {},
    "text": {"file": (str, ...), "histories": (Whole, 50)},
}
"""Kind of rows -> its keys."""

LAWS = {"random": Edges, "mixed": Mixed, "logits": Logits}
"""Kind of random rows -> their law, whose fields are keys of the table."""


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
        made = Grid(draft, vocab, rows["denominator"])
        if made.size > GRID:
            raise BadInput(
                f"rows: grid: more than {GRID:,} instances of {draft.label} at depth {draft.depth}"
            )
        name = f"grid denominator {made.denominator}"
    elif kind == "text":
        file = Path(rows["file"])
        read = _corpus(file, file.stat().st_mtime_ns if file.is_file() else 0, vocab, rows["histories"])
        name, made = f"text {read.name}", Texts(read, draft)
    else:
        name, made = "scenarios", Scenarios(draft, vocab)
    yield Family(name, None, None, draft, vocab, made)


@cache
def _corpus(file: Path, changed: int, vocab: int, histories: int) -> Corpus:
    return corpus(file, vocab, histories)


class Spec(pydantic.BaseModel):
    """A table of known keys with values of the right type; whole numbers are accepted as floats."""

    model_config = pydantic.ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return known_keys(given, cls.model_fields)


def known_keys(given: Mapping[str, Any], keys: Collection[str]) -> Mapping[str, Any]:
    """Returns the table; BadInput names the first unknown key and the most similar known one."""
    for key in given:
        if key not in keys:
            raise BadInput(f"unknown key {quoted(key)}; {_hint(str(key), keys)}")
    return given


def one_of(value: Any, names: Collection[str]) -> str:
    """The value if it is one of the names, else BadInput."""
    if not isinstance(value, str) or value not in names:
        problem = "is missing" if value is None else f"{quoted(value)} is unknown"
        raise BadInput(f"{problem}; {_hint(str(value), sorted(names))}")
    return value


_MODELS = {kind: pydantic.create_model(kind, __base__=Spec, **dict(keys)) for kind, keys in ROWS.items()}


def _rows(value: Any) -> dict[str, Any]:
    # A table whose `kind` determines its other keys, filled in; a string is the kind.
    table = value if isinstance(value, dict) else {"kind": value}
    with located("kind"):
        kind = one_of(table.get("kind"), ROWS)
    try:
        made = _MODELS[kind].model_validate({key: table[key] for key in table if key != "kind"})
    except ValidationError as error:
        raise BadInput(f"{kind}: {fault(error)}") from None
    return {"kind": kind, **made.model_dump()}


def fault(error: ValidationError) -> str:
    """The first error of a table, after the keys that lead to it."""
    first = error.errors()[0]
    keys = [part for part in first["loc"] if isinstance(part, str)]
    line = first["msg"].removeprefix("Value error, ")
    if line.startswith("Input should be "):
        line = f"must be {line.removeprefix('Input should be ')}, not {quoted(first['input'])}"
    return ": ".join([*keys, line])


def _hint(word: str, names: Collection[str]) -> str:
    near = get_close_matches(word, names, 1)
    return f"did you mean {quoted(near[0])}?" if near else f"there are {', '.join(names)}"


def _scheme(value: Any) -> Scheme:
    # A word, or an object as in an instance file.
    return draft_of(value if isinstance(value, str) else json.dumps(value, default=str))


def _verifier(value: Any, info: ValidationInfo) -> str:
    if info.context is None:  # of finished results, which do not need its code
        return value
    return named(value).name if isinstance(value, str) and ":" in value else one_of(value, VERIFIERS)


_Rows = Annotated[dict[str, Any], BeforeValidator(_rows)]
_Draft = Annotated[Any, BeforeValidator(_scheme)]
_ONE_OR_MORE = BeforeValidator(lambda value: value if isinstance(value, list) else [value])
_Metric = Annotated[str, BeforeValidator(lambda value: one_of(value, ("check", "gap")))]
_CHAIN: Any = Field(["chain:2"], validate_default=True)
_ROWS: Any = Field("random", validate_default=True)


class Entry(Spec):
    """One [[family]] of the file with all defaults filled in.

    Without `verifiers`, all verifiers made for a draft are run. `optima`: whether `gap` computes the optima.
    """

    metrics: Annotated[Distinct[_Metric], Field(min_length=1)]
    engine: Annotated[str, BeforeValidator(lambda value: one_of(value, ("exact", "float")))] = "exact"
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
                    yield from families(rows, draft, vocab, self.seeds)

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
    known_keys(given, [*Entry.model_fields, "family"])
    shared = {key: value for key, value in given.items() if key != "family"}
    entries = []
    for number, table in enumerate(tables, 1):
        try:
            entries.append(Entry.model_validate({"metrics": [None], **shared, **table}, context="file"))
        except ValidationError as error:
            raise BadInput(f"family {number}: {fault(error)}" if len(tables) > 1 else fault(error)) from None
    return entries
