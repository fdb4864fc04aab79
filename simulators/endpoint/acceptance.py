"""Acceptance as a server reports it, beside what both models' rows say of the texts that it served.

Given a text that token verification emitted, a drafted place x was filled by an accepted token with
probability a = min(1, q(x) / p(x)), each place by itself: of its mass p(x), min(p, q)(x) comes by acceptance
(leviathan2023fast, algorithm 1). A step ends at the first place that was refused, or one token after gamma
accepted ones. So the law of the number of steps of a text is known, whatever an engine calls its rate.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from draftproof.simulators.support.anytime import Wealth
from draftproof.simulators.support.files import json_lines
from draftproof.theory.errors import BadInput, located

BETS = np.concatenate([sign * 2.0 ** np.arange(-5, 2) for sign in (1, -1)])
"""Exponents of the bets exp(bet K) on the number K of steps: on more than expected, and on fewer."""

LOSSES = np.array([0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0])
"""Fractions of the accepted tokens; the smallest one is named whose loss would have shown."""

MOST = 512
"""Drafted tokens of a step."""

RECORDS = "speculative_decoding", "spec_decode_acceptance", "meta_info", "timings"
"""Where a response has its record: vLLM within "metrics"; AIPerf, SGLang and llama.cpp."""


@dataclass(frozen=True)
class Served:
    """One response. `rates` [n]: the probability a of each token after the first, which no step emits;
    `gamma`: drafted tokens a step; `steps` that verified them; `counts` [gamma + 1]: steps by the number of
    accepted tokens, where known; `each`: the accepted tokens of the steps in order, where known.
    """

    rates: np.ndarray
    gamma: int
    steps: int
    counts: Sequence[int] = ()
    each: Sequence[int] = ()


def served(path: Path, gamma: int | None = None) -> Iterator[Served]:
    """The responses of a file of JSON lines that `draftproof gpu record --served` has written. `gamma` is for
    engines that do not report it. BadInput names the line and what is wrong.
    """
    for where, given in json_lines(path):
        with located(where):
            yield response(given, gamma)


def response(given: Any, gamma: int | None = None) -> Served:
    """One response with its "accept", the rates.

    >>> vllm = {"num_spec_steps": 2, "num_spec_tokens": 2, "acceptance_histogram": [1, 0, 1]}
    >>> response({"accept": [0.5, 1, 1, 0.25], "metrics": {"speculative_decoding": vllm}}).counts
    [1, 0, 1]
    """
    rates = given.get("accept") if isinstance(given, dict) else None
    if not isinstance(rates, list) or not all(isinstance(a, int | float) and 0 <= a <= 1 for a in rates):
        raise BadInput('no "accept" with probabilities: `draftproof gpu record --served` writes it')
    places = [each for each in (given, given.get("metrics")) if isinstance(each, dict)]
    records = (each.get(name) for each in places for name in RECORDS)
    record: dict[str, Any] = next((each for each in records if each and isinstance(each, dict)), {})
    steps = record.get("num_spec_steps", record.get("spec_verify_ct"))
    if isinstance(record.get("draft_n_accepted"), int):  # llama.cpp: every step adds one token to these
        steps = len(rates) - record["draft_n_accepted"]
    if not isinstance(steps, int):
        raise BadInput("no record of speculative decoding: of vLLM, SGLang, llama.cpp or AIPerf")
    counts = _counts(record.get("acceptance_histogram", record.get("spec_correct_drafts_histogram")))
    each = _counts(record.get("per_step_accepted"))
    gamma = record.get("num_spec_tokens") or gamma or len(counts) - 1
    if not isinstance(gamma, int) or not 1 <= gamma <= MOST:
        raise BadInput(f"does not say how many tokens a step drafts, 1 to {MOST}: give gamma in --settings")
    drafted = record.get("num_draft_tokens", record.get("spec_num_proposed_drafts", record.get("draft_n")))
    if isinstance(drafted, int) and not 0 <= gamma * steps - drafted <= gamma * (gamma + 1):
        raise BadInput(f"{steps} steps drafted {drafted} tokens, which is not {gamma} in each but the last")
    if (counts and sum(counts) != steps) or (each and (len(each) != steps or max(each) > gamma)):
        raise BadInput(f"its counts of steps are not those of {steps} steps of {gamma} drafts")
    return Served(np.array(rates, float), gamma, steps, counts, each)


def _counts(numbers: Any) -> list[int]:
    if isinstance(numbers, dict):  # AIPerf leaves out zeros
        if not all(key.isdecimal() and int(key) <= MOST for key in numbers):
            raise BadInput(f"a histogram is of 0 to {MOST} accepted tokens, not {', '.join(numbers)[:40]}")
        numbers = [numbers.get(str(j), 0) for j in range(1 + max(map(int, numbers), default=-1))]
    if not isinstance(numbers or [], list) or not all(isinstance(n, int) and n >= 0 for n in numbers or ()):
        raise BadInput(f"{str(numbers)[:40]} is no list of counts")
    return numbers or []


def lengths(rates: np.ndarray, gamma: int) -> np.ndarray:
    """[n, gamma + 1, ...]: the law of the number of accepted tokens of a step that starts at each place of
    `rates` [n, ...]; what lies beyond the text counts as accepted.
    """
    padded = np.concatenate([rates, np.ones((gamma, *rates.shape[1:]))])
    windows = np.stack([padded[j : j + len(rates)] for j in range(gamma)], 1)
    law = np.concatenate([np.ones_like(windows[:, :1]), windows.cumprod(1)], 1)
    law[:, :-1] *= 1 - windows
    return law


def log_moment(rates: np.ndarray, gamma: int) -> np.ndarray:
    """log E[exp(bet K)] for each of `BETS`, K the number of steps of a text with rates [n, bets], which may
    be others for each bet.

    >>> bool(np.allclose(log_moment(np.full((1, len(BETS)), 0.5), 1), BETS))  # one place is one step
    True
    """
    with np.errstate(divide="ignore"):
        law = np.log(lengths(rates, gamma))
    after = np.zeros((len(rates) + gamma + 1, len(BETS)))  # a step that leaves the text is the last
    for t in reversed(range(len(rates))):
        after[t] = BETS + np.logaddexp.reduce(law[t] + after[t + 1 : t + gamma + 2])
    return after[0]


def expected(rates: np.ndarray, gamma: int) -> tuple[float, np.ndarray]:
    """The expected number of steps of a text with rates [n]; and [2, gamma], of those that reach each drafted
    place, and that accept there.

    >>> steps, places = expected(np.array([0.5, 0.5]), 2)
    >>> steps, places.tolist()
    (1.5, [[1.5, 0.5], [0.75, 0.25]])
    """
    n, law = len(rates), lengths(rates, gamma)
    start = np.zeros(n + gamma + 1)
    start[0] = 1.0
    for t in range(n):
        start[t + 1 : t + gamma + 2] += start[t] * law[t]
    at_least = start[:n, None] * law[:, ::-1].cumsum(1)[:, ::-1]
    inside = np.arange(n)[:, None] + np.arange(gamma) < n
    places = [(inside * at_least[:, first : first + gamma]).sum(0) for first in (0, 1)]
    return float(start[:n].sum()), np.array(places)


class Acceptance:
    """The test, over all responses that were added: an e-process, so that it may be read at any time.

    A rate is known up to `tolerance`, for the rounding of the server's rows; a bet pays as little as rates
    within it allow.
    """

    def __init__(self, error: float, tolerance: float = 1e-3) -> None:
        self.tolerance, self.wealth, self.bets = tolerance, Wealth(error), dict[str, np.ndarray]()
        self.responses = self.steps = self.tokens = 0
        self.gamma, self.served, self.predicted = 0, np.zeros((2, MOST)), np.zeros((2, MOST))
        self.likely, self.spent = np.zeros(len(LOSSES)), np.zeros(len(BETS))

    def add(self, given: Served) -> None:
        """Adds a response. BadInput if its steps cannot have emitted its text."""
        n, gamma, steps = len(given.rates), given.gamma, given.steps
        if not steps <= n <= steps * (gamma + 1):
            raise BadInput(f"{n} tokens after the first do not come from {steps} steps of {gamma} drafts")
        self.responses, self.steps, self.tokens = self.responses + 1, self.steps + steps, self.tokens + n
        low, high = ((given.rates + off).clip(0, 1)[:, None] for off in (-self.tolerance, self.tolerance))
        rates = np.where(BETS > 0, low, high)  # with fewer accepted there are more steps
        moment = log_moment(rates, gamma)
        self._gain("steps", BETS * steps - moment)
        self._coins(low[:, 0], high[:, 0], given)
        # A wealth that is spent evenly on steps, on accepted tokens, and on positions.
        positions = [gained for name, gained in self.bets.items() if name.startswith("position")]
        parts = [self.bets["steps"], self.bets.get("accepted tokens", []), positions]
        means = [np.logaddexp.reduce(part, None) - log(np.size(part)) for part in parts if len(part)]
        self.wealth.to(float(np.logaddexp.reduce(means) - log(len(means))))
        self.spent += moment
        self.likely += [expected(given.rates * (1 - loss), gamma)[0] for loss in LOSSES]
        self.gamma = max(self.gamma, gamma)
        self.predicted[:, :gamma] += expected(given.rates, gamma)[1]
        if given.counts:
            at_least = np.array(given.counts[: MOST + 1], float)[::-1].cumsum()[::-1]
            self.served[:, : len(at_least) - 1] += at_least[:-1], at_least[1:]

    def _coins(self, low: np.ndarray, high: np.ndarray, given: Served) -> None:
        # Every place at which a token was drafted is a coin. Bets are likelihood ratios: of a fraction of the
        # accepted tokens refused instead, and of a fraction of the refused ones accepted.
        start, some = 0, LOSSES[1:-1]
        for accepted in given.each:
            for j, at in enumerate(range(start, min(start + given.gamma, start + accepted + 1, len(low)))):
                if j < accepted:
                    factors = 1 - some, 1 + some * (1 - high[at]) / max(high[at], 1e-300)
                else:
                    factors = 1 + some * low[at] / max(1 - low[at], 1e-300), 1 - some
                for name in ("accepted tokens", f"position {j + 1}"):
                    self._gain(name, np.log(np.concatenate(factors)))
            start += accepted + 1

    def _gain(self, name: str, gained: np.ndarray) -> None:
        self.bets[name] = self.bets.get(name, 0) + gained

    @property
    def detectable(self) -> float:
        """The smallest of `LOSSES` that would have been expected to be rejected by now; 1 if none."""
        growth = (BETS[:, None] * self.likely - self.spent[:, None]).max(0)
        needed = -log(self.wealth.error) + log(3 * len(BETS))
        return next((loss for loss, grown in zip(LOSSES, growth, strict=True) if grown >= needed), 1.0)

    def answer(self, detect: float) -> dict[str, Any]:
        """The JSON document. `positions`: of the steps that reach a drafted token, the share that accepts
        it, served (where it was reported) and predicted.
        """
        served, predicted = (
            [accepted / reached if reached else None for reached, accepted in both.T[: self.gamma].tolist()]
            for both in (self.served, self.predicted)
        )
        rejected = self.wealth.rejected
        undecided = "undecided" if self.detectable > detect else "nothing found"
        return {
            "verdict": "rejected" if rejected else undecided,
            "found": [max(self.bets, key=lambda name: self.bets[name].max())] if rejected else [],
            "responses": self.responses,
            "steps": self.steps,
            "expected_steps": float(self.likely[0]),
            "tokens_per_step": self.tokens / self.steps if self.steps else None,
            "positions": {"served": served, "predicted": predicted},
            "log_e": self.wealth.most,
            "error": self.wealth.error,
            "detectable": self.detectable,
        }


def said(answer: Mapping[str, Any]) -> str:
    """The answer in lines of text."""
    found, shown = answer["found"], f"an acceptance lower by {answer['detectable']:.1%} would have shown"
    shown = shown if answer["detectable"] < 1 else "no loss would have shown"
    lines = [f"acceptance: {answer['verdict']}{': ' + found[0] if found else ''}; {shown}"]
    per = f"{answer['tokens_per_step']:.4f} tokens each; " if answer["tokens_per_step"] else ""
    lines.append(f"{answer['steps']:,} steps, {per}expected were {answer['expected_steps']:,.1f}")
    for place, both in enumerate(zip_longest(*answer["positions"].values()), 1):
        shares = [
            f"{name} {a:.4f}" for name, a in zip(answer["positions"], both, strict=True) if a is not None
        ]
        lines += [", ".join([f"position {place}", *shares])] if shares else []
    if found:
        lines.append(f"log e-value {answer['log_e']:.1f} at error {answer['error']:g}")
    return "\n  ".join(lines)
