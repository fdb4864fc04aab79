"""The verdict on foreign functions: good, biased by little, and misbehaved ones."""

import io
import random
import signal
import threading
import time
from contextlib import redirect_stdout

import numpy as np
import pytest
from flint import fmpq

import draftproof
from draftproof.simulators import audit
from draftproof.simulators.audit.battery import battery
from draftproof.simulators.audit.sandbox import STARTERS
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.support import limits
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from tests.mutants import functions, objects
from tests.mutants.controls import block_function
from tests.mutants.functions import block_by_products
from tests.problems import TOY
from tests.simulators.audit import foreign


@pytest.mark.parametrize(
    "function",
    [
        foreign.good,
        foreign.good_with_floats,
        foreign.good_with_python_random,
        foreign.good_with_numpy_globals,
    ],
    ids=lambda f: f.__name__,
)
@pytest.mark.sampled(2)
def test_a_good_one_is_lossless(function):
    report = audit.examine(function, vocab=3, depth=2)
    assert report.lossless, report
    assert not report.findings
    assert float(report.total_variation) < 1e-15


def test_a_witness_is_small_and_named():
    with pytest.raises(AssertionError) as raised:
        audit.assert_lossless(block_by_products)
    report = audit.examine(block_by_products)
    assert report.instance.vocab == 2
    assert report.wrong is not None
    assert "come out first with probability" in str(raised.value)
    assert report.case.expected_accepted > report.case.optimum
    assert "more than any lossless verifier accepts" in str(raised.value)


@pytest.mark.parametrize(
    "function",
    [
        functions.block_by_products,
        functions.residual_from_the_target,
        functions.one_coin_for_all,
        functions.target_row_late,
        foreign.good_with_python_random,
    ],
    ids=lambda f: f.__name__,
)
def test_the_call_beside_a_witness_runs_wrong_again(function):
    report = audit.examine(function, vocab=2, depth=2, edges=False)
    if report.lossless:
        assert report.run is None
        return
    run = report.run
    assert run.call in str(report)
    assert report.to_dict()["replay"]["call"] == run.call
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(run.call, {})  # as pasted
    assert printed.getvalue() == f"{run.emitted}\n"
    with pytest.raises(BadInput, match="never drafts '7'"):
        draftproof.replay(function, report.instance, "7")


def test_the_coins_of_a_replay_decide():
    run = audit.examine(functions.residual_from_the_target, vocab=2, depth=1, edges=False).run
    assert (run.drafted, run.emitted) == ("0", (0,))
    again = [
        draftproof.replay(functions.residual_from_the_target, run.instance, "0", [coin], [1])
        for coin in (0.1, *run.coins)
    ]
    assert again == [(0, 1), (1,)]


def test_strict_says_what_failed():
    with pytest.raises(AssertionError) as raised:
        audit.assert_lossless(functions.accepts_at_zero, vocab=2, depth=1, strict=True)
    first, second, *_ = str(raised.value).splitlines()
    assert first.startswith("strict: findings fail too, and accepts_at_zero has 1 (emits a token of")
    assert second == "accepts_at_zero (numpy function): lossless"


@pytest.mark.slow
def test_accepted_tokens_against_the_optimum():
    report = audit.examine(block_function, vocab=2)
    assert abs(float(report.case.expected_accepted - report.case.optimum)) < 1e-14
    good = audit.examine(foreign.good, vocab=2).case
    assert good.expected_accepted <= good.optimum + fmpq(1, 10**12)


@pytest.mark.parametrize(
    ("function", "kind"), foreign.MISBEHAVED.items(), ids=lambda x: getattr(x, "__name__", "")
)
@pytest.mark.sampled(6)
def test_misbehaviour_is_a_finding(function, kind):
    report = audit.examine(function, vocab=2, depth=1)
    assert report.lossless is False
    assert kind in {finding.kind for finding in report.findings}
    assert report.wrong is None
    assert all(str(finding).isprintable() for finding in report.findings)


