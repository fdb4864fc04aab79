"""The page's sections that are made from a sweep's rows."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from draftproof.simulators.audit.enumerated import EnumeratedRule
from draftproof.simulators.audit.judge.examine import examine
from draftproof.simulators.instances.files import document, draft_of
from draftproof.simulators.laws.size import not_shown
from draftproof.simulators.study.gap import REACHED, described
from draftproof.simulators.study.plan import FAMILY
from draftproof.simulators.study.report.page import page
from draftproof.simulators.study.results import Results, Rows
from draftproof.simulators.support.files import replacing
from draftproof.simulators.user_code import named
from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import exact

BEST = """(
    select *, coalesce(share_stateless, share_full) as share,
           coalesce(stateless, full_information) as optimum,
           coalesce(stateless, full_information) - expected_accepted as missing,
           coalesce(stateless_exact, full_information_exact) as optimum_exact,
           if(stateless is null, 'full-information', 'stateless') as of
    from gap)
"""
"""The rows of `gap` with the known optimum (stateless if known, else full-information) and their ratio to it.
"""

PLACED = [*(name for name, _ in FAMILY), "index"]
PLACE = ", ".join(f'"{name}"' for name in PLACED)
"""The columns that lead to the instance of a row."""


def sections(results: Results) -> dict[str, Any]:
    """Section -> its rows; without those of which the sweep has no rows."""
    judged, measured = ("check" in results.metrics), ("gap" in results.metrics)
    worst = {"missing": missing(results) if measured else [], "wrong": wrong(results) if judged else []}
    found = {
        "verdicts": judged and verdicts(results),
        "gaps": measured and gaps(results),
        "worst": any(worst.values()) and worst,
    }
    return {key: rows for key, rows in found.items() if rows}


def written(folder: Path, output: Path, title: str | None) -> tuple[int, dict[str, int]]:
    """Writes the page of a results folder: how many bytes, and how many rows of each section. Raises BadInput
    for a folder without results and a place where nothing can be written.
    """
    results = Results(folder)
    if not results.metrics:
        raise BadInput(f"{folder}: has no finished shard yet")
    if not output.resolve().parent.is_dir():  # report a wrong path before the work starts
        raise BadInput(f"{output}: no such file or directory")
    data = sections(results)
    made = page(title or folder.resolve().name, asked(results), _origin(results), data)
    with replacing(output) as part:
        part.write_text(made, encoding="utf-8")
    return len(made.encode()), {key: len(value) for key, value in data.items()}


def asked(results: Results) -> str:
    """What the sweep was asked for, and how much of it is there."""
    said = []
    for family in results.manifest["configuration"]["family"]:
        drafts = ", ".join(drafted(json.dumps(each)) for each in family["drafts"])
        verifiers = ", ".join(family["verifiers"]) or "all verifiers made for these drafts"
        rows = ", ".join(" ".join(map(str, each.values())) for each in family["rows"])
        vocabularies = ", ".join(map(str, family["vocabularies"]))
        what = f"{' and '.join(family['metrics'])} of {verifiers}"
        said.append(f"{what} on {drafts}; V = {vocabularies}; rows: {rows}")
    chunks = results.manifest["chunks"]
    finished = sum(len(results.shards(metric)) for metric in results.metrics)
    whole = "" if finished >= chunks else f" The sweep is not finished: {finished:,} of {chunks:,} chunks."
    return f"Asked: {'. '.join(said)}.{whole}"


def _origin(results: Results) -> list[str]:
    # Lines on the origin of the page's numbers.
    manifest = results.manifest
    rows = sum(line["rows"] for line in results.summary())
    versions = ", ".join(f"{name} {version}" for name, version in manifest["versions"].items())
    sources = manifest["sources"]["draftproof"][:12]
    return [
        f"{rows:,} rows; draftproof {manifest['draftproof']}, sources {sources}; {versions}.",
        f"Configuration {manifest['digest']}.",
    ]


def drafted(draft: str) -> str:
    """A draft of an instance file in a few words; a shape is the list of its children's shapes."""
    scheme = draft_of(draft)
    shape = getattr(scheme, "shape", None) if '"shape"' in draft else None
    return f"{scheme.label}, {described(scheme)}" if shape is None else f"{scheme.label} {json.dumps(shape)}"


