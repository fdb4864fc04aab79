"""The run on two servers: first the tested one beside itself, then both in the order A B B A."""

from draftproof.simulators.endpoint import checks
from draftproof.simulators.endpoint.against import Pairs
from draftproof.simulators.endpoint.client import Client
from draftproof.simulators.endpoint.laws import Setting
from draftproof.simulators.endpoint.report import VERDICTS, Result
from draftproof.simulators.endpoint.server import Sample, Server
from draftproof.simulators.endpoint.session import OF_SETTING, PROMPTED, Plan, Progress, Session

SELF, OTHER = "A/A", "law"
ITSELF = 1 / 5
"""Share of the tokens that the tested server spends on itself."""

CHECKED = 3 / 4
"""Share of the tokens after which the checks must be done."""

FEW, MANY = 2, 4
"""Choices of a request, with a setting and otherwise: a pair of answers gains at most log 2, however long."""


class Comparison(Session):
    """A run on a tested server and on one that it should sample as. Nothing is known of the law itself."""

    def __init__(self, clients: tuple[Client, Client], plan: Plan, progress: Progress):
        super().__init__(clients, plan, progress)
        names = [SELF, OTHER, *(checks.SETTINGS if plan.settings else ())]
        shares = {name: 1 / 2 if name == OTHER else 1 / 2 / (len(names) - 1) for name in names}
        self.pairs = {name: Pairs(plan.error * share) for name, share in shares.items()}
        self.same = False  # whether both spell tokens in the same way
        self.done: list[Result] = []

    def judge(self) -> None:
        (one, other), plan = self.servers, self.plan
        self.same = bool(one.listed and other.listed and one.extensions == other.extensions)
        self._draw(self.pairs[SELF], one, one, plan.setting, int(plan.tokens * ITSELF), MANY)
        if not self.pairs[SELF].rejected:
            self._settings(one, other)
            self._draw(self.pairs[OTHER], one, other, plan.setting, plan.tokens - self.tokens, MANY)

    def results(self) -> list[Result]:
        judged = [self._result(name) for name in (SELF, OTHER) if self.pairs[name].texts]
        return [*judged, *self.done]

    @property
    def detectable(self) -> float:
        return self.pairs[OTHER].detectable

    def _settings(self, one: Server, other: Server) -> None:
        if not self.plan.settings:
            return

        def compared(name: str, setting: Setting) -> Result:
            self._draw(self.pairs[name], one, other, setting, int(2 * OF_SETTING * self.plan.tokens), FEW)
            return self._result(name)

        for name, setting in checks.SETTINGS.items():
            self.done.append(checks.checked(name, compared, name, setting))
        self.budget.tokens = int(self.plan.tokens * CHECKED)
        for name, check in checks.CHECKS.items():
            self.done.append(checks.checked(name, check, one, self.plan.prompts[:PROMPTED]))
        self.budget.tokens = self.plan.tokens

    def _draw(
        self, test: Pairs, one: Server, other: Server, setting: Setting, tokens: int, choices: int
    ) -> None:
        """Draws pairs of answers in the order A B B A, as many tokens, or until the test rejects."""
        plan, end, number = self.plan, self.tokens + tokens, 0
        count = min(plan.choices, choices)

        def pair(number: int) -> tuple[list[Sample], list[Sample]]:
            order = (one, other) if number % 4 in (0, 3) else (other, one)
            prompt = plan.prompts[number % len(plan.prompts)]
            first, second = (side.ask(prompt, setting, count=count, length=plan.length) for side in order)
            return (first, second) if order[0] is one else (second, first)

        cost = 2 * count * plan.length
        while self.tokens + cost <= end and not test.rejected:
            pairs = min(one.client.concurrency, (end - self.tokens) // cost)
            numbers = range(number, number + pairs)
            number = numbers.stop
            for n, sides in zip(numbers, one.client.map(pair, numbers), strict=True):
                many = min(map(len, sides))
                if not self.same:
                    sides = [each.in_pieces() for each in sides[0]], [each.in_pieces() for each in sides[1]]
                test.update(n % len(plan.prompts), sides[0][:many], sides[1][:many])
            self.progress(self.tokens, plan.tokens, "comparing")

    def _result(self, name: str) -> Result:
        test, said = self.pairs[name], ""
        if not test.texts:
            return Result(name, "not judged", "too few tokens for a pair of answers")
        if test.rejected:
            said = {
                SELF: "the server differs from itself: its law changes, so nothing can be compared with it",
                OTHER: "the two servers follow different laws",
            }.get(name, f"the two servers differ under {name}")
            if test.one_text and name != SELF:
                said += "; the tested one gives one text only: it is greedy or repeats its random stream"
        return Result(name, VERDICTS[test.rejected], said, test.texts, test.error, test.most, test.detectable)
