"""Acceptance as engines report it, beside the prediction from rows."""

import json
from itertools import product

import numpy as np
import pytest
from flint import fmpq

from draftproof.simulators.endpoint.acceptance import (
    BETS,
    Acceptance,
    Served,
    expected,
    log_moment,
    response,
    said,
)
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.verifiers import named

GAMMA = 4


@pytest.mark.parametrize("vocab", [2, 3])
def test_given_the_text_every_drafted_place_is_a_coin(vocab):
    """The premise: a block's mass is the target's, times a at accepted places and 1 - a at the refused."""
    for instance in Randoms(Chain(2), vocab, 10):
        for block, mass in emission(instance, named("token")).law().items():
            want = fmpq(1)
            for i, x in enumerate(block):
                p, q = instance.target[block[:i]][x], instance.proposal[block[:i]][x] if i < 2 else 0
                want *= p if i == 2 else min(p, q) if i < len(block) - 1 else p - min(p, q)
            assert mass == want


def rates_of(rng, n):
    """Rates as of two models: many tokens are accepted for certain."""
    rates = rng.beta(0.9, 0.5, n)
    rates[rng.random(n) < 0.45] = 1
    return rates


def steps_of(rng, rates, gamma=GAMMA, loss=0.0):
    """The accepted tokens of each step, also beyond the end of the text."""
    accepted, at = [], 0
    while at < len(rates):
        coins = (at + j >= len(rates) or rng.random() < rates[at + j] * (1 - loss) for j in range(gamma))
        accepted.append(next((j for j, coin in enumerate(coins) if not coin), gamma))
        at += accepted[-1] + 1
    return accepted


def run(seed, loss=0.0, steps=5_000, detailed=False, told=GAMMA):
    """A test of texts of 128 tokens, until it rejects or there are so many steps."""
    rng, test = np.random.default_rng(seed), Acceptance(1e-3)
    while test.steps < steps and not test.wealth.rejected:
        rates = rates_of(rng, 127)
        each = steps_of(rng, rates, GAMMA, loss)
        counts = np.bincount(each, minlength=GAMMA + 1).tolist()
        test.add(Served(rates, told, len(each), counts, each if detailed else ()))
    return test


@pytest.mark.parametrize(("n", "gamma"), [(1, 1), (4, 1), (5, 2), (4, 3), (3, 5)])
def test_the_law_of_steps_is_that_of_all_coins(n, gamma):
    rates = np.random.default_rng(n + gamma).random(n)
    moment, steps, places = 0.0, 0.0, np.zeros((2, gamma))
    for coins in product((True, False), repeat=n):
        mass = np.prod(np.where(coins, rates, 1 - rates))
        at = count = 0
        while at < n:
            count += 1
            for j in range(gamma):
                if at + j >= n:
                    break
                places[:, j] += mass * np.array([1, coins[at + j]])
                if not coins[at + j]:
                    break
            else:
                j = gamma
            at += j + 1
        moment, steps = moment + mass * np.exp(BETS * count), steps + mass * count
    found, seen = expected(rates, gamma)
    assert np.allclose(log_moment(np.tile(rates[:, None], len(BETS)), gamma), np.log(moment), atol=1e-12)
    assert np.isclose(found, steps, atol=1e-12)
    assert np.allclose(seen, places, atol=1e-12)


@pytest.mark.parametrize("detailed", [False, True])
def test_a_right_server_passes_and_says_what_would_have_shown(detailed):
    tests = [run(seed, detailed=detailed, steps=1_000) for seed in range(10)]
    assert not any(each.wealth.rejected for each in tests)
    assert all(each.detectable <= 0.05 for each in tests)
    answer = tests[0].answer(0.05)
    served, predicted = answer["positions"]["served"], answer["positions"]["predicted"]
    assert np.allclose(served, predicted, atol=0.06)
    assert (answer["verdict"], tests[0].answer(0.001)["verdict"]) == ("nothing found", "undecided")


@pytest.mark.parametrize("detailed", [False, True])
def test_two_percent_fewer_accepted_tokens_are_found(detailed):
    tests = [run(seed, 0.02, detailed=detailed) for seed in range(4)]
    assert all(each.wealth.rejected for each in tests)
    assert run(0, -0.1, detailed=True).wealth.rejected  # and more than the rows allow


def test_another_number_of_drafted_tokens_is_found():
    assert run(0, told=GAMMA + 1).wealth.rejected
    with pytest.raises(BadInput, match="do not come from"):
        run(0, told=1)


ACCEPT = [1, 0.5, 0.25, 1, 0.5]
RECORDS = {
    "vLLM": {
        "metrics": {
            "speculative_decoding": {
                "num_spec_tokens": 2,
                "num_spec_steps": 3,
                "num_draft_tokens": 6,
                "acceptance_histogram": [2, 0, 1],
                "per_step_accepted": [2, 0, 0],
            }
        }
    },
    "SGLang": {
        "meta_info": {
            "spec_verify_ct": 3,
            "spec_num_proposed_drafts": 6,
            "spec_correct_drafts_histogram": [2, 0, 1],
        }
    },
    "AIPerf": {
        "metrics": {
            "spec_decode_acceptance": {
                "num_spec_steps": 3,
                "num_spec_tokens": None,
                "acceptance_histogram": {"0": 2, "2": 1},
            }
        }
    },
}


