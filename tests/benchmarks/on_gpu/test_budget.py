"""The limits of the commands fit a call; what is too much is named before anything runs."""

import json
import re
import time

import pytest

from benchmarks.on_gpu.budget import CALL, PROBE, RESERVE, carried_out, forecast, granted
from benchmarks.on_gpu.runs import GRACE, Results, Run
from benchmarks.on_gpu.stages import STAGES, parts

RATE, START = 150, 15
"""Tokens a second that decoding is trusted to make, and seconds until it begins."""


def runs(*limits, least=10.0):
    return [Run("verify", str(number), ["echo", "{}"], limit, least) for number, limit in enumerate(limits)]


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("call", [45.0, 100.0, 300.0, 555.0, CALL])
def test_a_call_never_grants_more_than_it_has(small, call):
    for part in parts(small):
        seconds = granted(part, call)
        assert sum(seconds) + RESERVE <= call
        assert all(
            not each or run.least <= each <= run.limit for run, each in zip(part, seconds, strict=True)
        )


def test_with_the_whole_budget_nothing_waits_for_time():
    assert [forecast(part, CALL) for part in parts(small=False)] == [[], [], []]


def test_kernels_come_before_verify_and_every_stage_has_its_place():
    every = [run.stage for part in parts(small=False) for run in part]
    assert tuple(dict.fromkeys(every)) == STAGES
    assert every.index("kernels") < every.index("verify")


def test_the_last_is_shortened_then_dropped_and_named():
    three = runs(100, 100, 100)
    assert granted(three, RESERVE + 250) == [100, 100, 50]
    assert granted(three, RESERVE + 205) == [100, 100, 0]
    assert forecast(three, RESERVE + 250) == ["verify: 2: 50 s instead of 100"]
    assert forecast(three, RESERVE + 205) == ["verify: 2: dropped unless others end early (100 s)"]


def test_time_that_is_left_goes_to_the_next(tmp_path):
    class Times(Results):
        def add(self, run, seconds):
            self.stages[run.name] = seconds()

    made, limits = Times(tmp_path, {}, True), runs(50, 60, 70)
    carried_out(limits, RESERVE + 115, made, time.monotonic(), lambda: None)
    # Nothing took time, so that each has what no later one was granted, and the time for probing.
    assert [round(made.stages[run.name]) for run in limits] == [55 + PROBE, 115 + PROBE, 70]
    late = time.monotonic() - 100
    carried_out(limits, RESERVE + 115, made, late, lambda: None)
    assert [round(made.stages[run.name]) for run in limits] == [-45 + PROBE, 15 + PROBE, 15 + PROBE]


def test_a_call_with_commands_that_never_end_ends_in_time(tmp_path):
    deaf = ["sh", "-c", "trap '' INT; while :; do sleep 0.05; done"]
    several = [Run("verify", str(number), deaf, 1.0, 0.5) for number in range(3)]
    started = time.monotonic()
    made = Results(tmp_path, {}, True, grace=0.5)
    carried_out(several, RESERVE + 2 - PROBE, made, started, lambda: None)
    assert time.monotonic() - started < 2 + GRACE
    kept = json.loads((tmp_path / "results.json").read_text())["verify"]["runs"]
    assert [run["stopped"] for run in kept][:1] == [True]
    assert kept[-1].get("why", "").startswith("no time")


def test_benchmarks_of_decoding_name_verifiers_and_their_tokens_fit_their_time():
    for part in parts(small=False):
        for run in (run for run in part if run.stage == "bench"):
            options = re.findall(r"--([\w-]+) (\S+)", run.shown)
            counts = {name: [value for key, value in options if key == name] for name, _ in options}
            (texts,), (length,), (repeats,) = (counts[key] for key in ("count", "max-new-tokens", "repeats"))
            assert counts["verifier"]
            chains = [
                each for each in counts["draft"] if each.startswith("chain") and "drafter" not in counts
            ]
            ways = len(counts["temperature"]) * (2 + len(chains) + len(counts["verifier"]))
            tokens = ways * int(length) * (int(texts) * int(repeats) + 1)  # and one text to warm up
            assert tokens <= RATE * (run.limit - START), run.name
