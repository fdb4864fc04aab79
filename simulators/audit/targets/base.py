"""What every target of an audit defines: instances, programs to run, and how far rounding moves the law."""

import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from reprlib import repr
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq

from draftproof.simulators.audit.battery import battery
from draftproof.simulators.audit.coins.sources import Chance, Source
from draftproof.simulators.audit.rounding import ROUNDOFF, rounding_bound
from draftproof.simulators.audit.sandbox import Fault, Sandbox
from draftproof.simulators.audit.targets.readings import integers, plain
from draftproof.simulators.laws.enumerate import drafts
from draftproof.theory.draft import Draft, chained
from draftproof.theory.drafts.shape import inner
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows

INPUTS = {"target_probs": "p", "draft_probs": "q", "draft_tokens": "tokens"}
"""The usual names of a function's first parameters, [gamma + 1, V], [gamma, V] and [gamma] -> their roles."""

Arrays: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Arguments for INPUTS; those of a batch have an axis of requests first."""

Parameter: TypeAlias = tuple[str, str, bool]
"""A parameter that gets an argument: its name, its role, and whether it is passed by name."""

Run: TypeAlias = Callable[[Source], tuple[Prefix, int | None]]
"""Returns the emitted tokens, and the number of tokens accepted in the first round (None if unknown)."""

JOINT_RUNS, SLOW_RUNS = 100_000, 1_000
"""Largest numbers of runs over several rounds, and of a slow target."""


@dataclass(frozen=True)
class Program:
    """A function to run for every outcome of its coins, with the probability that it is reached.

    Without `drafts`, one of each request, the run also draws them. `most_runs` limits the number of runs, of
    `what`.
    """

    weight: fmpq
    run: Run
    drafts: tuple[Draft, ...] = ()
    most_runs: int | None = None
    what: str = ""

    @property
    def drafted(self) -> str | None:
        """The drafted paths; None if the run draws the draft."""
        return " | ".join(map(paths_text, self.drafts)) if self.drafts else None


class Target:
    """A foreign verifier or generation loop behind one calling convention."""

    name: str
    adapter: str  # the calling convention, as the report names it
    dtype: str  # the arithmetic it computes in, a key of ROUNDOFF
    namespace: dict[str, Any]  # the globals of its module
    slow = False  # calls are slow, so few instances are audited
    whole = False  # a generation loop, which drafts and keeps caches itself
    idle = False  # whether it never asked for a row of the draft model that it was given
    style = "verify"  # what `dp.replay` takes it for
    loaded: dict[str, Any] | None = None  # the arguments of `load.target` that it was loaded with
    origin: Any = None  # the object that was audited
    roles: Sequence[Parameter] = ()  # of its parameters

    def _identify(self, foreign: Any, name: str) -> Any:
        # What is called for a foreign object.
        if not callable(foreign):
            raise BadInput(f"{name or foreign!r} is not a function")
        self.origin = foreign
        self.name = name or getattr(foreign, "__qualname__", type(foreign).__name__)
        self.namespace = getattr(inspect.unwrap(foreign), "__globals__", {})
        return foreign

    def arguments(self, known: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Of the known arguments, role -> value, those that its parameters ask for: by position, by name."""
        by_position = [known[role] for _, role, by_name in self.roles if not by_name]
        return by_position, {name: known[role] for name, role, by_name in self.roles if by_name}

    def takes(self, role: str) -> bool:
        """Whether one of its parameters has the role."""
        return any(each == role for _, each, _ in self.roles)

    def instances(self, vocab: int, depth: int, rounds: int) -> Sequence[Any]:
        """The instances of the audit, smallest first; BadInput if they are too large."""
        several = max(rounds, 2) if self.whole else rounds  # a loop always makes several rounds
        return list(battery(vocab, depth, several, self.slow))

    def programs(self, sandbox: Sandbox, instance: Instance, rounds: int) -> Iterator[Program]:
        """The programs to run on an instance; their weights sum to 1."""
        raise NotImplementedError

    def calls(self, sandbox: Sandbox, instance: Instance) -> Iterator[Program]:
        """The programs to run with coins at the edges: single calls, on given drafts if it takes drafts."""
        return self.programs(sandbox, instance, 1)

    def sample(self, sandbox: Sandbox, chance: Chance, instance: Instance) -> Prefix:
        """The tokens of one random run on an instance."""
        raise NotImplementedError

    def bound(self, instance: Instance, rounds: int) -> fmpq:
        """The total variation from the target's law that rounding alone can cause."""
        raise NotImplementedError


