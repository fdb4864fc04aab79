"""The whole run on one server: a first look, the checks of settings, then the long test of the law; and what
it shares with the run on two: the plan, and an end that keeps what was measured.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from draftproof.simulators.endpoint import checks
from draftproof.simulators.endpoint.client import Budget, Client, Refused, Spent, Unanswered
from draftproof.simulators.endpoint.laws import PLAIN, Setting
from draftproof.simulators.endpoint.report import Report, Result
from draftproof.simulators.endpoint.server import Place, Sample, Server
from draftproof.simulators.endpoint.stream import NAMES, Stream
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
    """A run that judges servers; `main` is its test of the law, `checked` the results of other tests."""

    main: Any

    def __init__(self, clients: Sequence[Client], plan: Plan, progress: Progress):
        self.clients, self.plan, self.progress = clients, plan, progress
        self.report = Report(clients[0].name, "", plan.error, plan.detect)
        self.budget = Budget(plan.tokens, plan.seconds)
        for each in clients:
            each.budget = self.budget
        self.servers: list[Server] = []
        self.checked: list[Result] = []

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
            report.stopped = str(error).lstrip(": ")
        except KeyboardInterrupt:
            report.stopped = "interrupted"
        report.results, report.detectable = self.results(), self.main.detectable
        for each in self.clients:
            each.close()
            report.requests += each.requests
            report.retried += each.retried
        report.tokens, report.seconds = self.budget.asked, round(time.monotonic() - self.budget.start, 3)
        report.prompt_tokens = sum(each.prompt_tokens for each in self.servers)
        return report

    def judge(self) -> None:
        """Asks the servers, and bets."""
        raise NotImplementedError

    def results(self) -> list[Result]:
        """What the tests say."""
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


FIRST, CHECKED = 1 / 10, 1 / 2
"""Shares of the tokens after which the settings are checked, and after which they must be."""

ALONE = 4
"""Every so many waves of requests, each request is sent when the one before it is answered."""

LENGTHS = 1, 2, 1, 1 / 2, 1
"""Lengths of texts, wave by wave, in lengths of the plan."""

ERRORS = {"law": 1 / 2, "one by one": 1 / 4}
"""Shares of the error; the other tests share the rest."""


def shares(error: float) -> dict[str, float]:
    """The error of each test."""
    others = [*(name for name in NAMES if name not in ERRORS), *checks.SETTINGS]
    return {name: error * share for name, share in ERRORS.items()} | dict.fromkeys(
        others, error * (1 - sum(ERRORS.values())) / len(others)
    )


class Run(Session):
    """A run on one server, which shows log-probabilities."""

    def __init__(self, client: Client, plan: Plan, progress: Progress):
        super().__init__([client], plan, progress)
        self._start()
        self.waves, self.cost = 0, 1  # tokens that a token of a text costs: its row may be asked for, twice
        self.drawn: list[tuple[int, list[Sample], int, bool]] = []
        self.kept = 0  # tokens for asking again for the rows that did not come with their texts

    def _start(self) -> None:
        """The tests, before any text."""
        read = lambda *row: self.servers[0].law(*row)  # noqa: E731
        self.main = self.stream = Stream(self.plan.setting, read, shares(self.plan.error))

    def results(self) -> list[Result]:
        return [] if self.servers[0].listed is None else [*self.stream.results(), *self.checked]

    def judge(self) -> None:
        server, plan = self.servers[0], self.plan
        if server.listed is None:
            self.report.stopped = "the server returns no log-probabilities: compare it with --against URL"
            return
        few = self._draw(server, int(plan.tokens * FIRST))
        if self.stream.rejected:
            return
        self.budget.tokens = int(plan.tokens * CHECKED)
        texts = plan.prompts
        todo: list[Any] = [("log-probabilities", checks.log_probabilities, server, texts, few)]
        if plan.settings:
            tokens, errors = int(plan.tokens * OF_SETTING), shares(plan.error)
            todo += [(name, check, server, texts[:PROMPTED]) for name, check in checks.CHECKS.items()]
            todo += [
                (name, checks.of_setting, name, server, texts, tokens, plan.length, errors[name])
                for name in checks.SETTINGS
            ]
        for name, *given in todo:
            self.progress(self.budget.asked, plan.tokens, f"checking {name}")
            self.checked.append(checks.checked(name, *given))
        self.budget.tokens = plan.tokens
        if not any(each.verdict == "rejected" for each in self.checked):
            self._draw(server, plan.tokens)

    def _draw(self, server: Server, end: int) -> list[list[Sample]]:
        """Draws texts, in waves of requests, until so many tokens are asked for or a test rejects; returns
        the last texts of each prompt.
        """
        plan = self.plan
        last: list[list[Sample]] = [[] for _ in plan.prompts]
        number = 0
        while not self.stream.rejected:
            length = max(min(2, plan.length), int(plan.length * LENGTHS[self.waves % len(LENGTHS)]))
            texts = (end - self.budget.asked - self.kept) // (length * self.cost)
            if texts < 1:
                break
            alone = self.waves % ALONE == ALONE - 1
            self.waves += 1
            size = min(plan.choices, server.most, texts)
            most = max(1, min(server.client.concurrency, texts // size))
            size, most = (1, size * most) if alone else (size, most)
            asked = [(number + n) % len(plan.prompts) for n in range(most)]
            number += len(asked)

            def ask(prompt: int, size: int = size, length: int = length) -> list[Sample]:
                return server.ask(plan.prompts[prompt], plan.setting, count=size, length=length)

            answers = map(ask, asked) if alone else server.client.map(ask, asked)
            for prompt, samples in zip(asked, answers, strict=True):
                whole = server.with_rows(plan.prompts[prompt], samples)
                self.cost = 3 if whole != samples else 1
                self.kept += sum(row is None for each in samples for row in each.rows or ())
                self.drawn.append((prompt, samples, length, alone))
                self.stream.add(prompt, whole, length, alone)
                last[prompt] = whole if len(whole) >= len(last[prompt]) else last[prompt]
                self.progress(self.budget.asked, plan.tokens, "drawing")
            if self.stream.rejected and self.kept:
                self._again(server)
        return last

    def _again(self, server: Server) -> None:
        """The tests anew, on the same texts, with rows that are asked for again: of teacher forcing, a cache
        of the server's may have spoiled the first ones. Nothing is rejected if that cannot be finished.
        """
        self._start()
        server.again(
            [
                Place(self.plan.prompts[prompt], each, t)
                for prompt, samples, _, _ in self.drawn
                for each in samples
                for t, row in enumerate(each.rows or ())
                if row is None
            ]
        )
        for prompt, samples, length, alone in self.drawn:
            whole = server.with_rows(self.plan.prompts[prompt], samples)
            self.stream.add(prompt, whole, length, alone)