@pytest.mark.parametrize("engine", RECORDS)
def test_records_of_engines_are_read(engine):
    found = response({"accept": ACCEPT, **RECORDS[engine]})
    assert (found.gamma, found.steps, list(found.counts)) == (2, 3, [2, 0, 1])
    assert found.rates.tolist() == ACCEPT
    Acceptance(0.001).add(found)


def test_llama_cpp_reports_two_numbers():
    found = response({"accept": ACCEPT, "timings": {"draft_n": 6, "draft_n_accepted": 2}}, gamma=2)
    assert (found.gamma, found.steps, found.counts) == (2, 3, [])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], 'no "accept"'),
        ({"accept": [2]}, 'no "accept"'),
        ({"accept": ACCEPT}, "no record of speculative decoding"),
        ({"accept": ACCEPT, "metrics": None}, "no record of speculative decoding"),
        (
            {"accept": ACCEPT, "meta_info": {"spec_verify_ct": 3, "spec_correct_drafts_histogram": [1, 1]}},
            "counts of steps",
        ),
        (
            {
                "accept": ACCEPT,
                "speculative_decoding": {"num_spec_steps": 2, "num_spec_tokens": 2, "per_step_accepted": [2]},
            },
            "counts of steps",
        ),
        (
            {
                "accept": ACCEPT,
                "speculative_decoding": {
                    "num_spec_steps": 2,
                    "num_spec_tokens": 2,
                    "per_step_accepted": [2, 3],
                },
            },
            "counts of steps",
        ),
        ({"accept": ACCEPT, "timings": {"draft_n_accepted": 2}}, "give gamma"),
        (
            {"accept": ACCEPT, "meta_info": {"spec_verify_ct": 3, "spec_correct_drafts_histogram": "x"}},
            "counts",
        ),
        (
            {"accept": ACCEPT, "meta_info": {"spec_verify_ct": 3, "spec_correct_drafts_histogram": [-1]}},
            "counts",
        ),
        (
            {
                "accept": ACCEPT,
                "speculative_decoding": {"num_spec_steps": 9, "num_spec_tokens": 4, "num_draft_tokens": 9},
            },
            "9 steps drafted 9 tokens",
        ),
    ],
)
def test_other_responses_are_refused_in_a_line(given, said):
    with pytest.raises(BadInput, match=said):
        response(given)


def test_the_command_says_what_was_found(command, tmp_path):
    rng, path = np.random.default_rng(5), tmp_path / "served.jsonl"

    def written(loss):
        lines = []
        for _ in range(40):
            rates = rates_of(rng, 127)
            each = steps_of(rng, rates, GAMMA, loss)
            record = {"num_spec_steps": len(each), "num_spec_tokens": GAMMA, "per_step_accepted": each}
            lines.append(json.dumps({"accept": rates.tolist(), "speculative_decoding": record}))
        path.write_text("\n".join(lines), encoding="utf-8")

    written(0.0)
    status, out, err = command("endpoint", "--acceptance", path)
    assert (status, err) == (0, "")
    assert out.startswith("acceptance: nothing found; an acceptance lower by ")
    written(0.1)
    status, out, _ = command("endpoint", "--acceptance", path, "--json")
    assert (status, json.loads(out)["verdict"]) == (1, "rejected")
    path.write_text("", encoding="utf-8")
    assert command("endpoint", "--acceptance", path)[0] == 3
    path.write_text("{", encoding="utf-8")
    status, _, err = command("endpoint", "--acceptance", path)
    assert (status, err.count("\n")) == (2, 1)
    assert f"{path}, line 1: not JSON" in err
    assert command("endpoint", "http://127.0.0.1:9", "--acceptance", path)[0] == 2


@pytest.mark.parametrize("keys", [{"0x": 1}, {"a": 1}, {"-1": 1}, {"0": "one"}])
def test_odd_histograms_are_refused_or_contradict_the_steps(keys):
    record = {"num_spec_steps": 1, "num_spec_tokens": 2, "acceptance_histogram": keys}
    with pytest.raises(BadInput):
        response({"accept": [1.0], "spec_decode_acceptance": record})


def test_too_many_drafted_tokens_are_refused():
    with pytest.raises(BadInput, match="1 to 512"):
        response({"accept": [1.0], "speculative_decoding": {"num_spec_steps": 1, "num_spec_tokens": 10**9}})


def test_texts_of_one_token_say_that_nothing_was_judged():
    test = Acceptance(1e-3)
    test.add(Served(np.array([]), 2, 0))
    lines = said(test.answer(0.05))
    assert "undecided; no loss would have shown" in lines
    assert "position" not in lines