class DraftVerifier(Target):
    """A verifier of one draft: `prepare` makes the arguments, `call` runs it, `reset` drops state."""

    arrays = False  # `prepare` returns Arrays, which the audit can then corrupt
    tensors = False  # it gets them as torch tensors
    logits = False  # it gets logarithms of rows
    draw: Callable[..., int] | None = None  # (sandbox, source, row, position) -> a token, if it drafts itself
    draws_in_torch: bool | None = None  # None: not known before a call
    typed = False  # its arithmetic was named

    def reset(self) -> None: ...

    def prepare(self, target: Rows, draft: Draft) -> Any:
        raise NotImplementedError

    def call(self, sandbox: Sandbox, source: Source, prepared: Any, position: int = 0) -> Prefix:
        raise NotImplementedError

    def followed(self, run: Callable[[], Any], source: Source) -> Any:
        """The result of a run on tensors, or on arrays that may be handed on to code that draws from torch:
        then torch is followed, and float32 is its usual arithmetic.
        """
        if not self.tensors and (self.draws_in_torch is False or "torch" not in sys.modules):
            return run()
        from draftproof.simulators.audit.stand_ins.torch_mode import answering

        with answering(source, self.dtype) as mode:
            result = run()
        if mode.used:
            self.draws_in_torch = True
            self.dtype = self.dtype if self.typed else "float32"
        return result

    def sample(self, sandbox: Sandbox, chance: Chance, instance: Instance) -> Prefix:
        self.reset()
        draft = instance.draft.draw(chance, instance.proposal)
        return self.call(sandbox, chance, self.prepare(instance.target, draft))

    def bound(self, instance: Instance, rounds: int) -> fmpq:
        several = rounds > 1 or self.draw is not None
        words = instance.draft.depth + rounds if several else 1
        return rounding_bound(self.dtype, instance.vocab, drafted_tokens(instance), words, self.logits)

    def programs(self, sandbox: Sandbox, instance: Instance, rounds: int) -> Iterator[Program]:
        """One program per draft; over several rounds, or if the target drafts itself, a single program.

        The single program drafts, verifies and emits until it has depth + rounds tokens, and keeps its state.
        """
        if rounds > 1 or self.draw is not None:
            most = SLOW_RUNS if self.slow else JOINT_RUNS
            run = partial(self._decoded, sandbox, instance, rounds)
            yield Program(ONE, run, (), most, f"{instance.name} over {rounds} rounds")
        else:
            yield from self.calls(sandbox, instance)

    def calls(self, sandbox: Sandbox, instance: Instance) -> Iterator[Program]:
        for weight, draft in drafts(instance):
            yield Program(weight, self.run_on(sandbox, self.prepare(instance.target, draft)), (draft,))

    def run_on(self, sandbox: Sandbox, prepared: Any) -> Run:
        """One call on these arguments, without the state of earlier calls."""

        def run(source: Source) -> tuple[Prefix, int]:
            self.reset()
            word = self.call(sandbox, source, prepared)
            return word, len(word) - 1

        return run

    def _decoded(
        self, sandbox: Sandbox, instance: Instance, rounds: int, source: Source
    ) -> tuple[Prefix, int]:
        length = instance.draft.depth + rounds
        self.reset()
        context: Prefix = ()
        accepted = None
        while len(context) < length:
            draft = self._draft(sandbox, instance, context, source)
            word = self.call(sandbox, source, self.prepare(instance.target, draft), len(context))
            context += word
            accepted = len(word) - 1 if accepted is None else accepted
        return context[:length], accepted or 0

    def _draft(self, sandbox: Sandbox, instance: Instance, context: Prefix, source: Source) -> Draft:
        if self.draw is None:
            return instance.draft.draw(source, instance.proposal, context)
        leaf, rows = context, []
        for _ in range(instance.draft.depth):
            rows.append(instance.proposal[leaf])
            leaf = (*leaf, self.draw(sandbox, source, tuple(map(float, rows[-1])), len(leaf)))
        return Draft(chained(leaf, rows))


