"""The drafts of an explored instance, by the rows that they look at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from flint import fmpq

from draftproof.simulators.enumerate import drafts
from draftproof.simulators.report.explorer.sliders import Key, numbered, placed
from draftproof.theory.draft import Draft, Node
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Prefix, Row


@dataclass
class Group:
    """Drafts that look at the same rows: those after `reads`, of the proposal and of the target.

    A place is one position of each of these rows, numbered with the proposal's rows first;
    `weights` and the walks of a draft are listed by the proposal's part of it and by all of it.
    """

    reads: tuple[Prefix, ...]
    rows: list[list[Row]]
    drafts: dict[str, Draft]

    @property
    def keys(self) -> list[Key]:
        return [(which, prefix) for which in "qp" for prefix in self.reads]

    @property
    def sizes(self) -> list[int]:
        return [len(each) for each in self.rows]

    @property
    def proposals(self) -> list[int]:
        """The sizes of the proposal's part."""
        return self.sizes[: len(self.reads)]

    def at(self, place: int, sizes: Sequence[int]) -> dict[Key, Row]:
        """The rows at a place among all (`sizes`) or among those of the proposal (`proposals`)."""
        digits = numbered(sizes, place)
        return {key: rows[digit] for key, rows, digit in zip(self.keys, self.rows, digits, strict=False)}


def grouped(instance: Instance, sliders: dict[Key, list[Row]]) -> Iterator[Group]:
    """All drafts that any position can draw, by the rows they look at.

    Which drafts there are depends on which tokens a row can draw, and on which are likeliest; the
    positions of every proposal row, all together, show them.
    """
    found: dict[tuple[Prefix, ...], dict[str, Draft]] = {}
    keys = [key for key in sliders if key[0] == "q"]
    for rows in product(*(kinds(sliders[key]) for key in keys)):
        there = placed(instance, dict(zip(keys, rows, strict=True)))
        for _, draft in distinct(there):
            found.setdefault(tuple(_read(draft.root)), {}).setdefault(spelling(draft), draft)
    for reads, alike in sorted(found.items()):
        yield Group(reads, [sliders[which, prefix] for which in "qp" for prefix in reads], alike)


def kinds(rows: Sequence[Row]) -> list[Row]:
    """One row for each support and order of tokens among the positions of a slider."""
    kinds = {
        (tuple(x > 0 for x in row), tuple(sorted(range(len(row)), key=lambda t: -row[t]))): row
        for row in rows
    }
    return list(kinds.values())


def distinct(instance: Instance) -> Iterator[tuple[fmpq, Draft]]:
    """(probability, draft) of every draft, those that are spelled alike as one."""
    merged: dict[str, tuple[fmpq, Draft]] = {}
    for weight, draft in drafts(instance):
        key = spelling(draft)
        merged[key] = (merged[key][0] + weight if key in merged else weight, draft)
    return iter(merged.values())


def _read(node: Node) -> Iterator[Prefix]:
    seen = set()
    level = [node]
    for each in level:
        if each.children and each.prefix not in seen:
            seen.add(each.prefix)
            yield each.prefix
        level.extend(each.children)


def tree(node: Node) -> list[Any]:
    """[token, tree below] of every child, as the page reads it."""
    return [[child.token, tree(child)] for child in node.children]


def spelling(draft: Draft) -> str:
    """A name that drafts share if no verifier can tell them apart."""
    paths = [path[-1].prefix for path in draft.paths] if draft.merged else ""
    return f"{tree(draft.root)}{paths}"
