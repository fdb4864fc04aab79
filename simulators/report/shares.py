"""How near verifiers come to the optimum: shares as distributions, for every draft and vocabulary."""

from draftproof.simulators.report.cells import BIN, SHARED, bins, cells
from draftproof.simulators.report.read import Store
from draftproof.simulators.report.summary import Rows, drafted

BARS = 20
"""Columns of a histogram of shares; it begins at a tenth below the least share of a lossless rule."""

SETTINGS = 60
"""Most settings (draft, vocabulary) of a choice."""

KEY = "draft, vocab, of, verifier"


def gaps(store: Store) -> Rows:
    """For every draft and vocabulary: each verifier's shares of the optimum, as a distribution."""
    if "gap" not in store.metrics:
        return []
    settings: dict[tuple[str, int, str], Rows] = {}
    for row in store.rows(_distributions(store)):
        bars = row.pop("bars")
        row["histogram"] = [bars.get(n, 0) for n in range(BARS)]
        settings.setdefault((row.pop("draft"), row.pop("vocab"), row["of"]), []).append(row)
    titles = [
        {"title": f"{drafted(draft)}, V = {vocab}", "rows": rows}
        for (draft, vocab, _), rows in settings.items()
    ]
    return titles[:SETTINGS]


def _distributions(store: Store) -> str:
    # `tenths` is where a setting's histograms begin; its bars are whole bins wide.
    return f"""
        with whole as (
            select {KEY}, any_value(depth) as depth, max(note) as note, sum(shares)::bigint as instances,
                   sum(shared) / sum(shares) as mean, sum(shared) / nullif(sum(best), 0) as share,
                   min(least) as least, sum(reached)::bigint as reached, bool_and(declared) as declared
            from {cells(store, "gap")} where shares > 0 group by {KEY}),
        begun as (
            select *, coalesce(floor(9.99 * min(least) filter (declared)
                                     over (partition by draft, vocab, of)), 0)::integer as tenths
            from whole),
        placed as (
            select {KEY}, greatest(0, least({BARS - 1}, (bin - {BIN // 10} * tenths)
                                                        // ({BIN // 10 // BARS} * (10 - tenths)))) as bar,
                   sum(each.instances)::bigint as instances
            from {bins(store)} as each join begun using ({KEY}) group by {KEY}, bar),
        drawn as (select {KEY}, map_from_entries(list((bar, instances))) as bars from placed group by {KEY})
        select {KEY}, note, instances, mean, share, least, median, reached, tenths / 10 as low, bars
        from begun join drawn using ({KEY}) join {_medians(store)} using ({KEY})
        order by depth desc, vocab desc, {KEY}
    """


def _medians(store: Store) -> str:
    # The two middle ranks lie in bins that the counts give; only the values in these are looked at.
    middle = store.made(
        "gap_middle",
        f"""
        with counted as (
            select *, sum(instances) over (partition by {KEY} order by bin) as upto,
                   sum(instances) over (partition by {KEY}) as total
            from {bins(store)})
        select {KEY}, bin, upto - instances as before, total
        from counted where upto > (total - 1) // 2 and upto - instances <= total // 2
        """,
    )
    return store.made(
        "gap_medians",
        f"""
        with met as (
            select {KEY}, bin, share, count(*) as instances
            from (select {KEY}, floor({BIN} * share)::integer as bin, share from {SHARED})
            semi join {middle} using ({KEY}, bin) group by all),
        ranked as (
            select *, before + sum(instances) over (partition by {KEY}, bin order by share) as upto
            from met join {middle} using ({KEY}, bin))
        select {KEY}, (max(share) filter (upto - instances <= total // 2)
                       + min(share) filter (upto > (total - 1) // 2)) / 2 as median
        from ranked group by {KEY}
        """,
    )
