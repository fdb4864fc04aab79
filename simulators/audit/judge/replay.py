"""One run behind a wrong law: a draft and coins with which a target emits tokens that come too often."""

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, TypeAlias

from flint import fmpq

from draftproof.simulators.audit.coins.bisection import law_by_boxes
from draftproof.simulators.audit.coins.sources import Every, Replay
from draftproof.simulators.audit.coins.state import NotEnumerable
from draftproof.simulators.audit.judge.exact import Case, followed, run_or_fault
from draftproof.simulators.audit.sandbox import Fault, Sandbox
from draftproof.simulators.audit.targets.base import DraftVerifier, Program, Target
from draftproof.simulators.instances.files import document
from draftproof.simulators.laws.enumerate import outcomes
from draftproof.simulators.laws.verdict import Wrong
from draftproof.simulators.support.load import uncompiled
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law, law_of
from draftproof.theory.numbers import ZERO, shown, text
from draftproof.theory.rows import Prefix
from draftproof.theory.selection.batch import Batch
from draftproof.theory.shared.reportable import spelled
from draftproof.theory.table import Rows
from draftproof.theory.verifiers import named

SEARCH_SECONDS, RUNS_KEPT = 60.0, 3  # of looking for a run; runs kept of each draft and what is emitted
COIN_DIGITS = 17  # of a coin


@dataclass(frozen=True)
class WrongRun:
    """A run that emits tokens which come too often, or fails: the draft, the answers of its random calls in
    order (uniforms in `coins`, tokens drawn from rows in `choices`), what it emits, and its probability.

    `drafted` is None where the target drafts itself, or over several rounds: the draft is then among the
    choices. `verify` and `options` are the arguments of `dp.replay` that name the target.
    """

    verify: str
    options: dict[str, Any]
    instance: Instance
    drafted: str | None
    coins: tuple[float, ...]
    choices: tuple[int, ...]
    emitted: Prefix | None  # None if it fails
    probability: fmpq
    fault: str = ""

    @property
    def call(self) -> str:
        """The line of Python that runs it again."""
        given = [self.verify, str(document(self.instance)), repr(self.drafted)]
        named = {"coins": list(self.coins), "choices": list(self.choices)} | self.options
        given += [f"{name}={value!r}" for name, value in named.items() if value]
        return f"import draftproof as dp; print(dp.replay({', '.join(given)}))"

    def answer(self) -> dict[str, Any]:
        """The JSON object, with the rows along the draft where it is one path."""
        rows: dict[str, Any] = {}
        if self.drafted is not None and "," not in self.drafted:
            tokens = tuple(map(int, self.drafted.split()))
            starts = [tokens[:n] for n in range(len(tokens) + 1)]
            spell = lambda table, prefixes: [list(map(text, table[prefix])) for prefix in prefixes]  # noqa: E731
            rows["target_probs"] = spell(self.instance.target, starts)
            rows["draft_probs"] = spell(self.instance.proposal, starts[:-1])
        return {
            "instance": document(self.instance),
            "drafted": self.drafted,
            **rows,
            "coins": list(self.coins),
            "choices": list(self.choices),
            "emitted": None if self.emitted is None else spelled(self.emitted),
            **({"fault": self.fault} if self.fault else {}),
            "probability": text(self.probability),
            "call": self.call,
        }

    def lines(self) -> list[str]:
        """The run in lines of text."""
        drafted = [] if self.drafted is None else [f"drafted {self.drafted!r}"]
        coins = f"coins {', '.join(map(str, self.coins))}" if self.coins else "no coins"
        draws = [f"draws {' '.join(map(str, self.choices))}"] if self.choices else []
        then = f"it {self.fault}" if self.emitted is None else f"emits {spelled(self.emitted)!r}"
        what = "fails" if self.emitted is None else "comes too often"
        given = ", ".join([*drafted, coins, *draws])
        return [
            f"  a run that {what}, with probability {shown(self.probability)}: {given}: {then}",
            f"    {self.call}",
        ]


Emitted: TypeAlias = tuple[str | None, Any]
"""A draft, and what runs on it emit, or their fault."""


def wrong_run(target: Target, sandbox: Sandbox, case: Case) -> WrongRun | None:
    """The run to show for a case that fails; None where all runs are judged together, or none is found."""
    if isinstance(case.instance, Batch) or (case.wrong is None and case.fault_mass <= case.bound):
        return None
    with suppress(NotEnumerable, Fault):  # it hangs
        return _found(target, sandbox, case, monotonic() + SEARCH_SECONDS)
    return None


def replayed(
    target: Target,
    sandbox: Sandbox,
    instance: Instance,
    drafted: str | None,
    coins: Sequence[float],
    choices: Sequence[int],
    rounds: int,
) -> Prefix:
    """The tokens that the target emits for a draft with these answers to its random calls. BadInput for a
    draft that is never drafted.
    """
    for program in target.programs(sandbox, instance, rounds):
        if program.drafted == drafted:
            return program.run(Replay(coins, choices))[0]
    raise BadInput(f"{instance.name or 'the instance'} never drafts {drafted!r}")


