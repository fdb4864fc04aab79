"""The explorer's data: all that the page can show, computed here by the exact engine.

The page contains no verifier. The engine runs the real program at every position of the sliders that a
drafted tree depends on, and records its walk. The page looks walks up and adds their probabilities.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from inspect import getsource
from itertools import product
from math import prod
from typing import Any

from flint import fmpq

from draftproof.simulators.instances.files import document, spelled
from draftproof.simulators.laws.check import applies
from draftproof.simulators.laws.enumerate import drafts
from draftproof.simulators.laws.optimum import stateless
from draftproof.simulators.study.report.walk import Step, Value, Walk, walk
from draftproof.simulators.support.make import Key, assembled, prefixes
from draftproof.theory.draft import Draft, Node
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, ZERO, text
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS

WALKS = 2_500
"""Largest number of recorded walks per verifier; it limits the number of slider positions."""

SCALES: dict[int, tuple[fmpq, ...]] = {
    5: (ZERO, fmpq(1, 3), fmpq(1, 2), fmpq(2, 3), ONE),
    **{steps: tuple(fmpq(k, steps - 1) for k in range(steps)) for steps in (7, 9, 13, 21, 61)},
    3: (ZERO, fmpq(1, 2), ONE),
    1: (),
}
"""Number of positions -> probabilities of token 0 at these; each slider adds its row's own probability."""

Sliders = dict[Key, list[Row]]
"""The positions of every row."""


def recorded(instance: Instance, walks: int = WALKS, own: Sequence[Verifier] = ()) -> dict[str, Any]:
    """The explorer's document, all walks at all positions of the project's verifiers and of the user's `own`;
    BadInput if the coarsest sliders need too many.
    """
    steps = finest(instance, walks)
    if steps is None:
        raise BadInput(f"{instance.name}: too large to explore, more than {walks:,} walks of a verifier")
    given, sliders = every_row(instance), _sliders(instance, steps)
    groups = list(_grouped(instance, sliders))
    fit = (each for each in (*own, *VERIFIERS.values()) if applies(each, instance))
    verifiers = [each for each in fit if not each.reads_leaves]  # drafts are recorded without rows at leaves
    pool = Pool()
    found: dict[str, list[list[list[int]]]] = {verifier.name: [] for verifier in verifiers}
    for group in groups:
        places = list(_places(instance, sliders, group.keys))
        drawn = [{_spelling(draft): draft for _, draft in _distinct(each)} for each in places]
        for verifier in verifiers:
            starts = [
                [
                    pool.walk(walk(verifier, known[key], each.target)) if key in known else -1
                    for each, known in zip(places, drawn, strict=True)
                ]
                for key in group.drafts
            ]
            found[verifier.name].append(starts)
    return {
        "name": instance.name,
        "vocab": instance.vocab,
        "depth": instance.draft.depth,
        "draft": document(instance)["draft"],
        "label": instance.draft.label,
        "optimum": text(stateless(instance).upper) if instance.draft.depth > 1 else None,
        "sliders": [
            {
                "of": which,
                "prefix": spelled(prefix),
                "at": rows.index(given[which, prefix][0]),
                "rows": [pool.row(row) for row in rows],
            }
            for (which, prefix), rows in sliders.items()
        ],
        "groups": [_document(instance, sliders, group, pool) for group in groups],
        "verifiers": [
            {
                "name": verifier.name,
                "source": verifier.source,
                "lossless": verifier.lossless,
                "keeps_state": verifier.carry is not None,
                "walks": found[verifier.name],
            }
            for verifier in verifiers
        ],
        "pool": pool.document(),
    }


def explorable(instance: Instance) -> bool:
    """Whether the instance is small enough for the page."""
    return finest(instance, WALKS) is not None


def finest(instance: Instance, walks: int) -> int | None:
    """The number of positions per slider that so many walks of a verifier allow; None if not even one."""
    rows = sum(instance.vocab**depth for depth in range(instance.draft.depth + 1))
    if rows > 40 or instance.draft.outcomes(instance.vocab) > walks:
        return None
    given = list(_grouped(instance, every_row(instance)))
    return next((n for n in sorted(SCALES, reverse=True) if _fit(instance, given, n, walks)), None)


