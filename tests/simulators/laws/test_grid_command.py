"""`check --grid`: whole lattices of rows in exact lanes, and what goes to rationals."""

import gc
import json
from dataclasses import replace

import pytest

from draftproof.simulators.instances.grids import Grid
from draftproof.simulators.laws import check
from draftproof.simulators.laws.exact_lanes.lanes import decide
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.verifier import CHAIN, TREES, Verifier
from draftproof.theory.verifiers import named


def answer(command, *options):
    status, out, err = command("check", "--grid", *options, "--json", "--jobs", 1)
    return status, json.loads(out) if out else err


def test_a_grid_has_the_verdicts_of_rationals(command):
    grid = Grid(Chain(2), 2, 2)
    rules = "block", "hsd-released"
    status, found = answer(
        command, "V=2,depth=2,denominator=2", *[x for r in rules for x in ("--verifier", r)]
    )
    assert status == 0
    exact = {rule: [judge(instance, named(rule)) for instance in grid] for rule in rules}
    for summary in found["summary"]:
        verdicts = exact[summary["verifier"]]
        assert summary["instances"] == len(grid) == 729
        assert summary["lossless"] == sum(each.lossless for each in verdicts)
        assert summary["by_rationals"] == sum(not each.lossless for each in verdicts)
        assert summary["total_variation"] == str(max(each.total_variation for each in verdicts))


def test_every_rule_that_goes_in_step_is_run_on_the_draft(command):
    status, found = answer(command, "V=2,draft=paths:2x1,denominator=3")
    assert status == 0
    assert {"rrs", "traversal", "nss"} <= {each["verifier"] for each in found["summary"]}
    assert all(each["instances"] == 16 for each in found["summary"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["3"], "is not written like V=2,depth=2,denominator=12"),
        (["V=2,depth=2,denominator=0"], "of one token or more"),
        (["V=2,depth=2,denominator=2,more=1"], "is not written like"),
        (["V=2,draft=top-k:2x1,denominator=2"], "chains, trees or paths"),
        (["V=2,depth=1,denominator=2", "--verifier", "optimal"], "orders tokens"),
        (["V=2,draft=tree:2x1,denominator=2", "--verifier", "token"], "made for chain"),
        (["V=2,depth=1,denominator=2", "--force"], "goes with --verifier, --jobs and --json"),
        (["V=9,depth=3,denominator=9"], "more than can be numbered"),
    ],
)
def test_what_is_no_grid_is_one_line(command, options, said):
    status, err = answer(command, *options)
    assert status == 2
    assert said in err


def coin_twice_p(oracle, draft, target):
    """Keeps nothing, and the row is the target's whatever the coin says, which may be above 1."""
    oracle.accept(2 * target[()][0])
    return draft.root, target[()]


def test_lanes_in_which_a_coin_is_none_go_to_rationals():
    rule = Verifier("coin", "test", CHAIN, True, coin_twice_p)
    grid = Grid(Chain(1), 2, 4)
    found = decide(grid.lanes(0, len(grid)), rule)
    above = [2 * instance.target[()][0] > 1 for instance in grid]
    assert found.undecided.tolist() == above
    assert found.lossless[~found.undecided].all()


def test_a_rule_of_a_user_is_judged_by_rationals_alone(monkeypatch):
    monkeypatch.setattr(check, "decide", None)
    rule = Verifier("mine", "test", CHAIN, True, lambda oracle, draft, target: (draft.root, target[()]))
    [piece] = check.pieces([Grid(Chain(1), 2, 2)], [(rule, None)], lanes=True)
    [(_, many)] = check.judged(piece)
    assert (many.lossless, len(many.others)) == (0, 9)


WITHOUT = Grid(Tree((((), ()),)), 2, 2)
LOSSY = replace(named("hsd-released"), drafts=TREES)  # of the first path alone
"""A grid whose lanes part where a row has one token, and a lossy rule of the project."""


@pytest.mark.parametrize(("rule", "lossless"), [(named("rrs"), True), (LOSSY, False)])
def test_a_small_grid_whose_lanes_part_is_judged_by_rationals_with_the_same_result(
    rule, lossless, monkeypatch
):
    [piece] = check.pieces([WITHOUT], [(rule, None)], lanes=1)
    in_lanes = check._in_lanes(piece, rule)
    if lossless:
        monkeypatch.setattr(check, "decide", None)
    assert check.judged(piece) == [(0, in_lanes)]
    assert (in_lanes.lossless == len(WITHOUT)) is lossless


def test_of_a_user_s_rule_on_such_a_grid_every_instance_is_judged():
    rule = replace(named("rrs"), verify=lambda *given: named("rrs").verify(*given))
    grid = Grid(WITHOUT.draft, 2, 1)
    [piece] = check.pieces([grid], [(rule, None)], lanes=1)
    [(_, many)] = check.judged(piece)
    assert len(many.others) == len(grid) > len(grid.distinct())


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_after_a_piece_if_it_was_before(collects):
    def no_rows(oracle, draft, target):
        assert not gc.isenabled()
        raise BadInput("no rows")

    [piece] = check.pieces([Grid(Chain(1), 2, 1)], [(replace(named("block"), verify=no_rows), None)])
    before = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        with pytest.raises(BadInput, match="no rows"):
            check.judged(piece)
        assert gc.isenabled() is collects
    finally:
        (gc.enable if before else gc.disable)()
