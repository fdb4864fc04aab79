"""One required figure, and the lookup of the answers of a stage's commands."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A requirement and a stage's measurement; `holds` is None if the measurement does not decide it."""

    stage: str
    required: str
    measured: str | None = None
    holds: bool | None = None


def runs(found: Mapping[str, Any], stage: str) -> list[dict[str, Any]]:
    """The commands of a stage that were run; of those of one name only the last that answered."""
    made = found[stage]["runs"] if stage in found else []
    last: dict[str, dict[str, Any]] = {}
    for run in made:
        known = last.get(run["name"])
        if known is None or known["answer"] is None or run["answer"] is not None:
            last[run["name"]] = run
    return list(last.values())


def answer(found: Mapping[str, Any], stage: str, name: str | None = None) -> Any:
    """The answer of a stage's command of that name (default: the first command); None if it gave none."""
    named = (run["answer"] for run in runs(found, stage) if name in (None, run["name"]))
    return next(named, None)


def settled(measured: str, fine: bool, complete: bool) -> tuple[str, bool | None]:
    """(text, holds): if the run was not complete, only a failure counts."""
    if complete:
        return measured, fine
    return f"{measured}; not run to the end", None if fine else False
