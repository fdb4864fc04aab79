"""What a run on one server and one on two share: the plan, and an end that keeps what was measured."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from draftproof.simulators.endpoint.client import Budget, Client, Refused, Spent, Unanswered
from draftproof.simulators.endpoint.laws import PLAIN, Setting
from draftproof.simulators.endpoint.report import Report, Result
from draftproof.simulators.endpoint.server import Server
from draftproof.simulators.support.files import text_of
from draftproof.theory.errors import BadInput

PROMPTS = "import os\n\n\nclass ", "The first thing that"
"""Prompts whose next tokens are uncertain."""

OF_SETTING = 1 / 40
"""Share of the tokens that are drawn with each setting."""

MOST_PROMPTS = 64

PROMPTED = 2
"""Prompts of the checks without chance."""

Progress = Callable[[int, int, str], None]
"""(tokens so far, tokens in all, what is being done)."""


@dataclass(frozen=True)
class Plan:
    """What is asked: at most `tokens` in all, within `seconds`; texts of `length` tokens, `choices` texts a
    request. `error` is the probability that any test rejects a right server; `detect` the total variation of
    the law of a token that must have shown if nothing is found.
    """

    prompts: Sequence[str] = PROMPTS
    tokens: int = 25_000
    length: int = 4
    choices: int = 32
    seconds: float = inf
    error: float = 1e-3
    detect: float = 0.05
    setting: Setting = PLAIN
    settings: bool = True


class Session:
    """A run that judges servers."""

    def __init__(self, clients: Sequence[Client], plan: Plan, progress: Progress):
        self.clients, self.plan, self.progress = clients, plan, progress
        self.report = Report(clients[0].name, "", plan.error, plan.detect)
        self.budget = Budget(plan.tokens, plan.seconds)
        for each in clients:
            each.budget = self.budget
        self.servers: list[Server] = []

    def go(self, models: Sequence[str | None] | None = None, chat: bool = False) -> Report:
        """The report; it has what was measured also if a server stops answering, or after Ctrl-C. Raises
        BadInput if a server cannot be asked at all. `models` are their names, None the first one listed.
        """
        plan, report = self.plan, self.report
        try:
            named = zip(self.clients, models or [None] * len(self.clients), strict=True)
            self.servers = [Server(*each, chat, plan.choices) for each in named]
        except (Unanswered, Refused, BadInput) as error:
            for each in self.clients:
                each.close()
            raise BadInput(str(error)) from None
        report.model = self.clients[0].shown(self.servers[0].model)
        try:
            self.judge()
        except Spent:
            pass  # the budget of time is as good an end as that of tokens
        except (Unanswered, Refused) as error:
            report.stopped = str(error)
        except KeyboardInterrupt:
            report.stopped = "interrupted"
        report.results, report.detectable = self.results(), self.detectable
        for each in self.clients:
            each.close()
            report.requests += each.requests
            report.retried += each.retried
        report.tokens, report.seconds = self.tokens, round(time.monotonic() - self.budget.start, 3)
        report.prompt_tokens = sum(each.prompt_tokens for each in self.servers)
        return report

    @property
    def tokens(self) -> int:
        """The number of tokens that were asked for."""
        return self.budget.asked

    def judge(self) -> None:
        """Asks the servers, and bets."""
        raise NotImplementedError

    def results(self) -> list[Result]:
        """What the tests say."""
        raise NotImplementedError

    @property
    def detectable(self) -> float:
        """The total variation of the law of a token that would have shown."""
        raise NotImplementedError


def prompts(path: Path) -> list[str]:
    """The first prompts of a file, one a line; a line that is a JSON string is read as one."""
    found = []
    for line in text_of(path).splitlines():
        try:
            given = json.loads(line)
        except (ValueError, RecursionError):
            given = line
        found += [given if isinstance(given, str) and given else line] if line.strip() else []
    if not found:
        raise BadInput(f"{path}: contains no prompt")
    return found[:MOST_PROMPTS]