def verdicts(results: Results) -> Rows:
    """One row per kind of draft and verifier: means of one kind are over the same drafts."""
    rows = results.rows("""
        select kind, verifier, max(depth) as depth, max(vocab) as vocab, count(*) as instances,
               count(*) filter (lossless) as lossless,
               max(total_variation) as total_variation,
               arg_max(total_variation_exact, total_variation) as total_variation_exact,
               avg(expected_accepted) as expected_accepted, any_value(declared) as declared,
               bool_and(lossless) as found
        from "check" group by kind, verifier order by kind, verifier
    """)
    for row in rows:  # what its size cannot show in place of the size
        size = row.pop("depth"), row.pop("vocab")
        row["not_shown"] = not_shown(*size) if row["found"] else ""
    return rows


MOST = 60  # largest number of settings (draft, vocabulary) on the page


def gaps(results: Results) -> Rows:
    """For every draft and vocabulary: each verifier's ratios to the optimum."""
    rows = results.rows(f"""
        select draft, vocab, of, verifier, max(note) as note, count(*) as instances,
               avg(expected_accepted) as mean, sum(expected_accepted) / nullif(sum(optimum), 0) as share,
               min(share) as least, median(share) as median,
               count(*) filter (share >= 1 - {REACHED}) as reached
        from {BEST} where share is not null group by draft, vocab, of, verifier
        order by any_value(depth) desc, vocab desc, draft, of, verifier
    """)
    settings: dict[tuple[str, int, str], Rows] = {}
    for row in rows:
        settings.setdefault((row.pop("draft"), row.pop("vocab"), row["of"]), []).append(row)
    shown = [*settings.items()][:MOST]
    return [{"title": f"{drafted(draft)}, V = {V}", "rows": each} for (draft, V, _), each in shown]


def missing(results: Results) -> Rows:
    """Each verifier's instance furthest below the optimum, the largest gap first."""
    rows = results.rows(f"""
        select verifier, missing, share, optimum, optimum_exact, expected_accepted as mean,
               expected_accepted_exact as mean_exact, replace("of", '-', ' ') as "of", {PLACE}
        from (select distinct on (verifier) * from {BEST}
              where missing > 1e-8 and note not in ('keeps state') order by verifier, missing desc, {PLACE})
        order by missing desc, verifier
    """)
    return [_located(results, row) for row in rows]


def wrong(results: Results) -> Rows:
    """Each lossy verifier's instance of the largest total variation, the largest first."""
    rows = results.rows(f"""
        select verifier, total_variation, total_variation_exact, witness_prefix, witness_got, witness_want,
               witness_got as got, witness_want as want, {PLACE}
        from (select distinct on (verifier) * from "check"
              where not lossless order by verifier, total_variation desc, {PLACE})
        order by total_variation desc, verifier
    """)
    for row in rows:
        row |= {name: row[name] and float(exact(row[name])) for name in ("got", "want")}
    return [_located(results, row) for row in rows]


def _located(results: Results, row: dict[str, Any]) -> dict[str, Any]:
    # The row, with its instance in words and as a document in place of the columns that lead to it.
    place = {name: row.pop(name) for name in PLACED}
    where = [drafted(place["draft"]), f"V = {place['vocab']}", place["rows"]]
    if place["temperature"] is not None:
        where.append(f"temperature {place['temperature']:g}")
    where.append(f"number {place['index']}")
    spelled = run = None
    with suppress(BadInput):  # the text file may have been moved
        given = results.instance(place)
        spelled = json.dumps(document(given))
        if isinstance(rule := getattr(named(row["verifier"]).verify, "__self__", None), EnumeratedRule):
            found = examine(rule.target, instances=[given], smallest=False, edges=False)
            run = "\n".join(map(str.strip, found.run.lines())) if found.run else None
    return {**row, "instance": ", ".join(where), "document": "\n".join(filter(None, [spelled, run])) or None}