def _found(target: Target, sandbox: Sandbox, case: Case, deadline: float) -> WrongRun | None:
    masses: dict[Emitted, fmpq] = {}
    likeliest: dict[Emitted, list[tuple[fmpq, Program, Callable[[], Any]]]] = {}  # runs
    instance = case.instance
    assert isinstance(instance, Instance)
    for program in target.programs(sandbox, instance, case.rounds):
        drafted = program.drafted
        for mass, result, answers in _runs(program, sandbox):
            if monotonic() > deadline:
                raise NotEnumerable(f"its runs take more than {SEARCH_SECONDS:.0f} s once more")
            fault = isinstance(result, Fault)
            if fault == (case.wrong is None):
                key = drafted, str(result) if fault else result[0]
                masses[key] = masses.get(key, ZERO) + mass
                runs = [*likeliest.get(key, ()), (mass, program, answers)]
                likeliest[key] = sorted(runs, key=lambda run: -run[0])[:RUNS_KEPT]
    fail = sorted(masses, key=lambda key: -masses[key]) if case.wrong is None else None
    for drafted, word in _too_often(target, sandbox, case, masses) if fail is None else fail:
        for mass, program, answers in likeliest[drafted, word]:
            again = answers()
            if again is not None and (coins := _shortest(program, again[0], again[1], word)) is not None:
                emitted, fault = (None, word) if case.wrong is None else (word, "")
                verify, named = _called(target)
                options = named | ({"rounds": case.rounds} if case.rounds > 1 else {})
                return WrongRun(
                    verify, options, instance, drafted, coins, tuple(again[1]), emitted, mass, fault
                )
    return None


def _runs(program: Program, sandbox: Sandbox) -> Iterator[tuple[fmpq, Any, Callable[[], Any]]]:
    # (probability, result or fault, what gives its coins and choices) of every run.
    def answers(source: Every) -> tuple[Sequence[float], Sequence[int]] | None:
        again = source.replay(Random(0))
        return again and (again.coins[:-1], source.chosen)

    if sandbox.bisected:
        plain = partial(run_or_fault, program.run)
        for mass, result, *found in law_by_boxes(plain, program.weight):
            yield mass, result, partial(tuple, found)
    else:
        for mass, (source, result) in followed(program):
            yield mass, result, partial(answers, source)


def _too_often(target: Target, sandbox: Sandbox, case: Case, masses: dict[Emitted, fmpq]) -> list[Emitted]:
    # The runs that emit the prefix, of the wrong one's length, that comes too often by most; those first
    # that have the largest surplus.
    instance, wrong = case.instance, case.wrong
    assert isinstance(instance, Instance)
    assert isinstance(wrong, Wrong)
    rows = instance.target
    length = len(wrong.prefix)
    got = Law((word, mass) for (_, word), mass in masses.items()).marginal(length).complete(rows, length)
    want = law_of(rows, length)
    often = max(got, key=lambda prefix: got[prefix] - want[prefix])
    less = _expected(target, sandbox, case, rows, [*masses])
    behind = [key for key in masses if key[1][:length] == often[: len(key[1])]]
    return sorted(behind, key=lambda key: less.get(key, ZERO) - masses[key])


def _expected(
    target: Target, sandbox: Sandbox, case: Case, rows: Rows, seen: Sequence[Emitted]
) -> dict[Emitted, fmpq]:
    # (draft, word) -> its probability under token verification, or in a text of the target's own.
    instance = case.instance
    assert isinstance(instance, Instance)
    if not isinstance(target, DraftVerifier) or case.rounds > 1 or target.draw is not None:
        laws = {length: law_of(rows, length) for length in {len(word) for _, word in seen}}
        return {(drafted, word): laws[len(word)][word] for drafted, word in seen}
    found: dict[Emitted, fmpq] = {}
    if instance.draft.label != "chain":
        return found
    for program in target.calls(sandbox, instance):
        verified = outcomes(
            lambda oracle, draft=program.drafts[0]: named("token").verify(oracle, draft, instance.target),
            program.weight,
        )
        for mass, (node, row) in verified:
            for token, part in enumerate(row):
                key = program.drafted, (*node.prefix, token)
                found[key] = found.get(key, ZERO) + mass * part
    return found


def _shortest(
    program: Program, coins: Sequence[float], choices: Sequence[int], word: Any
) -> tuple[float, ...] | None:
    # The coins in as few digits as give that run again, or fault; None if none do.
    for digits in range(1, COIN_DIGITS + 1):
        short = tuple(round(coin, digits) for coin in coins)
        if max(short, default=0) < 1:
            try:
                result = run_or_fault(program.run, Replay(short, choices))
            except NotEnumerable:
                continue
            if (str(result) if isinstance(result, Fault) else result[0]) == word:
                return short
    return None


def _called(target: Target) -> tuple[str, dict[str, Any]]:
    # The target as an expression in Python, and the options by which `dp.replay` takes it.
    options = {"style": target.style} if target.style != "verify" else {}
    if target.loaded is not None:
        given = {name: str(each) for name, each in target.loaded.items() if each is not None}
        return repr(given.pop("name")), options | given
    expression = _spelling(target.origin) or target.name.rpartition(".")[2].replace("<lambda>", "verify")
    tensors = getattr(target, "tensors", target.whole)
    if target.dtype != ("float32" if tensors else "float64"):
        options["dtype"] = target.dtype
    return expression, options


def _spelling(origin: Any) -> str:
    # The name by which another process loads an object, quoted; "" if it has none, as a nested function.
    name, module = getattr(origin, "__qualname__", ""), sys.modules.get(getattr(origin, "__module__", ""))
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if module is None or not name or inspect.unwrap(uncompiled(found)) is not inspect.unwrap(origin):
        return ""
    file = Path(getattr(module, "__file__", None) or "")
    if getattr(module, "__package__", "") or not file.is_file():
        return "" if module.__name__ == "__main__" else repr(f"{module.__name__}:{name}")
    path = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    return repr(f"{path.as_posix()}:{name}")
