"""One run behind a wrong law: a draft and coins with which a verifier emits tokens that come too often."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from flint import fmpq

from draftproof.simulators.audit.judge.exact import Case, run_or_fault
from draftproof.simulators.audit.randomness.coin_state import NotEnumerable
from draftproof.simulators.audit.randomness.sources import Every, Replay
from draftproof.simulators.audit.sandbox import Fault, Sandbox
from draftproof.simulators.audit.targets import DraftVerifier, paths_text
from draftproof.simulators.enumerate import outcomes
from draftproof.simulators.instances.files import document, spelled
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law, law_of
from draftproof.theory.numbers import ZERO, text
from draftproof.theory.rows import Prefix
from draftproof.theory.verifiers import named

RUNS = 5_000  # of more runs none is shown
DIGITS = 17  # of a coin


@dataclass(frozen=True)
class WrongRun:
    """A run that emits tokens which come too often: the draft, the answers of its random calls in order
    (uniforms in `coins`, tokens drawn from rows in `choices`), what it emits, and its probability. Of several
    such runs the one is chosen that exceeds token verification most.
    """

    target: str
    instance: Instance
    drafted: str
    coins: tuple[float, ...]
    choices: tuple[int, ...]
    emitted: Prefix
    probability: fmpq

    @property
    def call(self) -> str:
        """The call in Python that runs it again."""
        name = repr(self.target) if ":" in self.target else self.target
        choices = f", choices={list(self.choices)}" if self.choices else ""
        return f"dp.replay({name}, {document(self.instance)}, {self.drafted!r}, {list(self.coins)}{choices})"

    def answer(self) -> dict[str, Any]:
        """The JSON object, with the rows along the draft where it is one path."""
        rows: dict[str, Any] = {}
        if "," not in self.drafted:
            tokens = tuple(map(int, self.drafted.split()))
            starts = [tokens[:n] for n in range(len(tokens) + 1)]
            spell = lambda table, prefixes: [list(map(text, table[prefix])) for prefix in prefixes]  # noqa: E731
            rows["target_probs"] = spell(self.instance.target, starts)
            rows["draft_probs"] = spell(self.instance.proposal, starts[:-1])
        return {
            "drafted": self.drafted,
            **rows,
            "coins": list(self.coins),
            "choices": list(self.choices),
            "emitted": spelled(self.emitted),
            "probability": text(self.probability),
            "call": self.call,
        }

    def lines(self) -> list[str]:
        """The run in lines of text."""
        draws = f", draws {' '.join(map(str, self.choices))}" if self.choices else ""
        coins = f"coins {', '.join(map(str, self.coins))}" if self.coins else "no coins"
        given = f"drafted {self.drafted!r}, {coins}{draws}: emits {spelled(self.emitted)!r}"
        return [
            f"  a run that comes too often, with probability {text(self.probability)}: {given}",
            f"    {self.call}",
        ]


def wrong_run(target: DraftVerifier, sandbox: Sandbox, case: Case) -> WrongRun | None:
    """The run to show for a case of one call; None if it has too many runs, or no coins can be given."""
    assert isinstance(case.instance, Instance)
    instance, seen = case.instance, []
    for program in target.calls(sandbox, instance):

        def run(oracle: Any, program: Any = program) -> tuple[Every, Any]:
            source = Every(oracle)
            return source, run_or_fault(program.run, source)

        for mass, (source, result) in outcomes(run, program.weight):
            if len(seen) == RUNS:
                return None
            if not isinstance(result, Fault):
                seen.append((mass, program, source, result[0]))
    length = len(case.wrong.prefix)  # type: ignore[union-attr]
    rows = (
        instance.target if case.aim is None else case.aim.law.rows(instance.target, instance.proposal, None)
    )
    got = (
        Law([(word, mass) for mass, _, _, word in seen])
        .complete(rows, instance.draft.depth + 1)
        .marginal(length)
    )
    want = law_of(rows, length)
    often = max(got, key=lambda prefix: got[prefix] - want[prefix])
    surplus: dict[tuple[str, Prefix], fmpq] = _by_token(target, sandbox, instance)
    for mass, program, _, word in seen:
        key = paths_text(program.draft), word
        surplus[key] = surplus.get(key, ZERO) + mass
    behind = [each for each in seen if each[3][:length] == often[: len(each[3])]]
    behind.sort(key=lambda each: (-surplus[paths_text(each[1].draft), each[3]], -each[0]))
    for mass, program, source, word in behind:
        again = source.replay(Random(0))
        if again is None:
            continue
        coins, choices = again.coins[:-1], source.chosen
        for digits in range(1, DIGITS):
            short = [round(coin, digits) for coin in coins]
            if max(short, default=0) < 1 and _emits(program, short, choices) == word:
                return WrongRun(
                    target.name, instance, paths_text(program.draft), tuple(short), tuple(choices), word, mass
                )
    return None


def replayed(
    target: DraftVerifier,
    sandbox: Sandbox,
    instance: Instance,
    drafted: str,
    coins: Sequence[float],
    choices: Sequence[int],
) -> Prefix:
    """The tokens that the target emits for a draft with these answers to its random calls."""
    for program in target.calls(sandbox, instance):
        assert program.draft is not None
        if paths_text(program.draft) == drafted:
            return program.run(Replay(coins, choices))[0]
    raise BadInput(f"{instance.name or 'the instance'} never drafts {drafted!r}")


def _by_token(target: DraftVerifier, sandbox: Sandbox, instance: Instance) -> dict[tuple[str, Prefix], fmpq]:
    # (draft, word) -> minus its probability under token verification, by which it is seen what is too much.
    found: dict[tuple[str, Prefix], fmpq] = {}
    if instance.draft.label != "chain":
        return found
    for program in target.calls(sandbox, instance):
        assert program.draft is not None
        verified = outcomes(
            lambda oracle, draft=program.draft: named("token").verify(oracle, draft, instance.target),
            program.weight,
        )
        for mass, (node, row) in verified:
            for token, part in enumerate(row):
                key = paths_text(program.draft), (*node.prefix, token)
                found[key] = found.get(key, ZERO) - mass * part
    return found


def _emits(program: Any, coins: Sequence[float], choices: Sequence[int]) -> Prefix | None:
    try:
        result = run_or_fault(program.run, Replay(coins, choices))
    except NotEnumerable:
        return None
    return None if isinstance(result, Fault) else result[0]
