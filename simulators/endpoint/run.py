"""The whole run on one server: a first look, the checks of settings, then the long test of the law."""

from pathlib import Path

from draftproof.simulators.endpoint import checks
from draftproof.simulators.endpoint.client import Client
from draftproof.simulators.endpoint.report import Result
from draftproof.simulators.endpoint.server import Sample, Server
from draftproof.simulators.endpoint.session import OF_SETTING, Plan, Progress, Session
from draftproof.simulators.endpoint.stream import NAMES, Stream

FIRST = 1 / 10
"""Share of the tokens that are drawn before the settings are checked."""


def shares(error: float) -> dict[str, float]:
    """The error of each test: three quarters are that of the law, the others share the rest."""
    others = [*(name for name in NAMES if name != "law"), *checks.SETTINGS]
    return {"law": error * 3 / 4, **dict.fromkeys(others, error / 4 / len(others))}


class Run(Session):
    """A run on one server, which shows log-probabilities."""

    def __init__(self, client: Client, plan: Plan, progress: Progress, resume: Path | None = None):
        super().__init__([client], plan, progress, resume)
        self.stream = Stream(plan.setting, lambda *row: self.servers[0].law(*row), shares(plan.error))
        self.tests = self.stream.tests
        self.checked: list[Result] = []

    def results(self) -> list[Result]:
        return [] if self.servers[0].listed is None else [*self.stream.results(), *self.checked]

    @property
    def decided(self) -> bool:
        return self.stream.detectable < 1

    def judge(self) -> None:
        server, stream = self.servers[0], self.stream
        if server.listed is None:
            self.report.stopped = "the server returns no log-probabilities: compare it with --against URL"
            return
        few = self._draw(server, stream, int(self.plan.tokens * FIRST))
        if stream.rejected:
            return
        self.progress(server.tokens, self.plan.tokens, "checking settings")
        self.checked.append(checks.log_probabilities(server, self.plan.prompts, few))
        if self.plan.settings:
            for name in checks.CHECKS:
                self.checked.append(checks.checked(name, server, self.plan.prompts))
            tokens, errors = int(self.plan.tokens * OF_SETTING), shares(self.plan.error)
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
            waves = max(1, min(server.client.concurrency, (end - server.tokens) // (size * plan.length)))
            asked = [(number + n) % len(plan.prompts) for n in range(max(waves, 1))]
            number += len(asked)

            def ask(prompt: int, size: int = size) -> list[Sample]:
                return server.ask(plan.prompts[prompt], plan.setting, count=size, length=plan.length)

            for prompt, samples in zip(asked, server.client.map(ask, asked), strict=True):
                stream.add(prompt, samples)
                last[prompt] = samples
                self.progress(server.tokens, plan.tokens, "drawing")
            self.save()
            if stream.rejected and end - server.tokens > 0 and tokens > plan.tokens * FIRST:
                break
        return last
