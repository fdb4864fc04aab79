"""What a run on one server and one on two share: the plan, evidence kept in a file, and an end that keeps
what was measured.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any

from draftproof.simulators.endpoint.client import Budget, Client, Refused, Spent, TimeUp, Unanswered
from draftproof.simulators.endpoint.laws import PLAIN, Setting
from draftproof.simulators.endpoint.report import Report, Result
from draftproof.simulators.endpoint.server import Server
from draftproof.simulators.support.anytime import Wealth
from draftproof.simulators.support.files import replacing, text_of
from draftproof.theory.errors import BadInput

PROMPTS = "import os\n\n\nclass ", "The first thing that"
"""Prompts whose next tokens are uncertain."""

OF_SETTING = 1 / 40
"""Share of the tokens that are drawn with each setting."""

PROMPTED = 2
"""Prompts of the checks without chance."""

SPENT = "tokens", "prompt_tokens", "seconds"
"""What a run spends; the file of evidence has the sums over all runs."""

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
    """A run that judges servers. The wealth of its `tests` is kept in the file `resume`, if given, and
    continued from it. Wealth multiplies from run to run, so that any number of runs has the error of one.
    """

    tests: Mapping[str, Wealth]

    def __init__(self, clients: Sequence[Client], plan: Plan, progress: Progress, resume: Path | None):
        self.clients, self.plan, self.progress = clients, plan, progress
        self.report = Report(clients[0].name, "", plan.error, plan.detect)
        self.budget = Budget(plan.tokens, plan.seconds)
        for each in clients:
            each.budget = self.budget
        self.resume, self.about = resume, ""
        self.earlier: dict[str, Any] = dict.fromkeys(SPENT, 0)
        self.servers: list[Server] = []

    def go(self, models: Sequence[str | None] | None = None, chat: bool = False) -> Report:
        """The report; it has what was measured also if a server stops answering, or after Ctrl-C. Raises
        BadInput if a server cannot be asked at all. `models` are their names, None the first one listed.
        """
        plan, report = self.plan, self.report
        try:
            named = zip(self.clients, models or [None] * len(self.clients), strict=True)
            self.servers = [Server(*each, chat, plan.choices) for each in named]
        except (Unanswered, Refused) as error:
            raise BadInput(str(error)) from None
        report.model = self.clients[0].shown(self.servers[0].model)
        asked = [*(each.client.name for each in self.servers), *(each.model for each in self.servers), chat]
        about = [*asked, *plan.prompts, plan.length, plan.error, vars(plan.setting)]
        self.about = blake2b(json.dumps(about).encode(), digest_size=16).hexdigest()
        if self.resume is not None and self.resume.exists():
            self._load(self.resume)
        try:
            self.judge()
        except (TimeUp, Spent):
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
        spent = self.save()
        report.tokens, report.prompt_tokens, report.seconds = (spent[name] for name in SPENT)
        return report

    @property
    def tokens(self) -> int:
        """The number of tokens that were asked for."""
        return self.budget.asked

    def _load(self, path: Path) -> None:
        # Continues the tests; BadInput for evidence about something else, and for any other file.
        try:
            state = json.loads(text_of(path))
            if state["about"] != self.about:
                raise BadInput(f"{path}: evidence about another server, model or setting, or other prompts")
            for name, test in self.tests.items():
                test.load(state["tests"][name])
            self.earlier = {name: state[name] for name in SPENT}
        except BadInput:
            raise
        except (ValueError, LookupError, TypeError, RecursionError, OverflowError):
            raise BadInput(f"{path}: not a file of `draftproof endpoint --resume`") from None

    def save(self) -> dict[str, Any]:
        """Writes the evidence; returns what was spent in all runs."""
        read = sum(each.prompt_tokens for each in self.servers)
        spent = zip(SPENT, (self.tokens, read, time.monotonic() - self.budget.start), strict=True)
        total = {name: round(self.earlier[name] + number, 3) for name, number in spent}
        if self.resume is not None:
            tests = {name: test.state() for name, test in self.tests.items()}
            with replacing(self.resume) as part:
                part.write_text(json.dumps({"about": self.about, **total, "tests": tests}), encoding="utf-8")
        return total

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
    """The prompts of a file, one a line; a line that is a JSON string is read as one."""
    lines = [line for line in text_of(path).splitlines() if line.strip()]
    if not lines:
        raise BadInput(f"{path}: contains no prompt")
    return [_prompt(line) for line in islice(lines, 64)]


def _prompt(line: str) -> str:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return found if isinstance(found, str) and found else line