@pytest.mark.parametrize(
    ("function", "kind"), [(foreign.mutates, "changes its inputs"), (foreign.prints, "prints")]
)
def test_bad_manners_do_not_change_the_verdict(function, kind, capfd):
    report = audit.examine(function, vocab=2, depth=1)
    assert report.lossless
    assert [finding.kind for finding in report.findings] == [kind]
    assert capfd.readouterr() == ("", "")


def test_a_call_that_hangs_is_stopped():
    report = audit.examine(foreign.hangs, seconds=0.3)
    assert (report.lossless, [finding.kind for finding in report.findings]) == (False, ["hangs"])


@pytest.mark.parametrize(("waits", "verdict"), [(1000, True), (1, False)])
def test_a_call_that_waits_is_no_call_that_hangs(waits, verdict, monkeypatch):
    def waiting(p, q, x, rng):  # as long as a call takes of which other programs take the processor
        if not waited:
            waited.append(time.sleep(0.7))
        return foreign.good(p, q, x, rng)

    waited = []
    monkeypatch.setattr(limits, "WAITS", waits)
    target = audit.Function(waiting)
    assert audit.examine(target, seconds=0.5, vocab=2, depth=1, edges=False).lossless is verdict


def test_the_process_stays_sane():
    def now():
        starters = [getattr(*each) for some in STARTERS.values() for each in some if hasattr(*each)]
        return random.random, np.random.rand, np.random.default_rng, *starters

    before, threads = now(), {*threading.enumerate()}
    handler = signal.getsignal(signal.SIGALRM)
    for function in (foreign.good_with_python_random, foreign.starts_threads, foreign.raises, foreign.exits):
        audit.examine(function, vocab=2, depth=1)
    assert before == now()
    assert signal.getsignal(signal.SIGALRM) == handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert "float" not in vars(foreign)
    assert not any(each.name.startswith("Thread") for each in {*threading.enumerate()} - threads)


@pytest.mark.parametrize("runs", [0, 200])
def test_what_cannot_be_enumerated_is_not_decided(runs):
    report = audit.examine(foreign.good_but_hashed, vocab=2, depth=1, runs=runs)
    assert (report.lossless, report.status) == (None, 3), report
    assert report.undecided
    assert (report.to_dict()["total_variation"] is None) == (runs == 0)
    with pytest.raises(AssertionError, match="cannot be enumerated"):
        audit.assert_lossless(foreign.good_but_hashed, vocab=2, depth=1, runs=runs)


@pytest.mark.parametrize("function", [foreign.unseen_coins, foreign.hashes_a_coin, foreign.never_ends])
def test_what_cannot_be_enumerated_is_tested_and_labelled(function):
    report = audit.examine(function, vocab=2, depth=1)
    assert (report.lossless, report.status) == (False, 1), report
    assert report.undecided
    assert "NOT lossless, statistical" in str(report)
    answer = report.to_dict()
    assert answer["adapter"].endswith(", statistical")
    assert 0 < answer["error_bound"] <= 1
    assert 0 <= answer["total_variation"] <= 1
    assert answer["witness"]["got"] > answer["witness"]["want"]
    assert answer["expected_accepted"] is answer["stateless_optimum"] is None


@pytest.mark.slow
def test_several_rounds_with_three_tokens():
    instance = scenario("reversed", Chain(2), 3)
    options = {"instances": [instance], "iterations": 2, "smallest": False, "edges": False}
    assert audit.examine(objects.keyed_by_position, **options).lossless is False
    assert audit.examine(foreign.good, **options).lossless


def test_what_is_too_large_is_said_and_the_rest_decided():
    large = scenario("toy", Chain(3), 4)
    report = audit.examine(foreign.good, instances=[TOY, large], iterations=3, edges=False)
    assert report.lossless
    assert report.instances == 1
    assert "would take about" in report.too_large
    assert report.too_large in str(report)
    alone = audit.examine(foreign.good, instances=[large], iterations=3, runs=0, edges=False)
    assert (alone.lossless, alone.status) == (None, 3)