def positions(row: Row, steps: int) -> list[Row]:
    """The rows at the slider's positions: token 0's probability runs from 0 to 1; `row` itself is included.

    The other tokens keep their proportions; if their mass is 0, they share the rest equally.
    """
    if len(row) == 1:
        return [row]
    first, *others = row
    rest = sum(others, ZERO)
    spread = [mass / rest if rest else fmpq(1, len(others)) for mass in others]
    return [(t, *((ONE - t) * part for part in spread)) for t in sorted({first, *SCALES[steps]})]


def every_row(instance: Instance) -> Sliders:
    """The rows that the law of one iteration depends on, proposal first, with one position each."""
    vocab, depth = instance.vocab, instance.draft.depth
    rows: Sliders = {("q", prefix): [instance.proposal[prefix]] for prefix in prefixes(vocab, depth - 1)}
    return rows | {("p", prefix): [instance.target[prefix]] for prefix in prefixes(vocab, depth)}


def placed(instance: Instance, rows: dict[Key, Row]) -> Instance:
    """The instance with these rows instead of its own."""
    own = {key: row for key, (row,) in every_row(instance).items()}
    return assembled(own | rows, instance.vocab, instance.draft, instance.name)


@dataclass
class Group:
    """Drafts that depend on the same rows: those of proposal and target after the prefixes `reads`.

    A place is one slider position for each of these rows. Places are numbered with the proposal's rows first
    and the last row's position varying fastest. A draft's weights are listed by the proposal's part of the
    place. Its walks are listed by place: the number of the first step, or -1 if the draft is not drawn.
    """

    reads: tuple[Prefix, ...]
    drafts: dict[str, Draft]

    @property
    def keys(self) -> list[Key]:
        return [(which, prefix) for which in "qp" for prefix in self.reads]


class Pool:
    """The parts that the walks of one instance share; each is stored once and referred to by its number."""

    def __init__(self) -> None:
        kinds = ("numbers", "rows", "names", "prefixes", "functions", "values", "steps")
        self._known: dict[str, dict[Any, int]] = {kind: {} for kind in kinds}

    def number(self, number: fmpq) -> int:
        return self._add("numbers", (int(number.p), int(number.q)))

    def row(self, row: Row) -> int:
        return self._add("rows", tuple(self.number(x) for x in row))

    def walk(self, walk: Walk | None) -> int:
        """The number of the first step. A stop is [prefix, row or -1]; a step is [function, line, variables,
        branches, next steps, whether it accepts]; the next step of a branch without mass is -1."""
        if walk is None:
            return -1
        if not isinstance(walk, Step):
            return self._add("steps", (self._prefix(walk.prefix), self.row(walk.row) if walk.row else -1))
        step = (
            self._add("functions", walk.code),
            walk.line,
            tuple(self._value(name, value) for name, value in walk.locals),
            tuple(self.number(mass) for mass in walk.branches),
            tuple(self.walk(each) for each in walk.after),
            walk.kind == "accept",
        )
        return self._add("steps", step)

    def document(self) -> dict[str, list[Any]]:
        """The pool as the page reads it."""
        functions = [{"name": code.co_name, "source": getsource(code)} for code in self._known["functions"]]
        numbers = [text(fmpq(*parts)) for parts in self._known["numbers"]]
        known = {kind: list(parts) for kind, parts in self._known.items()}
        return known | {"numbers": numbers, "functions": functions}

    def _prefix(self, prefix: Prefix) -> int:
        return self._add("prefixes", spelled(prefix))

    def _value(self, name: str, value: Value) -> int:
        at = self._add("names", name)
        if isinstance(value, fmpq):
            return self._add("values", (at, 0, self.number(value)))
        if isinstance(value, Node):
            return self._add("values", (at, 2, self._prefix(value.prefix)))
        return self._add("values", (at, 1, self.row(value)))

    def _add(self, kind: str, part: Hashable) -> int:
        return self._known[kind].setdefault(part, len(self._known[kind]))


