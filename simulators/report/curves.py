"""Means along one axis, all else fixed: tokens missing to the optimum, and E[tau]."""

from collections.abc import Sequence
from typing import Any

from draftproof.simulators.report.cells import cells
from draftproof.simulators.report.read import Store
from draftproof.simulators.report.summary import Rows, drafted

AXES = {
    "depth": ("depth of the draft (tokens)", ("kind", "vocab", "rows", "temperature")),
    "temperature": ("temperature", ("draft", "vocab", "rows")),
    "vocab": ("vocabulary (tokens)", ("draft", "rows", "temperature")),
}
"""What a curve runs along, and what stays fixed on it."""

CURVES = 60
"""Most curves of a page."""

ACCEPTED = "sum(accepted) / sum(instances)"
MISSING = "sum(missing) filter (declared) / nullif(sum(known) filter (declared), 0)"
"""What a lossy rule gains is not the optimum's to lose."""


def curves(store: Store) -> Rows:
    """Every curve that the rows allow."""
    found: Rows = []
    metric = "gap" if "gap" in store.metrics else "check"
    if metric in store.metrics:
        for axis in AXES:
            if metric == "gap":
                found += _curves(store, metric, axis, "Accepted tokens missing to the optimum", MISSING)
            found += _curves(store, metric, axis, "E[tau]", ACCEPTED)
    return found[:CURVES]


def _curves(store: Store, metric: str, axis: str, what: str, mean: str) -> Rows:
    # Along depths, drafts of one kind that differ otherwise (in width) are not averaged: they make no curve.
    label, fixed = AXES[axis]
    names = ", ".join(fixed)
    query = f"""
        select {names}, {axis} as at, verifier, {mean} as value, count(distinct draft) as drafts
        from {cells(store, metric)} where {axis} is not null
        group by {names}, {axis}, verifier having value is not null order by {names}, verifier, {axis}
    """
    groups: dict[tuple[Any, ...], Rows] = {}
    for row in store.rows(query):
        groups.setdefault(tuple(row[name] for name in fixed), []).append(row)
    made = [_curve(what, axis, label, fixed, key, rows) for key, rows in groups.items()]
    return [curve for curve in made if curve]


def _curve(
    what: str, axis: str, label: str, fixed: Sequence[str], key: Sequence[Any], rows: Rows
) -> dict[str, Any] | None:
    if len({row["at"] for row in rows}) < 2 or any(row["drafts"] > 1 for row in rows):
        return None
    series: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        series.setdefault(row["verifier"], []).append((row["at"], row["value"]))
    said = [_named(name, value) for name, value in zip(fixed, key, strict=True) if value is not None]
    lines = [{"name": name, "points": points} for name, points in series.items()]
    return {"title": f"{what} by {axis}: {', '.join(said)}", "axis": label, "series": lines}


def _named(name: str, value: Any) -> str:
    if name == "draft":
        return drafted(value)
    return str(value) if name in ("kind", "rows") else f"{'V' if name == 'vocab' else name} = {value:g}"
