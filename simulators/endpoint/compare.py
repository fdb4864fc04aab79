"""The run on two servers: first the tested one beside itself, then both in the order A B B A."""

import time
from pathlib import Path
from typing import Any

from draftproof.simulators.endpoint import checks
from draftproof.simulators.endpoint.against import Pairs
from draftproof.simulators.endpoint.client import Client, Refused, TimeUp, Unanswered
from draftproof.simulators.endpoint.evidence import SPENT, Evidence
from draftproof.simulators.endpoint.laws import Setting
from draftproof.simulators.endpoint.report import Report, Result
from draftproof.simulators.endpoint.run import OF_SETTING, Plan, Progress
from draftproof.simulators.endpoint.server import Sample, Server
from draftproof.theory.errors import BadInput

SELF, OTHER = "A/A", "law"
ITSELF = 1 / 5
"""Share of the tokens that the tested server spends on itself."""

FEW, MANY = 2, 4
"""Choices of a request, with a setting and otherwise: a pair of answers gains at most log 2, however long."""


class Comparison:
    """A run on a tested server and on one that it should sample as. Nothing is known of the law itself."""

    def __init__(
        self, clients: tuple[Client, Client], plan: Plan, progress: Progress, resume: Path | None = None
    ):
        self.clients, self.plan, self.progress = clients, plan, progress
        self.report = Report(clients[0].name, "", plan.error)
        self.evidence, self.started = Evidence(resume), time.monotonic()
        self.servers: list[Server] = []
        self.same = False  # whether both spell tokens in the same way
        names = [SELF, OTHER, *(checks.SETTINGS if plan.settings else ())]
        shares = {name: 1 / 2 if name == OTHER else 1 / 2 / (len(names) - 1) for name in names}
        self.tests = {name: Pairs(plan.error * share) for name, share in shares.items()}
        self.done: list[Result] = []
        self.skipped: list[Result] = []

    def go(self, models: tuple[str | None, str | None] = (None, None), chat: bool = False) -> Report:
        """The report; it has what was measured also if a server stops answering, or after Ctrl-C. Raises
        BadInput if a server cannot be asked at all.
        """
        try:
            self.servers = [Server(*each, chat) for each in zip(self.clients, models, strict=True)]
        except Unanswered as error:
            raise BadInput(str(error)) from None
        one, other = self.servers
        self.report.model = one.model
        self.same = bool(one.listed and other.listed and one.extensions == other.extensions)
        plan = self.plan
        about = [*(each.client.name for each in self.servers), one.model, other.model, chat, *plan.prompts]
        self.evidence.open([*about, plan.length, plan.error, vars(plan.setting)], self.tests)
        try:
            self._draw(self.tests[SELF], one, one, plan.setting, int(plan.tokens * ITSELF), MANY)
            if not self.tests[SELF].rejected:
                self._settings(one, other)
                self._draw(self.tests[OTHER], one, other, plan.setting, plan.tokens - self._tokens(), MANY)
        except TimeUp:
            pass
        except (Unanswered, Refused) as error:
            self.report.stopped = str(error)
        except KeyboardInterrupt:
            self.report.stopped = "interrupted"
        return self._ended()

    def _settings(self, one: Server, other: Server) -> None:
        if not self.plan.settings:
            return
        if one.listed and other.listed:
            self.done.append(self._rows(one, other))
        for name, setting in checks.SETTINGS.items():
            try:
                tokens = int(2 * OF_SETTING * self.plan.tokens)
                self._draw(self.tests[name], one, other, setting, tokens, FEW)
            except Refused as refusal:
                self.skipped.append(Result(name, "skipped", f"a server refuses it{refusal}"))
        self.done += [checks.checked(name, one, self.plan.prompts) for name in checks.CHECKS]

    def _draw(
        self, test: Pairs, one: Server, other: Server, setting: Setting, tokens: int, choices: int
    ) -> None:
        """Draws pairs of answers in the order A B B A, about so many tokens, or until the test rejects."""
        plan, end, number = self.plan, self._tokens() + tokens, 0
        count = min(plan.choices, choices)

        def pair(number: int) -> tuple[list[Sample], list[Sample]]:
            order = (one, other) if number % 4 in (0, 3) else (other, one)
            prompt = plan.prompts[number % len(plan.prompts)]
            first, second = (side.ask(prompt, setting, count=count, length=plan.length) for side in order)
            return (first, second) if order[0] is one else (second, first)

        while self._tokens() < end and not test.rejected:
            numbers = range(number, number + one.client.concurrency)
            number = numbers.stop
            for n, sides in zip(numbers, one.client.map(pair, numbers), strict=True):
                many = min(map(len, sides))
                if not self.same:
                    sides = [each.in_pieces() for each in sides[0]], [each.in_pieces() for each in sides[1]]
                test.saw(n % len(plan.prompts), sides[0][:many], sides[1][:many])
            self.progress(self._tokens(), plan.tokens, "comparing")
            self.evidence.save(self._spent())

    def _rows(self, one: Server, other: Server) -> Result:
        """Do both servers give the same first rows of log-probabilities?"""
        worst = 0.0
        for prompt in self.plan.prompts:
            rows = [side.ask(prompt)[0].rows for side in (one, other)]
            laws = [side.law(row[0]) for side, row in zip((one, other), rows, strict=True) if row]
            if len(laws) == 2:
                mass = dict(zip(laws[1].tokens, laws[1].upper.tolist(), strict=True))
                shared = zip(laws[0].tokens, laws[0].upper.tolist(), strict=True)
                worst = max(worst, sum(abs(p - mass[x]) for x, p in shared if x in mass) / 2)
        wrong = worst > checks.TOLERANCE
        said = f"the rows of both servers are a total variation of {worst:.1g} apart"
        return Result(
            "log-probabilities", "rejected" if wrong else "not rejected", said, len(self.plan.prompts)
        )

    def _tokens(self) -> int:
        return sum(each.tokens for each in self.servers)

    def _spent(self) -> dict[str, Any]:
        made = self._tokens(), sum(each.prompt_tokens for each in self.servers)
        return dict(zip(SPENT, (*made, round(time.monotonic() - self.started, 3)), strict=True))

    def _result(self, name: str, test: Pairs) -> Result:
        said = ""
        if test.rejected:
            said = {
                SELF: "the server differs from itself: its law changes, so nothing can be compared with it",
                OTHER: "the two servers follow different laws",
            }.get(name, f"the two servers differ under {name}")
            if test.one_text and name != SELF:
                said += "; the tested one gives one text only: it is greedy or repeats its random stream"
        verdict = "rejected" if test.rejected else "not rejected"
        return Result(name, verdict, said, test.texts, test.error, test.most, test.detectable)

    def _ended(self) -> Report:
        report = self.report
        for each in self.clients:
            each.close()
        skipped = {each.name for each in self.skipped}
        tested = [
            self._result(name, test)
            for name, test in self.tests.items()
            if test.texts and name not in skipped
        ]
        report.results = [*tested, *self.done, *self.skipped]
        report.decided = self.tests[OTHER].detectable < 1
        spent = self.evidence.save(self._spent())
        report.tokens, report.prompt_tokens, report.seconds = (spent[name] for name in SPENT)
        report.requests = sum(each.requests for each in self.clients)
        report.retried = sum(each.retried for each in self.clients)
        return report
