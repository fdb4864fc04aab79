"""`--processors`: masked, truncated and ragged rows, and drafts of -1 in their two meanings."""

import click
import numpy as np
import pytest

from draftproof.simulators import audit
from draftproof.simulators.audit.processors import Missing, processed_battery
from draftproof.simulators.commands.audit import audit as command
from draftproof.simulators.commands.entry import enter
from draftproof.simulators.laws.enumerate import drafts
from draftproof.theory.errors import BadInput

GROUP = click.Group("draftproof", [command])


def from_row(row, rng):
    return int(rng.choice(len(row), p=row / row.sum()))


def by_token(p, q, tokens, rng):
    for i, x in enumerate(tokens):
        if x < 0 or not rng.random() * q[i, x] < p[i, x]:
            return [*tokens[:i], from_row(np.maximum(p[i] - q[i], 0), rng)]
    return [*tokens, from_row(p[-1], rng)]


def ends_at_missing(p, q, tokens, rng):
    """A forbidden draft counts as absent: its token comes from p."""
    n = next((i for i, x in enumerate(tokens) if x < 0), len(tokens))
    return by_token(p[: n + 1], q[:n], tokens[:n], rng)


def uniform_at_missing(p, q, tokens, rng):
    """An absent draft counts as drawn from a uniform row."""
    q = np.where(q.any(axis=1, keepdims=True), q, 1 / p.shape[1])
    return by_token(p, q, tokens, rng)


def knows_no_missing(p, q, tokens, rng):
    for i, x in enumerate(tokens):
        if not rng.random() * q[i, x] < p[i, x]:
            return [*tokens[:i], from_row(np.maximum(p[i] - q[i], 0), rng)]
    return [*tokens, from_row(p[-1], rng)]


def smooths_zeros(p, q, tokens, rng):
    return by_token(np.maximum(p, 1e-3), q, tokens, rng)


def needs_a_draft(p, q, tokens, rng):
    assert len(tokens) > 0
    return by_token(p, q, tokens, rng)


def examined(verify, **options):
    return audit.examine(verify, processors=True, edges=False, depth=options.pop("depth", 1), **options)


def test_a_verifier_that_takes_everything():
    report = examined(by_token, depth=2)
    assert report.lossless, report
    assert not report.findings


@pytest.mark.parametrize(
    ("verify", "where"),
    [(ends_at_missing, "missing"), (uniform_at_missing, "missing"), (smooths_zeros, '["1", "0"]')],
)
def test_wrong_rows_are_found(verify, where):
    report = examined(verify)
    assert report.status == 1
    assert report.wrong is not None
    assert where in str(report)


@pytest.mark.parametrize(
    ("verify", "kind"), [(knows_no_missing, "leaves the vocabulary"), (needs_a_draft, "raises")]
)
def test_what_is_not_made_for_missing_drafts_is_not_lossy(verify, kind):
    report = examined(verify)
    assert report.lossless, report
    assert kind in report.found
    assert "-1" in str(report) or "nothing drafted" in str(report)


def test_the_refill_of_the_theory():
    """p = (1/2, 1/2, 0), q = (1/2, 0, 1/2), a forbidden token counted as absent: token 0 with 3/4."""
    from draftproof.theory.instance import Instance
    from draftproof.theory.table import Table

    p, q = Table.exact(3, {(): ["1/2", "1/2", 0]}), Table.exact(3, {(): ["1/2", 0, "1/2"]})
    instance = Instance(p, q, Missing(1, 1, p))
    report = audit.examine(ends_at_missing, instances=[instance], edges=False, smallest=False)
    assert (report.wrong.prefix, float(report.wrong.got)) == ((0,), 0.75)
    assert audit.examine(by_token, instances=[instance], edges=False).lossless


def test_the_battery_has_every_kind():
    names = [each.name for each in processed_battery(3, 2)]
    for kind in (
        "target masked",
        "both masked",
        "top-k",
        "top-p",
        "min-p",
        "penalties",
        "absent",
        "forbidden",
        "nothing",
    ):
        assert any(kind in name for name in names), kind
    tokens = {
        tuple(node.token for node in draft.path[1:])
        for instance in processed_battery(3, 2)
        for _, draft in drafts(instance)
    }
    assert {(-1, -1), (0, -1), ()} <= tokens
    assert not any(first < 0 <= second for first, second in (each for each in tokens if len(each) == 2))


def test_the_command(capfd):
    where = f"{__file__}:ends_at_missing"
    assert enter(GROUP, ["audit", where, "--processors", "--depth", "1"]) == 1
    assert '"kind": "missing"' in capfd.readouterr().out
    assert enter(GROUP, ["audit", where, "--processors", "--iterations", "2"]) == 2
    with pytest.raises(BadInput):
        audit.examine(by_token, processors=True, statistical=True)
