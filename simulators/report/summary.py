"""What a page says of a sweep's rows: verdicts, gaps, curves, proofs, audits. All of it aggregates."""

import json
from collections.abc import Sequence
from typing import Any

from simulators.gap.ensemble import described
from simulators.gap.summary import REACHED
from simulators.instances.files import draft_of
from simulators.report.read import Store

Rows = list[dict[str, Any]]

BINS = 20
"""Columns of a histogram of shares; it begins at a tenth below the least share of a lossless rule."""

SETTINGS = 60
"""Most settings (draft, vocabulary) of a choice, and most curves."""

VERDICTS = """
    select verifier, string_agg(distinct kind, ', ' order by kind) as kinds, count(*) as instances,
           count(lossless) as decided, count(*) filter (lossless) as lossless,
           max(total_variation) as total_variation,
           arg_max(total_variation_exact, total_variation) as total_variation_exact,
           avg(expected_accepted) as expected_accepted, any_value(declared) as declared,
           bool_and(lossless) as found
    from "check" group by verifier order by verifier
"""


def verdicts(store: Store) -> Rows:
    """One row a verifier over all its instances."""
    return store.rows(VERDICTS) if "check" in store.metrics else []


def gaps(store: Store) -> Rows:
    """For every draft and vocabulary: each verifier's shares of the optimum, as a distribution."""
    if "gap" not in store.metrics:
        return []
    shares = f"""
        with shared as (
            select *, coalesce(share_stateless, share_full) as share,
                   coalesce(stateless, full_information) as optimum,
                   if(share_stateless is null, 'full-information', 'stateless') as of
            from gap where coalesce(share_stateless, share_full) is not null),
        placed as (
            select *, coalesce(floor(9.99 * min(share) filter (declared)
                                     over (partition by draft, vocab, of)) / 10, 0) as low
            from shared)
        select draft, vocab, of, low, verifier, any_value(note) as note, count(*) as instances,
               avg(expected_accepted) as mean, sum(expected_accepted) / nullif(sum(optimum), 0) as share,
               min(share) as least, median(share) as median,
               count(*) filter (share >= 1 - {REACHED}) as reached,
               histogram(greatest(0, least({BINS - 1}, floor((share - low) / (1 - low) * {BINS})))::integer)
                   as bins
        from placed group by draft, vocab, of, low, verifier
        order by max(depth) desc, vocab desc, draft, of, verifier
    """
    settings: dict[tuple[str, int, str], Rows] = {}
    for row in store.rows(shares):
        bins = row.pop("bins")
        row["histogram"] = [bins.get(n, 0) for n in range(BINS)]
        settings.setdefault((row.pop("draft"), row.pop("vocab"), row["of"]), []).append(row)
    titles = [
        {"title": f"{drafted(draft)}, V = {vocab}", "rows": rows}
        for (draft, vocab, _), rows in settings.items()
    ]
    return titles[:SETTINGS]


AXES = {
    "depth": ("depth of the draft (tokens)", ("kind", "vocab", "rows", "temperature")),
    "temperature": ("temperature", ("draft", "vocab", "rows")),
    "vocab": ("vocabulary (tokens)", ("draft", "rows", "temperature")),
}
"""What a curve runs along, and what stays fixed on it."""


def curves(store: Store) -> Rows:
    """Means along one axis, all else fixed: tokens missing to the optimum, and E[tau]."""
    found: Rows = []
    for axis, (label, fixed) in AXES.items():
        if "gap" in store.metrics:  # what a lossy rule gains is not the optimum's to lose
            missing = "avg(coalesce(stateless, full_information) - expected_accepted) filter (declared)"
            found += _curves(
                store, "gap", axis, label, fixed, "Accepted tokens missing to the optimum", missing
            )
        metric = "gap" if "gap" in store.metrics else "check"
        if metric in store.metrics:
            found += _curves(store, metric, axis, label, fixed, "E[tau]", "avg(expected_accepted)")
    return found[:SETTINGS]


def _curves(
    store: Store, metric: str, axis: str, label: str, fixed: Sequence[str], what: str, mean: str
) -> Rows:
    # Along depths, drafts of one kind that differ otherwise (in width) are not averaged: they make no curve.
    names = ", ".join(fixed)
    query = f"""
        select {names}, {axis} as at, verifier, {mean} as value, count(distinct draft) as drafts
        from "{metric}" where {axis} is not null
        group by {names}, {axis}, verifier having value is not null order by {names}, verifier, {axis}
    """
    groups: dict[tuple[Any, ...], Rows] = {}
    for row in store.rows(query):
        groups.setdefault(tuple(row[name] for name in fixed), []).append(row)
    made: Rows = []
    for key, rows in groups.items():
        if len({row["at"] for row in rows}) < 2 or any(row["drafts"] > 1 for row in rows):
            continue
        series: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            series.setdefault(row["verifier"], []).append((row["at"], row["value"]))
        title = ", ".join(
            _named(name, value) for name, value in zip(fixed, key, strict=True) if value is not None
        )
        lines = [{"name": name, "points": points} for name, points in series.items()]
        made.append({"title": f"{what} by {axis}: {title}", "axis": label, "series": lines})
    return made


def _named(name: str, value: Any) -> str:
    if name == "draft":
        return drafted(value)
    return str(value) if name in ("kind", "rows") else f"{'V' if name == 'vocab' else name} = {value:g}"


def drafted(draft: str) -> str:
    """A draft of an instance file in a few words; a shape is the list of its children's shapes.

    >>> drafted('{"kind": "tree", "shape": [[[]], []], "replacement": false}')
    'tree without replacement [[[]], []]'
    >>> drafted('{"kind": "paths", "count": 2, "depth": 3}')
    'paths, 2 of depth 3'
    """
    scheme = draft_of(draft)
    shape = json.loads(draft).get("shape")
    return f"{scheme.label}, {described(scheme)}" if shape is None else f"{scheme.label} {json.dumps(shape)}"


def proofs(store: Store) -> Rows:
    """The proofs, as they are."""
    if "prove" not in store.metrics:
        return []
    rows = store.rows(
        "select verifier, draft, scope, verdict, cells, parameters, why from prove order by verifier, scope"
    )
    return [{**row, "draft": drafted(row["draft"])} for row in rows]


def audits(store: Store) -> Rows:
    """One row an audited target."""
    if "audit" not in store.metrics:
        return []
    return store.rows("""
        select target, adapter, count(*) as instances,
               case when count(lossless) < count(*) then 'undecided' when bool_and(lossless) then 'lossless'
                    else 'lossy' end as lossless,
               max(total_variation) as total_variation,
               string_agg(distinct nullif(findings, ''), '; ') as findings
        from audit group by target, adapter order by target
    """)
