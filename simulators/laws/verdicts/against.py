"""The verdict on a rule against a declared target, and its exact distance from the target p.

A rule is judged over one call, as against p. Its distance is that of the text: the first depth + 1 tokens,
over as many calls as they need, so that nothing is completed by another law.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from flint import fmpq

from draftproof.simulators.laws.decode import decode
from draftproof.simulators.laws.enumerate import Invalid, emission
from draftproof.simulators.laws.verdict import Verdict, Wrong
from draftproof.theory.emission import Emission
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law, first_difference, law_of
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.numbers import text as spelled
from draftproof.theory.rows import Prefix
from draftproof.theory.shared.divergence import ERROR, exceeds, kl
from draftproof.theory.targets import declared
from draftproof.theory.targets.declared import TOTAL_VARIATION, Declared
from draftproof.theory.verifier import Verifier

SLACK = fmpq(1, 10**6)
"""By how much rounding may take a token over a budget."""


@dataclass(frozen=True)
class Distance:
    """How far an emitted law e is from p: TV(e, p), KL(e || p) and KL(p || e), in nats."""

    total_variation: fmpq = ZERO
    kl: float = 0.0
    reverse: float = 0.0

    def largest(self, other: "Distance") -> "Distance":
        """The largest of each measure."""
        return Distance(*map(max, vars(self).values(), vars(other).values()))


@dataclass(frozen=True, repr=False)
class AgainstVerdict(Verdict):
    """The verdict on a rule against a declared target.

    `total_variation` and `wrong` are about the declared law; `token` is the largest distance of a token's row
    from p's, given the text before it, and `block` that of the first depth + 1 tokens. `over`: whether some
    token is further from p than the budget of the declared target; None without one.
    """

    against: str = ""
    token: Distance = Distance()
    block: Distance = Distance()
    over: bool | None = None

    @property
    def kept(self) -> bool:
        """Whether the declared target is met: its law, or the budget of a rule without a law of its own."""
        if self.invalid or self.over:
            return False
        return self.lossless or (self.over is False and declared(self.against).row is None)

    @property
    def more(self) -> dict[str, Any]:
        met = {"met": self.kept, **({} if self.over is None else {"over_budget": self.over})}
        return met | distances(declared(self.against), self.token, self.block)


def judge_against(instance: Instance, verifier: Verifier, law: Declared) -> AgainstVerdict:
    """The exact verdict against a declared law, over one call.

    After a fully accepted draft the extra token has to follow p, since the drafter has no row there. Raises
    BadInput for a verifier that keeps state.
    """
    must_measure(verifier)
    depth = instance.draft.depth
    head = verifier.name, instance.name, law.row is not None or verifier.lossless
    try:
        emitted, got, want = laws(instance, verifier, law)
        text = decode(instance, verifier, depth + 1, depth + 1).first(depth + 1)
    except Invalid as error:
        return AgainstVerdict(*head, ONE, ZERO, None, str(error), str(law))
    variation = got.total_variation(want)
    rounding = verifier.rounding(instance, 1) if verifier.rounding else ZERO
    wrong = Wrong(*found) if (found := first_difference(got, want, rounding)) else None
    token, over = tokens(instance, text, law, SLACK if rounding else ZERO)
    block = between(text, law_of(instance.target, depth + 1))
    accepted = emitted.expected_accepted
    return AgainstVerdict(*head, variation, accepted, wrong, "", str(law), token, block, over)


def laws(instance: Instance, verifier: Verifier, law: Declared) -> tuple[Emission, Law, Law]:
    """What one call emits; its law, completed by the declared rows; and the declared law. Raises Invalid."""
    depth = instance.draft.depth
    rows = law.rows(instance.target, instance.proposal, depth)
    emitted = emission(instance, verifier)
    return emitted, emitted.law().complete(rows, depth + 1), law_of(rows, depth + 1)


def must_measure(verifier: Verifier) -> None:
    """BadInput unless the verifier can be judged against a declared target."""
    if verifier.carry is not None:
        raise BadInput(f"{verifier.name} keeps state between calls; --against judges one call")


def between(got: Mapping[Any, fmpq], want: Mapping[Any, fmpq]) -> Distance:
    """The distance of one law from another."""
    keys = {**got, **want}
    variation = sum((abs(got.get(key, ZERO) - want.get(key, ZERO)) for key in keys), ZERO) / 2
    return Distance(variation, kl(got, want), kl(want, got))


def distances(law: Declared, token: Distance, text: Distance) -> dict[str, Any]:
    """A declared target and the distances from p as JSON: divergences are numbers, or "infinite"."""

    answer: dict[str, Any] = {"against": str(law), "budget": law.budget and law.budget.measure}
    for name, each in (("token", token), ("text", text)):
        kl, reverse = ("infinite" if number == inf else number for number in (each.kl, each.reverse))
        answer[name] = {"total_variation": spelled(each.total_variation), "kl_emitted_target": kl}
        answer[name] |= {"kl_target_emitted": reverse, "kl_error": ERROR}
    return answer


def tokens(instance: Instance, text: Law, law: Declared, slack: fmpq) -> tuple[Distance, bool | None]:
    """The largest distance of a token's row from p's, given the text before it, and whether a token is over
    the budget by more than the slack (None without a budget).
    """
    worst, over, budget = Distance(), None, law.budget
    rows: dict[Prefix, dict[int, fmpq]] = {}
    for word, mass in text.items():
        for length in range(len(word)):
            row = rows.setdefault(word[:length], {})
            row[word[length]] = row.get(word[length], ZERO) + mass
    for prefix, masses in rows.items():
        whole = sum(masses.values(), ZERO)
        e = {x: mass / whole for x, mass in masses.items()}
        p = instance.target[prefix]
        want = dict(enumerate(p))
        worst = worst.largest(between(e, want))
        if budget is not None:
            bound = budget.bound(p, instance.proposal[prefix], law.parameter) + slack
            by_variation = budget.measure == TOTAL_VARIATION
            over = over or (
                between(e, want).total_variation > bound if by_variation else exceeds(e, want, bound)
            )
    return worst, over
