"""Rows summed up in one reading: a cell for all rows that differ in seed and number of the instance alone.

What the page says of millions of rows is made of cells, and of counts of shares. Both stay small
however many rows there are.
"""

from draftproof.simulators.gap.summary import REACHED
from draftproof.simulators.report.read import Store

SHARED = """(
    select *, coalesce(share_stateless, share_full) as share,
           coalesce(stateless, full_information) as optimum,
           if(share_stateless is null, 'full-information', 'stateless') as of
    from gap)
"""
"""The rows of `gap` with the best optimum that is known, which one that is, and the share of it."""

COMMON = """
    any_value(kind) as kind, any_value(depth) as depth, any_value(declared) as declared,
    count(*) as instances, sum(expected_accepted) as accepted
"""

CELLS = {
    "check": f'select draft, vocab, rows, temperature, verifier, {COMMON} from "check" group by all',
    "gap": f"""
    select draft, vocab, rows, temperature, verifier, of, {COMMON}, max(note) as note,
           count(optimum) as known, sum(optimum - expected_accepted) as missing,
           count(share) as shares, min(share) as least, count(*) filter (share >= 1 - {REACHED}) as reached,
           sum(expected_accepted) filter (share is not null) as shared,
           sum(optimum) filter (share is not null) as best
    from {SHARED} group by all
""",
}

BIN = 1000
"""Bins of one unit in which shares are counted."""

BINS = f"""
    select draft, vocab, of, verifier, floor({BIN} * share)::integer as bin, count(*) as instances
    from {SHARED} where share is not null group by all
"""


def cells(store: Store, metric: str) -> str:
    """The name of a table of cells of `check` or of `gap`."""
    return store.made(f"{metric}_cells", CELLS[metric])


def bins(store: Store) -> str:
    """The name of a table of how many shares of the optimum lie in each bin."""
    return store.made("gap_bins", BINS)