def test_a_narrower_type_is_named():
    def in_float32(p, q, x, rng):
        return foreign.good(p.astype(np.float32), q.astype(np.float32), x, rng)

    assert audit.examine(in_float32, vocab=2).lossless is False
    assert audit.examine(in_float32, vocab=2, dtype="float32").lossless


def test_explicit_coins():
    def given_coins(p, q, x, accept, last):
        i = next((i for i, t in enumerate(x) if not accept[i] < p[i, t] / q[i, t]), len(x))
        rest = np.maximum(p[i] - q[i], 0.0) if i < len(x) else p[i]
        edges = np.cumsum(rest / rest.sum())
        return [*x[:i], int(np.searchsorted(edges[:-1], last[0], side="right"))]

    report = audit.examine(lambda p, q, x, rng: given_coins(p, q, x, rng.random(len(x)), rng.random(1)))
    assert report.lossless, report
    assert "bisection" not in report.adapter


def test_coins_that_must_be_plain_numbers_are_read_by_bisection():
    def plain(p, q, x, rng):
        value = np.asarray(rng.random(1), dtype=np.float64).astype(float)
        return [int(np.searchsorted(np.cumsum(p[0])[:-1], np.float64(value[0])))]

    report = audit.examine(plain, instances=list(battery(3, 1))[24:30], edges=False)
    assert report.lossless, report
    assert "coins by bisection" in report.to_dict()["adapter"]


@pytest.mark.parametrize("share", [0, 1])
def test_a_few_instances_by_bisection_decide_nothing(monkeypatch, share):
    def late(p, q, x, rng):  # wrong, if at all, on rows that come later
        value = float(np.asarray(rng.random(1), dtype=np.float64).astype(float)[0])
        row = q[0] if share and len(p[0]) == 3 else p[0]
        return [int(np.searchsorted(np.cumsum(row)[:-1], value))]

    monkeypatch.setattr("draftproof.simulators.audit.judge.examine.BISECTED_SECONDS", 0.0)
    report = audit.examine(late, edges=False, runs=0)
    assert report.lossless is None, report
    assert "read by bisection: 1 in" in report.undecided


def test_bad_input():
    for wrong in (3, lambda p: p, lambda p, q, x, strange, stranger: [0]):
        with pytest.raises(BadInput):
            audit.examine(wrong)
    with pytest.raises(BadInput):
        list(battery(1, 1))
    with pytest.raises(BadInput):
        audit.examine(foreign.good, dtype="float8")


def test_a_class_that_cannot_be_made_is_bad_input():
    class needs:
        def __init__(self, size):
            pass

        def __call__(self, p, q, x, rng):
            return [0]

    class raises:
        def __init__(self):
            raise KeyError("no weights")

        def __call__(self, p, q, x, rng):
            return [0]

    with pytest.raises(BadInput, match=r"not audited: .*missing 1 required positional argument"):
        audit.examine(needs)
    with pytest.raises(BadInput, match="no weights"):
        audit.examine(raises, vocab=2, depth=1)


def test_parameters_go_by_position_or_by_name():
    def by_name(p, q, x, *, rng):
        return foreign.good(p, q, x, rng)

    def by_another_name(p, q, x, generator):
        return foreign.good(p, q, x, generator)

    for verify in (by_name, by_another_name):
        assert audit.examine(verify, vocab=2, depth=1).lossless


def test_the_json_has_the_keys_of_the_contract():
    keys = {
        "target",
        "adapter",
        "lossless",
        "total_variation",
        "error_bound",
        "expected_accepted",
        "stateless_optimum",
        "witness",
    }
    for function in (foreign.good, block_by_products, foreign.never_ends):
        answer = audit.examine(function, vocab=2, depth=1 if function is foreign.never_ends else 2).to_dict()
        sampled = function is foreign.never_ends  # it has too many runs
        wrong = {"replay"} if answer["witness"] and not sampled else set()
        assert answer.keys() - {"not_shown"} == keys | wrong
    assert audit.examine(block_by_products, vocab=2).to_dict()["witness"].keys() == {"prefix", "got", "want"}
