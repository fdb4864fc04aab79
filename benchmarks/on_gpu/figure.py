"""One required figure, and how the answers of a stage's commands are found."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """What is required, and what a stage measured; `holds` is None where that settles nothing."""

    stage: str
    required: str
    measured: str | None = None
    holds: bool | None = None


def runs(found: Mapping[str, Any], stage: str) -> list[dict[str, Any]]:
    """The commands of a stage that were run; of those of one name, one in the other's place, the last."""
    return list({run["name"]: run for run in found[stage]["runs"]}.values()) if stage in found else []


def answer(found: Mapping[str, Any], stage: str, name: str | None = None) -> Any:
    """What a command of a stage answered, by its name, or the first; None where it did not."""
    named = (run["answer"] for run in runs(found, stage) if name in (None, run["name"]))
    return next(named, None)


def settled(measured: str, fine: bool, complete: bool) -> tuple[str, bool | None]:
    """What is shown, and what holds: of what was not run to its end only a failure counts."""
    if complete:
        return measured, fine
    return f"{measured}; not run to the end", None if fine else False
