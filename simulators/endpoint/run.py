"""The whole run on one server: a first look, the checks of settings, then the long test of the law."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from draftproof.simulators.endpoint import checks
from draftproof.simulators.endpoint.client import Client, Refused, TimeUp, Unanswered
from draftproof.simulators.endpoint.evidence import SPENT, Evidence
from draftproof.simulators.endpoint.laws import PLAIN, Setting
from draftproof.simulators.endpoint.report import Report, Result
from draftproof.simulators.endpoint.server import Sample, Server
from draftproof.simulators.endpoint.stream import NAMES, Stream
from draftproof.simulators.files import text_of
from draftproof.theory.errors import BadInput

PROMPTS = "import os\n\n\nclass ", "The first thing that"
"""Prompts whose next tokens are uncertain."""

FIRST = 1 / 10
"""Share of the tokens that are drawn before the settings are checked."""

OF_SETTING = 1 / 40
"""Share of the tokens that are drawn with each setting."""

Progress = Callable[[int, int, str], None]
"""(tokens so far, tokens in all, what is being done)."""


@dataclass(frozen=True)
class Plan:
    """What is asked: `tokens` in all, texts of `length` tokens, `choices` texts a request; `error` is the
    probability that any test rejects a right server.
    """

    prompts: Sequence[str] = PROMPTS
    tokens: int = 20_000
    length: int = 4
    choices: int = 32
    error: float = 1e-3
    setting: Setting = PLAIN
    settings: bool = True

    def errors(self) -> dict[str, float]:
        """The share of each test: three quarters are that of the law, the others share the rest."""
        others = [*(name for name in NAMES if name != "law"), *checks.SETTINGS]
        return {"law": self.error * 3 / 4, **dict.fromkeys(others, self.error / 4 / len(others))}


class Run:
    """A run on one server. Evidence is kept in the file `resume`, if given, and continued from it."""

    def __init__(self, client: Client, plan: Plan, progress: Progress, resume: Path | None = None):
        self.client, self.plan, self.progress = client, plan, progress
        self.report = Report(client.name, "", plan.error)
        self.started = time.monotonic()
        self.stream: Stream | None = None
        self.server: Server | None = None
        self.checked: list[Result] = []
        self.evidence = Evidence(resume)

    def go(self, model: str | None = None, chat: bool = False) -> Report:
        """The report; it has what was measured also if the server stops answering, or after Ctrl-C. Raises
        BadInput if the server cannot be asked at all.
        """
        try:
            self.server = Server(self.client, model, chat)
        except Unanswered as error:
            raise BadInput(str(error)) from None
        self.report.model = self.server.model
        if self.server.listed is None:
            self.report.stopped = "the server returns no log-probabilities: compare it with --against URL"
            return self._ended()
        self.stream = Stream(self.plan.setting, self.server.law, self.plan.errors())
        about = [
            self.client.name,
            self.server.model,
            chat,
            *self.plan.prompts,
            self.plan.length,
            self.plan.error,
        ]
        self.evidence.open([*about, vars(self.plan.setting)], self.stream.tests)
        try:
            self._look(self.server, self.stream)
        except TimeUp:
            pass  # the budget of time is as good an end as that of tokens
        except (Unanswered, Refused) as error:
            self.report.stopped = str(error)
        except KeyboardInterrupt:
            self.report.stopped = "interrupted"
        return self._ended()

    def _look(self, server: Server, stream: Stream) -> None:
        few = self._draw(server, stream, int(self.plan.tokens * FIRST))
        if stream.rejected:
            return
        self.progress(server.tokens, self.plan.tokens, "checking settings")
        self.checked.append(checks.log_probabilities(server, self.plan.prompts, few))
        if self.plan.settings:
            for name in checks.CHECKS:
                self.checked.append(checks.checked(name, server, self.plan.prompts))
            tokens, errors = int(self.plan.tokens * OF_SETTING), self.plan.errors()
            for name, setting in checks.SETTINGS.items():
                given = server, self.plan.prompts, tokens, self.plan.length, errors[name]
                self.checked.append(checks.of_setting(name, setting, *given))
        if not any(each.verdict == "rejected" for each in self.checked):
            self._draw(server, stream, self.plan.tokens - server.tokens)

    def _draw(self, server: Server, stream: Stream, tokens: int) -> list[list[Sample]]:
        """Draws about so many tokens, in waves of requests, until a test rejects; returns the last texts of
        each prompt.
        """
        plan, end = self.plan, server.tokens + tokens
        last: list[list[Sample]] = [[] for _ in plan.prompts]
        number = 0
        while server.tokens < end:
            size = max(1, min(plan.choices, (end - server.tokens) // plan.length))
            waves = max(1, min(self.client.concurrency, (end - server.tokens) // (size * plan.length)))
            asked = [(number + n) % len(plan.prompts) for n in range(max(waves, 1))]
            number += len(asked)

            def ask(prompt: int, size: int = size) -> list[Sample]:
                return server.ask(plan.prompts[prompt], plan.setting, count=size, length=plan.length)

            for prompt, samples in zip(asked, self.client.map(ask, asked), strict=True):
                stream.add(prompt, samples)
                last[prompt] = samples
                self.progress(server.tokens, plan.tokens, "drawing")
            self.evidence.save(self._spent())
            if stream.rejected and end - server.tokens > 0 and tokens > plan.tokens * FIRST:
                break
        return last

    def _ended(self) -> Report:
        report = self.report
        if self.stream is not None:
            report.results = [*self.stream.results(), *self.checked]
            report.decided = self.stream.detectable < 1
        self.client.close()
        spent = self.evidence.save(self._spent())
        report.tokens, report.prompt_tokens, report.seconds = (spent[name] for name in SPENT)
        report.requests, report.retried = self.client.requests, self.client.retried
        return report

    def _spent(self) -> dict[str, Any]:
        made = (self.server.tokens, self.server.prompt_tokens) if self.server else (0, 0)
        return dict(zip(SPENT, (*made, round(time.monotonic() - self.started, 3)), strict=True))


def prompts(path: Path) -> list[str]:
    """The prompts of a file, one a line; a line that is a JSON string is read as one."""
    lines = [line for line in text_of(path).splitlines() if line.strip()]
    if not lines:
        raise BadInput(f"{path}: contains no prompt")
    return [_prompt(line) for line in islice(lines, 64)]


def _prompt(line: str) -> str:
    try:
        found = json.loads(line)
    except ValueError:
        return line
    return found if isinstance(found, str) and found else line
