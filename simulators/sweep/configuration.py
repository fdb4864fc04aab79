"""The TOML file that describes a sweep: every key checked, every default filled in."""

import json
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from draftproof.simulators.check import must_fit
from draftproof.simulators.files import text_of
from draftproof.simulators.instances.files import draft_document, draft_of
from draftproof.simulators.sweep import asked
from draftproof.simulators.sweep.values import known, like, listed, one_of, whole, with_kind
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS

ENGINES = ("exact", "float")

DEFAULTS: dict[str, Any] = {
    "metrics": list,
    "engine": "exact",
    "verifiers": [],
    "drafts": ["chain"],
    "vocabularies": [2],
    "depths": [2],
    "rows": ["random"],
    "seeds": [0],
    "optima": True,
    "targets": [],
    "seconds": 60.0,
}
"""Key of a family -> its default."""


@dataclass(frozen=True)
class Entry:
    """One family of the file, complete.

    `verifiers` empty stands for all that are made for a draft; `optima` is whether `gap` looks for
    optimal values, `seconds` the time limit of one proof or one audited call.
    """

    metrics: tuple[str, ...]
    engine: str
    verifiers: tuple[str, ...]
    drafts: tuple[Scheme, ...]
    vocabularies: tuple[int, ...]
    rows: tuple[dict[str, Any], ...]
    seeds: tuple[int, ...]
    optima: bool
    targets: tuple[str, ...]
    seconds: float

    def fitting(self, draft: Scheme) -> tuple[Verifier, ...]:
        """The verifiers to run on a draft."""
        asked = [VERIFIERS[name] for name in self.verifiers] or VERIFIERS.values()
        return tuple(each for each in asked if draft.label in each.drafts)

    def document(self) -> dict[str, Any]:
        """The entry as the manifest has it."""
        return vars(self) | {"drafts": [draft_document(draft) for draft in self.drafts]}


def restored(document: Mapping[str, Any]) -> Entry:
    """The entry that a manifest holds."""
    drafts = tuple(draft_of(json.dumps(draft)) for draft in document["drafts"])
    lists = {key: tuple(value) for key, value in document.items() if isinstance(value, list)}
    return Entry(**{**document, **lists, "drafts": drafts})


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
    (Chain(depth=1), Chain(depth=2))
    >>> parsed({"metric": ["check"]}, {"check"})
    Traceback (most recent call last):
    draftproof.theory.errors.BadInput: unknown key 'metric'; did you mean 'metrics'?
    """
    shared = {key: value for key, value in given.items() if key != "family"}
    tables = given.get("family", [{}])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables) or not tables:
        raise BadInput("family: must be tables, [[family]]")
    known(shared, {**DEFAULTS, "family": []})
    entries = []
    for n, table in enumerate(tables, 1):
        try:
            known(table, DEFAULTS)
            entries.append(_entry({**DEFAULTS, **shared, **table}, metrics))
        except BadInput as error:
            raise BadInput(f"family {n}: {error}" if len(tables) > 1 else str(error)) from None
    return entries


def _entry(given: dict[str, Any], metrics: Collection[str]) -> Entry:
    if given["metrics"] is list:
        raise BadInput(f"metrics: is missing; there are {', '.join(sorted(metrics))}")
    wanted = [one_of(each, metrics, "metrics") for each in listed(given["metrics"], "metrics")]
    verifiers = listed(given["verifiers"], "verifiers", empty=True)
    depths = [whole(depth, "depths") for depth in listed(given["depths"], "depths")]
    specs = map(with_kind, listed(given["drafts"], "drafts"))
    drafts = [scheme for spec in specs for scheme in asked.schemes(spec, depths)]
    rows = given["rows"] if isinstance(given["rows"], list) else [given["rows"]]
    entry = Entry(
        tuple(dict.fromkeys(wanted)),
        one_of(given["engine"], ENGINES, "engine"),
        tuple(dict.fromkeys(one_of(each, VERIFIERS, "verifiers") for each in verifiers)),
        tuple(dict.fromkeys(drafts)),
        tuple(whole(each, "vocabularies", 2) for each in listed(given["vocabularies"], "vocabularies")),
        tuple(asked.rows(with_kind(each)) for each in listed(rows, "rows")),
        tuple(whole(each, "seeds", 0) for each in listed(given["seeds"], "seeds")),
        like(given["optima"], True, "optima"),
        tuple(like(each, "", "targets") for each in listed(given["targets"], "targets", empty=True)),
        like(given["seconds"], 1.0, "seconds"),
    )
    _useful(entry)
    return entry


def _useful(entry: Entry) -> None:
    # What would quietly compute nothing is a mistake.
    for name in entry.verifiers:
        try:
            must_fit(VERIFIERS[name], entry.drafts)
        except BadInput as error:
            raise BadInput(f"verifiers: {error}") from None
    if ("audit" in entry.metrics) != bool(entry.targets):
        raise BadInput("targets: the metric 'audit' and the key 'targets' go together")