def emitted(result: Any, vocab: int, most: int) -> Prefix:
    """The function's result as token ids; raises Fault if it is anything else. Runs inside the call's limits,
    since the result may be an object whose methods raise or never end.
    """
    try:
        tokens = integers(plain(result))
    except Exception:
        spelled = type(result) in (list, tuple, str, int, float, type(None))
        found = repr(result) if spelled else f"a {type(result).__name__}"
        raise Fault("returns garbage", f"{found} is not a list of token ids") from None
    if not 1 <= len(tokens) <= most:
        raise Fault("returns garbage", f"{len(tokens)} tokens, not 1 to {most}")
    for token in tokens:
        if not 0 <= token < vocab:
            raise Fault("leaves the vocabulary", f"token id {token}, vocabulary {vocab}")
    return tuple(tokens)


def paths_text(draft: Draft) -> str:
    """The drafted paths as token ids."""
    start = len(draft.root.prefix)
    return ", ".join(" ".join(map(str, path[-1].prefix[start:])) for path in draft.paths)


def drafted_tokens(instance: Instance) -> int:
    """The number of tokens in a draft."""
    _, draft = next(drafts(instance))
    return sum(inner(draft.root.shape))


def known_dtype(dtype: str) -> str:
    """The name of an arithmetic that targets compute in; BadInput for another."""
    if dtype not in ROUNDOFF:
        raise BadInput(f"dtype {dtype!r} is not one of {', '.join(ROUNDOFF)}")
    return dtype


def arrays(target: object, proposal: object, tokens: object, dtype: str) -> Arrays:
    """Rows and tokens as arrays of that arithmetic; float32 for bfloat16, which numpy does not have."""
    kind = "float32" if dtype == "bfloat16" else dtype
    p, q = (np.asarray(rows, dtype=np.float64).astype(kind) for rows in (target, proposal))
    return p, q, np.asarray(tokens, dtype=np.int64)


def tensors(given: Sequence[np.ndarray], dtype: str) -> list[Any]:
    """The arrays as tensors that share their memory, but for rows in bfloat16."""
    import torch

    p, q, tokens = map(torch.from_numpy, given)
    return [p.to(torch.bfloat16), q.to(torch.bfloat16), tokens] if dtype == "bfloat16" else [p, q, tokens]


def signature(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """The parameters; None if there is no signature, or it takes any arguments and passes them on."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    return None if any(each.kind is each.VAR_POSITIONAL for each in parameters) else parameters


def parameters_of(
    parameters: Sequence[inspect.Parameter] | None,
    name: str,
    first: Collection[str],
    known: Collection[str],
    guess: bool = True,
) -> list[Parameter]:
    """The parameters that get an argument: `first`, and those after them with a known name, if there is a
    signature.

    With `guess` a required parameter right after `first` counts as the generator `rng`, whatever its name.
    Raises BadInput if there are fewer parameters than `first`, or if any other parameter is required.
    """
    found = [(each, INPUTS.get(each, each), False) for each in first]
    if parameters is None:
        return found
    if len([each for each in parameters if each.kind is not each.KEYWORD_ONLY]) < len(first):
        raise BadInput(f"{name} must take {', '.join(first)} and optionally {' and '.join(known)}")
    for each in parameters[len(first) :]:
        positional = each.kind is not each.KEYWORD_ONLY
        required = each.default is each.empty and each.kind is not each.VAR_KEYWORD
        if each.name in known:
            found.append((each.name, each.name, not positional))
        elif required and positional and len(found) == len(first) and guess:
            found.append((each.name, "rng", False))
        elif required:
            after = f"after {', '.join(first)} it may have {', '.join(known)}"
            raise BadInput(f"{name} has a parameter {each.name!r} that nothing is passed for: {after}")
        elif positional:
            break
    return found
