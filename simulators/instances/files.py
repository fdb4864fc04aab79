"""Instance files: JSON, read exactly; every fault is one line that names its key."""

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from draftproof.simulators.instances.own_draft import own_draft
from draftproof.simulators.support.files import text_of
from draftproof.simulators.support.make import limit_prefixes, prefixes
from draftproof.theory.drafts import SCHEMES, Scheme
from draftproof.theory.drafts.names import scheme as spelled_scheme
from draftproof.theory.errors import BadInput, located, quoted, whole
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import DIGITS, exact, text
from draftproof.theory.rows import Prefix
from draftproof.theory.selection import named as rule_named
from draftproof.theory.selection.batch import Batch
from draftproof.theory.shared.reportable import spelled
from draftproof.theory.table import Table
from draftproof.theory.targets.processors import PROCESSORS, Step, processed

VOCAB = 10**6
"""Largest vocabulary of an instance file."""

_PREFIX = re.compile(r"(0|[1-9]\d{0,9})( (0|[1-9]\d{0,9}))*", re.ASCII)


def read(path: Path) -> Instance:
    """The instance in a file, or on standard input (`-`); BadInput names the file, the key and the fault."""
    found = read_any(path)
    if isinstance(found, Batch):
        raise BadInput(f"{path}: holds a batch of requests, and one instance is needed")
    return found


def read_any(path: Path) -> Instance | Batch:
    """The instance or the batch of requests in a file; errors as of `read`."""
    content = text_of(path)
    with located(path):
        value = decoded(content)
        read_one = _batch if isinstance(value, dict) and "requests" in value else _instance
        return read_one(value, str(path))


def parse(content: str, name: str = "") -> Instance:
    """The instance in a JSON text.

    >>> parse('{"vocab": 2, "target": {"": ["1/3", "2/3"]}, "proposal": {"": [0.5, 0.5]},'
    ...       ' "draft": {"kind": "chain", "depth": 2}}').proposal[()]
    (1/2, 1/2)
    """
    return _instance(decoded(content), name)


def _instance(value: Any, name: str) -> Instance:
    required = {"vocab", "target", "proposal", "draft"}
    document = _object(value, "the instance", required, {*required, "processors"})
    vocab = whole("vocab:", document["vocab"], 1, VOCAB)
    target, given = _table(document["target"], "target", vocab), document["proposal"]
    proposal = (_by_depth if isinstance(given, list) else _table)(given, "proposal", vocab)
    steps = _processors(document.get("processors", []))
    return processed(Instance(target, proposal, scheme(document["draft"]), name), steps)


def _processors(value: Any) -> list[Step]:
    if not isinstance(value, list):
        raise BadInput("processors: must be a list")
    steps = []
    for number, each in enumerate(value, 1):
        step = _of_kind(each, f"processor {number}", PROCESSORS, {"on"})
        on = each.get("on", "both")
        if on not in ("target", "proposal", "both"):
            raise BadInput(f"processor {number}: on must be target, proposal or both, not {quoted(on)}")
        steps.append((step, on))
    return steps


def _of_kind(value: Any, where: str, kinds: Mapping[str, type], more: Collection[str] = ()) -> Any:
    # What an object describes by its `kind` and the fields of that kind; `more` are other keys it may have.
    if "kind" not in _unique(value, where):
        raise BadInput(f"{where}: kind is missing, one of {', '.join(kinds)}")
    kind = value["kind"]
    if not isinstance(kind, str) or kind not in kinds:
        raise BadInput(f"{where}: kind {quoted(kind)} is not one of {', '.join(kinds)}")
    names = {field.name: field.default is MISSING for field in fields(kinds[kind])}
    needed = {name for name in names if names[name] or kinds is SCHEMES}
    _object(value, f"{where} of kind {kind!r}", {"kind", *needed}, {"kind", *names, *more})
    with located(where):
        return kinds[kind](**{name: value[name] for name in names if name in value})


