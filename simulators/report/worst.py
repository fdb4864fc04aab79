"""The instances that say most: the largest gaps and the largest errors, one a verifier."""

import json
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from typing import Any

from draftproof.simulators.instances.files import document
from draftproof.simulators.report.explorer.record import explorable
from draftproof.simulators.report.read import Store
from draftproof.simulators.report.summary import Rows, drafted
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance

MISSING = """
    with missed as (
        select *, coalesce(stateless, full_information) as optimum,
               coalesce(stateless, full_information) - expected_accepted as missing,
               if(stateless is null, 'full information', 'stateless') as of
        from gap)
    select unnest(arg_max(missed, missing)) from missed
    where missing > 1e-8 and note not in ('keeps state') group by verifier
"""

WRONG = """
    select unnest(arg_max(c, total_variation)) from "check" c
    where lossless is false or (lossless is null and not declared and total_variation > 1e-9)
    group by verifier
"""


def both(store: Store) -> dict[str, Rows]:
    """Both tables; empty where neither has a row."""
    found = {"missing": missing(store), "wrong": wrong(store)}
    return found if any(found.values()) else {}


def missing(store: Store) -> Rows:
    """Each verifier's instance furthest below the optimum, the largest gap first."""
    return [
        {
            "verifier": row["verifier"],
            "missing": row["missing"],
            "share": row["expected_accepted"] / row["optimum"],
            "mean": row["expected_accepted"],
            "mean_exact": row["expected_accepted_exact"],
            "optimum": row["optimum"],
            "optimum_exact": row["stateless_exact"]
            if row["stateless"] is not None
            else row["full_information_exact"],
            "of": row["of"],
            **_instance(store, row),
        }
        for row in _missed(store)
    ]


def wrong(store: Store) -> Rows:
    """Each lossy verifier's instance of the largest total variation, the largest first."""
    if "check" not in store.metrics:
        return []
    kept = (
        "verifier",
        "total_variation",
        "total_variation_exact",
        "witness_prefix",
        "witness_got",
        "witness_want",
    )
    return [
        {
            **{name: row[name] for name in kept},
            "got": _float(row["witness_got"]),
            "want": _float(row["witness_want"]),
            **_instance(store, row),
        }
        for row in store.rows(f"from ({WRONG}) order by total_variation desc, verifier")
    ]


def worst_instances(store: Store, most: int) -> Iterator[tuple[str, Instance]]:
    """(verifier, instance) of the largest gaps on different instances that the explorer can take."""
    met: list[Instance] = []
    for row in _missed(store):
        with suppress(BadInput):
            instance = store.results.instance(row)
            if len(met) < most and instance not in met and explorable(instance):
                met.append(instance)
                yield row["verifier"], instance


def _missed(store: Store) -> Rows:
    if "gap" not in store.metrics:
        return []
    return store.rows(f"from {store.made('missed', MISSING)} order by missing desc, verifier")


def _instance(store: Store, row: dict[str, Any]) -> dict[str, Any]:
    where = [drafted(row["draft"]), f"V = {row['vocab']}", row["rows"]]
    if row["temperature"] is not None:
        where.append(f"temperature {row['temperature']:g}")
    where.append(f"number {row['index']}")
    try:
        spelled = json.dumps(document(store.results.instance(row)))
    except BadInput:
        spelled = None  # rows from a text that is no longer there
    return {"instance": ", ".join(where), "document": spelled}


def _float(exact: str | None) -> float | None:
    return None if exact is None else float(Fraction(exact))
