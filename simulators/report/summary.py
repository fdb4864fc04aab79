"""What a page says of a sweep's rows as a whole: verdicts, proofs, audits."""

import json
from typing import Any

from draftproof.simulators.gap.ensemble import described
from draftproof.simulators.instances.files import draft_of
from draftproof.simulators.report.read import Store

Rows = list[dict[str, Any]]

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
