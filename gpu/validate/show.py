"""Cells as a table and a document."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from draftproof.gpu.validate.cell import Cell
from draftproof.gpu.validate.run import Plan
from draftproof.simulators.anytime import ERROR


def tables(cells: Sequence[Cell]) -> list[Table]:
    """One line a verifier and draft; the specimens in a table of their own."""
    sound = [cell for cell in cells if cell.specimen is None]
    lossy = [cell for cell in cells if cell.specimen is not None]
    return [each for each in (_sound(sound), _lossy(lossy)) if each.row_count]


def _sound(cells: Sequence[Cell]) -> Table:
    made = Table(title="Real models beside their own laws")
    for heading in ("draft", "verifier"):
        made.add_column(heading, no_wrap=True)
    for heading in ("greedy", "runs", "law", "E\\[tau]", "predicted", "stateless", "full inf."):
        made.add_column(heading, justify="right")
    made.add_column("")
    for cell in cells:
        style = "bold red" if cell.problems else ""
        made.add_row(cell.draft, cell.verifier, *_figures(cell), style=style)
    return made


def _figures(cell: Cell) -> list[str]:
    assert cell.acceptance is not None
    assert cell.greedy is not None
    total, bounds = cell.acceptance.total, cell.acceptance.bounds
    ties = len(cell.greedy.ties)
    return [
        f"{cell.greedy.tokens}{f', {ties} ties' if ties else ''}",
        f"{cell.runs:,}",
        "rejected" if cell.rejected else "kept",
        f"{total.measured:.3f}",
        f"{total.predicted:.3f} ± {max(total.above, total.below):.3f}",
        *("" if bound is None else f"{bound:.3f}" for bound in bounds.values()),
        "" if not cell.problems else "NOT as expected",
    ]


def _lossy(cells: Sequence[Cell]) -> Table:
    made = Table(title="Lossy specimens")
    for heading in ("draft", "specimen"):
        made.add_column(heading, no_wrap=True)
    made.add_column("runs", justify="right")
    made.add_column("")
    for cell in cells:
        said = "noticed" if cell.rejected else "too faint here" if cell.too_faint else "NOT noticed"
        made.add_row(
            cell.draft, cell.verifier, f"{cell.runs:,}", said, style="bold red" if cell.problems else ""
        )
    return made


def summary(cells: Sequence[Cell]) -> str:
    """One line on what held, and one for each problem."""
    sound = [cell for cell in cells if cell.specimen is None]
    lossy = [cell for cell in cells if cell.specimen is not None]
    runs, tokens = sum(cell.runs for cell in cells), sum(cell.greedy.tokens for cell in sound if cell.greedy)
    steps = sum(cell.acceptance.total.steps for cell in sound if cell.acceptance)
    lines = [
        f"{sum(not cell.problems for cell in sound)} of {len(sound)} as predicted "
        f"({tokens:,} greedy tokens, {steps:,} steps, {runs:,} runs)"
    ]
    if lossy:
        lines[0] += f", {sum(cell.rejected for cell in lossy)} of {len(lossy)} lossy specimens noticed"
    lines += [
        f"{cell.draft} {cell.verifier}: where one step is furthest off, total variation {cell.off:.3f}"
        + (": too faint to be asked for" if cell.too_faint else "")
        for cell in lossy
        if cell.off is not None
    ]
    lines += [f"{cell.draft} {cell.verifier}: {each}" for cell in cells for each in cell.problems]
    lines += [
        f"{cell.draft} {cell.verifier}: token {tie.place} of greedy text {tie.prompt + 1} is a tie: "
        f"logits {tie.logits[0]:.6f} and {tie.logits[1]:.6f}, tolerance {tie.tolerance:.1e}"
        for cell in sound
        if cell.greedy
        for tie in cell.greedy.ties
        if tie.explained
    ]
    return "\n".join(lines)


def document(cells: Sequence[Cell], plan: Plan, about: dict[str, Any], complete: bool) -> dict[str, Any]:
    """What --json prints."""
    return {
        **about,
        "plan": asdict(plan),
        "error": ERROR,
        "complete": complete,
        "ok": complete and not any(cell.problems for cell in cells),
        "cells": [cell.answer() for cell in cells],
    }