def _grouped(instance: Instance, sliders: Sliders) -> Iterator[Group]:
    # All drafts that are possible at some position. They depend only on each row's support and order of
    # tokens, so one position per support and order is tried, in all combinations of the proposal's rows.
    found: dict[tuple[Prefix, ...], dict[str, Draft]] = {}
    keys = [key for key in sliders if key[0] == "q"]
    for rows in product(*(_orders(sliders[key]) for key in keys)):
        for _, draft in _distinct(placed(instance, dict(zip(keys, rows, strict=True)))):
            found.setdefault(_reads(draft), {}).setdefault(_spelling(draft), draft)
    yield from (Group(reads, alike) for reads, alike in sorted(found.items()))


def _places(instance: Instance, sliders: Sliders, keys: Sequence[Key]) -> Iterator[Instance]:
    for rows in product(*(sliders[key] for key in keys)):
        yield placed(instance, dict(zip(keys, rows, strict=True)))


def _orders(rows: Sequence[Row]) -> list[Row]:
    # One row for each support and order of tokens.
    support = lambda row: tuple(x > 0 for x in row)  # noqa: E731
    order = lambda row: tuple(sorted(range(len(row)), key=lambda token: -row[token]))  # noqa: E731
    return list({(support(row), order(row)): row for row in rows}.values())


def _distinct(instance: Instance) -> list[tuple[fmpq, Draft]]:
    # (probability, draft); drafts that no verifier can distinguish are merged.
    merged: dict[str, tuple[fmpq, Draft]] = {}
    for weight, draft in drafts(instance):
        key = _spelling(draft)
        merged[key] = (merged[key][0] + weight if key in merged else weight, draft)
    return list(merged.values())


def _reads(draft: Draft) -> tuple[Prefix, ...]:
    # The prefixes after which tokens were drafted, shorter ones first.
    return tuple(dict.fromkeys(sorted((each.prefix for each in draft.root if each.children), key=len)))


def _tree(node: Node) -> list[Any]:
    # [token, tree below] of every child.
    return [[child.token, _tree(child)] for child in node.children]


def _spelling(draft: Draft) -> str:
    paths = [path[-1].prefix for path in draft.paths] if draft.merged else ""
    return f"{_tree(draft.root)}{paths}"


def _document(instance: Instance, sliders: Sliders, group: Group, pool: Pool) -> dict[str, Any]:
    weights: dict[str, list[int]] = {key: [] for key in group.drafts}
    for moved in _places(instance, sliders, group.keys[: len(group.reads)]):
        masses = {_spelling(draft): mass for mass, draft in _distinct(moved)}
        for key, listed in weights.items():
            listed.append(pool.number(masses.get(key, ZERO)))
    return {
        "reads": [spelled(prefix) for prefix in group.reads],
        "drafts": [_tree(draft.root) for draft in group.drafts.values()],
        "paths": [
            [spelled(path[-1].prefix) for path in draft.paths] if draft.merged else None
            for draft in group.drafts.values()
        ],
        "weights": list(weights.values()),
    }


def _fit(instance: Instance, given: Sequence[Group], steps: int, walks: int) -> bool:
    # The drafts of the given rows are found quickly; if all drafts are too many, these usually are too.
    sliders = _sliders(instance, steps)
    if _walks(given, sliders) > walks:
        return False
    most = prod(len(_orders(rows)) for key, rows in sliders.items() if key[0] == "q")
    return most <= walks and _walks(_grouped(instance, sliders), sliders) <= walks


def _walks(groups: Iterable[Group], sliders: Sliders) -> int:
    return sum(len(group.drafts) * prod(len(sliders[key]) for key in group.keys) for group in groups)


def _sliders(instance: Instance, steps: int) -> Sliders:
    # No walk reads a row after a full draft, so these rows have the finest sliders.
    depth = instance.draft.depth
    return {
        (which, prefix): positions(row, steps if len(prefix) < depth else max(SCALES))
        for (which, prefix), (row,) in every_row(instance).items()
    }
