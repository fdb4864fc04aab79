"""All walks of all verifiers on one instance, at every position of its sliders."""

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from flint import fmpq

from draftproof.simulators.check import applies
from draftproof.simulators.instances.files import document, spelled
from draftproof.simulators.report.explorer.groups import Group, distinct, grouped, kinds, spelling, tree
from draftproof.simulators.report.explorer.pool import Pool
from draftproof.simulators.report.explorer.sliders import SCALES, Key, every_row, placed, positions
from draftproof.simulators.report.explorer.walk import walk
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Row
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS

WALKS = 2_500
"""Most walks of one verifier that are recorded; it decides how finely the sliders move."""

ROWS = 40
"""Most target rows of an instance."""


def recorded(instance: Instance, walks: int = WALKS) -> dict[str, Any]:
    """The document that the page's explorer reads.

    Raises BadInput where one position of each slider is already too much.
    """
    steps = finest(instance, walks)
    if steps is None:
        raise BadInput(f"{instance.name}: too large to explore, more than {walks:,} walks of a verifier")
    sliders = _sliders(instance, steps)
    groups = list(grouped(instance, sliders))
    verifiers = [each for each in VERIFIERS.values() if applies(each, instance)]
    pool = Pool()
    listed = _walked(instance, verifiers, groups, pool)
    return {
        "name": instance.name,
        "vocab": instance.vocab,
        "depth": instance.draft.depth,
        "draft": document(instance)["draft"],
        "label": instance.draft.label,
        "sliders": [
            {
                "of": which,
                "prefix": spelled(prefix),
                "at": rows.index(every_row(instance)[which, prefix]),
                "rows": [pool.row(row) for row in rows],
            }
            for (which, prefix), rows in sliders.items()
        ],
        "groups": [_group(instance, group, pool) for group in groups],
        "verifiers": [
            {
                "name": verifier.name,
                "source": verifier.source,
                "lossless": verifier.lossless,
                "keeps_state": verifier.carry is not None,
                "walks": [list(each[verifier.name].values()) for each in listed],
            }
            for verifier in verifiers
        ],
        "pool": pool.document(),
    }


def explorable(instance: Instance) -> bool:
    """Whether it is small enough for the page."""
    return finest(instance, WALKS) is not None


def finest(instance: Instance, walks: int) -> int | None:
    """How many positions of each slider so many walks of a verifier allow; None where not even one."""
    rows = sum(instance.vocab**depth for depth in range(instance.draft.depth + 1))
    if rows > ROWS or instance.draft.outcomes(instance.vocab) > walks:
        return None
    given = list(grouped(instance, {key: [row] for key, row in every_row(instance).items()}))
    return next((n for n in sorted(SCALES, reverse=True) if _fit(instance, given, n, walks)), None)


def _walked(
    instance: Instance,
    verifiers: Sequence[Verifier],
    groups: Sequence[Group],
    pool: Pool,
) -> list[dict[str, dict[str, list[int]]]]:
    # For each group, verifier and draft: the first step of the walk at every place, -1 where it is not drawn.
    listed = []
    for group in groups:
        found: dict[str, dict[str, list[int]]] = {
            verifier.name: {key: [] for key in group.drafts} for verifier in verifiers
        }
        for place in range(prod(group.sizes)):
            there = placed(instance, group.at(place, group.sizes))
            met = {spelling(draft): draft for _, draft in distinct(there)}
            for verifier in verifiers:
                for key, steps in found[verifier.name].items():
                    drawn = met.get(key)
                    steps.append(-1 if drawn is None else pool.walk(walk(verifier, drawn, there.target)))
        listed.append(found)
    return listed


def _group(instance: Instance, group: Group, pool: Pool) -> dict[str, Any]:
    weights: dict[str, list[int]] = {key: [] for key in group.drafts}
    for place in range(prod(group.proposals)):
        there = placed(instance, group.at(place, group.proposals))
        met: dict[str, fmpq] = {spelling(draft): mass for mass, draft in distinct(there)}
        for key, listed in weights.items():
            listed.append(pool.number(met.get(key, fmpq(0))))
    return {
        "reads": [spelled(prefix) for prefix in group.reads],
        "drafts": [tree(draft.root) for draft in group.drafts.values()],
        "paths": [
            [spelled(path[-1].prefix) for path in draft.paths] if draft.merged else None
            for draft in group.drafts.values()
        ],
        "weights": list(weights.values()),
    }


def _fit(instance: Instance, given: Sequence[Group], steps: int, walks: int) -> bool:
    # The drafts of the rows as given are found at once, and mostly too many where all are.
    sliders = _sliders(instance, steps)
    if _walks(given, sliders) > walks:
        return False
    most = prod(len(kinds(rows)) for key, rows in sliders.items() if key[0] == "q")
    return most <= walks and _walks(grouped(instance, sliders), sliders) <= walks


def _walks(groups: Iterable[Group], sliders: dict[Key, list[Row]]) -> int:
    return sum(len(group.drafts) * prod(len(sliders[key]) for key in group.keys) for group in groups)


def _sliders(instance: Instance, steps: int) -> dict[Key, list[Row]]:
    # No walk looks at a row after a full draft, so those move as finely as any.
    depth = instance.draft.depth
    return {
        (which, prefix): positions(row, steps if len(prefix) < depth else max(SCALES))
        for (which, prefix), row in every_row(instance).items()
    }