def _batch(value: Any, name: str) -> Batch:
    document = _object(value, "the batch", {"requests", "selection"})
    if not isinstance(document["requests"], list):
        raise BadInput("requests: must be a list of instances")
    requests = []
    for r, each in enumerate(document["requests"], 1):
        with located(f"request {r}"):
            requests.append(_instance(each, f"{name}, request {r}"))
    chosen = document["selection"]
    _object(chosen, "selection", {"rule", "capacity"}, {"rule", "capacity", "speed"})
    speed = chosen.get("speed", [])
    if not isinstance(speed, list):
        raise BadInput("selection: speed must be a list of numbers")
    with located("selection"):
        rule, exactly = rule_named(chosen["rule"]), tuple(exact(each) for each in speed)
    return Batch(tuple(requests), rule, chosen["capacity"], exactly, name)


def scheme(value: Any) -> Scheme:
    """The drafting scheme that the `draft` of an instance file describes: an object, or one word."""
    if isinstance(value, str):
        with located("draft"):
            return own_draft(value) or spelled_scheme(value)
    return _of_kind(value, "draft", SCHEMES)


def draft_of(content: str) -> Scheme:
    """The drafting scheme given by a command's option: one word, or JSON as in an instance file."""
    try:
        return scheme(decoded(content) if content.lstrip().startswith(("{", "[", '"')) else content.strip())
    except BadInput as error:
        raise BadInput(str(error) if str(error).startswith("draft") else f"draft: {error}") from None


def document(instance: Instance | Batch) -> dict[str, Any]:
    """The instance, or the batch, as the JSON document that `read_any` reads."""
    if isinstance(instance, Batch):
        return {
            "requests": [document(request) for request in instance.requests],
            "selection": {
                "rule": instance.rule.name,
                "capacity": instance.capacity,
                "speed": [text(speed) for speed in instance.speed],  # type: ignore[arg-type]
            },
        }
    return instance.to_dict()


def decoded(content: str) -> Any:
    """The parsed JSON text; decimal numbers are kept as strings, and objects record a key given twice."""
    if not content.strip():
        raise BadInput("is empty")
    try:
        return json.loads(
            content,
            object_pairs_hook=_Object,
            parse_float=str,  # kept as written: 0.1 is 1/10
            parse_int=lambda digits: int(digits) if len(digits) <= DIGITS else digits,
            parse_constant=str,  # NaN is refused later, with the name of its key
        )
    except json.JSONDecodeError as error:
        raise BadInput(f"not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise BadInput("nested too deeply") from None


class _Object(dict[str, Any]):
    """A JSON object that remembers a key given twice."""

    def __init__(self, pairs: list[tuple[str, Any]]):
        super().__init__(pairs)
        counts = Counter(key for key, _ in pairs) if len(self) < len(pairs) else {}
        self.twice = next((key for key, count in counts.items() if count > 1), None)


def _unique(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, _Object):
        raise BadInput(f"{what}: must be an object")
    if value.twice is not None:
        raise BadInput(f"{what}: key {quoted(value.twice)} is given twice")
    return value


def _object(value: Any, what: str, required: set[str], allowed: set[str] | None = None) -> dict[str, Any]:
    value = _unique(value, what)
    for key in sorted(required - value.keys()):
        raise BadInput(f"{what}: {key} is missing")
    for key in sorted(value.keys() - (allowed or required)):
        raise BadInput(f"{what}: unknown key {quoted(key)}")
    return value


def _by_depth(value: list[Any], key: str, vocab: int) -> Table:
    # A product law: the n-th row after every prefix of n - 1 tokens.
    if not value or not all(isinstance(row, list) for row in value):
        raise BadInput(f"{key}: a list must hold a row for each depth")
    limit_prefixes(vocab, len(value) - 1, key)
    return _table(_Object([(spelled(x), value[len(x)]) for x in prefixes(vocab, len(value) - 1)]), key, vocab)


def _table(value: Any, key: str, vocab: int) -> Table:
    rows: dict[Prefix, list[object]] = {}
    for spelling, row in _unique(value, key).items():
        if spelling and not _PREFIX.fullmatch(spelling):
            raise BadInput(f"{key}: prefix {quoted(spelling)} is not token ids joined by one space")
        prefix = tuple(map(int, spelling.split()))
        if any(token >= vocab for token in prefix):
            raise BadInput(f"{key}: prefix {quoted(spelling)} has a token outside the vocabulary of {vocab}")
        if not isinstance(row, list):
            raise BadInput(f"{key}: row {quoted(spelling)} must be a list of {vocab} numbers")
        rows[prefix] = row
    with located(key):
        return Table.exact(vocab, rows)
