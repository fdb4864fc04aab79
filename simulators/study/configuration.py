"""The TOML file that describes a sweep: every key checked, every default filled in."""

import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from draftproof.simulators.check import must_fit
from draftproof.simulators.files import text_of
from draftproof.simulators.instances.files import draft_document
from draftproof.simulators.study.families import ROWS, Family, Rows
from draftproof.simulators.study.schema import (
    Flag,
    Listed,
    Natural,
    Positive,
    Several,
    Spec,
    Text,
    Whole,
    distinct,
    fault,
    known_keys,
    of_kind,
    one_of,
)
from draftproof.theory.drafts import SCHEMES, Scheme
from draftproof.theory.drafts.shape import every
from draftproof.theory.errors import BadInput
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS

ENGINES = ("exact", "float")

WORDS = 10**5
"""Most words of depth + 1 tokens of an instance."""


class Lengths(Spec):
    """A kind of draft of some depth: its own, else each depth of the family."""

    depth: Whole | None = None


class Counted(Lengths):
    count: Whole = 2


class Shaped(Spec):
    """A kind of draft of some shape: its own, else the full tree of a width at each depth of the family."""

    width: Whole = 2
    shape: Any = None


class Replaced(Shaped):
    replacement: Flag = False


DRAFTS: dict[str, type[Spec]] = {
    "chain": Lengths,
    "spechub": Lengths,
    "paths": Counted,
    "tree": Replaced,
    "top-k": Shaped,
    "greedy": Shaped,
}
"""Kind of draft -> its keys."""

_SPECS = TypeAdapter(Listed[Annotated[tuple[str, Spec], of_kind(DRAFTS)]])


def _schemes(value: Any, info: ValidationInfo) -> list[Scheme]:
    found = []
    for kind, spec in _SPECS.validate_python(value):
        options = spec.model_dump(exclude_none=True)
        width = options.pop("width", None)
        for depth in info.data.get("depths", ()):
            size = {"depth": depth} if width is None else {"shape": every(width, depth)}
            try:
                found.append(SCHEMES[kind](**(size | options)))
            except BadInput as error:
                raise BadInput(f"{kind}: {error}") from None
    return distinct(found)


_DRAFTS: Any = Field(["chain"], validate_default=True)
_ROWS: Any = Field(["random"], validate_default=True)


class Entry(Spec):
    """One family of the file, complete.

    Without `verifiers`, all that are made for a draft run; `optima` is whether `gap` looks for optimal
    values, `seconds` the time limit of one proof or one audited call.
    """

    metrics: Annotated[Listed[str], AfterValidator(distinct)]
    engine: Annotated[str, BeforeValidator(lambda value: one_of(value, ENGINES))] = "exact"
    verifiers: Annotated[
        list[Annotated[str, BeforeValidator(lambda value: one_of(value, VERIFIERS))]],
        AfterValidator(distinct),
    ] = Field([])
    depths: Listed[Whole] = Field([2])
    drafts: Annotated[list[Scheme], PlainValidator(_schemes)] = _DRAFTS
    vocabularies: Listed[Several] = Field([2])
    rows: Annotated[
        Listed[Annotated[tuple[str, Rows], of_kind(ROWS)]],
        BeforeValidator(lambda value: value if isinstance(value, list) else [value]),
    ] = _ROWS
    seeds: Listed[Natural] = Field([0])
    optima: Flag = True
    targets: Annotated[list[Text], AfterValidator(distinct)] = Field([])
    seconds: Positive = 60.0

    @model_validator(mode="after")
    def _check_useful(self) -> "Entry":
        # What would compute nothing without a word is a mistake.
        for name in self.verifiers:
            try:
                must_fit(VERIFIERS[name], self.drafts)
            except BadInput as error:
                raise BadInput(f"verifiers: {error}") from None
        if ("audit" in self.metrics) != bool(self.targets):
            raise BadInput("targets: the metric 'audit' and the key 'targets' go together")
        return self

    def fitting(self, draft: Scheme) -> tuple[Verifier, ...]:
        """The verifiers to run on a draft."""
        asked = [VERIFIERS[name] for name in self.verifiers] or VERIFIERS.values()
        return tuple(each for each in asked if draft.label in each.drafts)

    def suited(self, family: Family) -> list[Verifier]:
        """The verifiers to run on a family."""
        return [each for each in self.fitting(family.draft) if not (family.symmetric and each.ordered)]

    def families(self) -> Iterator[Family]:
        """Every family of the entry; BadInput where rows cannot be made."""
        for vocab in self.vocabularies:
            for draft in self.drafts:
                if vocab ** (draft.depth + 1) > WORDS:
                    words = f"more than {WORDS:,} words of {draft.depth + 1} tokens"
                    raise BadInput(f"vocabulary {vocab} and depth {draft.depth}: {words}")
                for _, rows in self.rows:
                    yield from rows.families(draft, vocab, self.seeds)

    def document(self) -> dict[str, Any]:
        """The entry as the manifest has it; `restored` reads it."""
        return {
            **self.model_dump(exclude={"drafts", "depths", "rows"}),
            "drafts": [draft_document(draft) for draft in self.drafts],
            "rows": [{"kind": kind, **rows.model_dump()} for kind, rows in self.rows],
        }


def restored(document: Mapping[str, Any]) -> Entry:
    """The entry that a manifest holds."""
    return Entry.model_validate(document)


def read(path: Path, metrics: Collection[str]) -> list[Entry]:
    """The entries of a file; BadInput in one line that names the file, the key and the fault."""
    try:
        given = tomllib.loads(text_of(path))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: not TOML: {error}") from None
    try:
        return parsed(given, metrics)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def parsed(given: Mapping[str, Any], metrics: Collection[str]) -> list[Entry]:
    """The entries that a parsed file describes: its [[family]] tables, with the top level as defaults.

    >>> parsed({"metrics": ["check"], "depths": [1, 2]}, {"check"})[0].drafts
    [Chain(depth=1), Chain(depth=2)]
    >>> parsed({"metric": ["check"]}, {"check"})
    Traceback (most recent call last):
    draftproof.theory.errors.BadInput: unknown key 'metric'; did you mean 'metrics'?
    """
    tables = given.get("family", [{}])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables) or not tables:
        raise BadInput("family: must be tables, [[family]]")
    known_keys(given, [*Entry.model_fields, "family"])
    shared = {key: value for key, value in given.items() if key != "family"}
    entries = []
    for number, table in enumerate(tables, 1):
        try:
            entries.append(_entry({**shared, **table}, metrics))
        except BadInput as error:
            raise BadInput(f"family {number}: {error}" if len(tables) > 1 else str(error)) from None
    return entries


def _entry(given: dict[str, Any], metrics: Collection[str]) -> Entry:
    known_keys(given, Entry.model_fields)
    if "metrics" not in given:
        raise BadInput(f"metrics: is missing; there are {', '.join(sorted(metrics))}")
    try:
        entry = Entry.model_validate(given)
        for name in entry.metrics:
            one_of(name, metrics)
    except ValidationError as error:
        raise BadInput(fault(error)) from None
    except BadInput as error:
        raise BadInput(f"metrics: {error}") from None
    return entry
