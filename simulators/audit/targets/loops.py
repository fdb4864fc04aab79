"""Targets that generate a whole text with two models."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from flint import fmpq

from draftproof.simulators.audit.coins.sources import Chance, Fixed, Source
from draftproof.simulators.audit.coins.state import NotEnumerable
from draftproof.simulators.audit.rounding import rounding_bound
from draftproof.simulators.audit.sandbox import Fault, Sandbox
from draftproof.simulators.audit.targets import base
from draftproof.simulators.audit.targets.models import PROMPT, Model
from draftproof.simulators.audit.targets.readings import LONGEST
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import Prefix

PARAMETERS = ("target", "draft", "prompt", "length")
"""The parameters that a generation loop must have."""

LOOP_RUNS = 20_000  # largest number of runs of a loop

PROMPT_GIVEN = (
    "no row was asked for after the prompt: model.row(tokens) takes the new tokens, without the prompt;"
    " model(ids) takes a tensor of ids, the prompt among them"
)


class Loop(base.Target):
    """`generate(target, draft, prompt, length[, gamma][, rng])`; the law of its text is checked.

    `target` and `draft` are a `Model`, `prompt` is a tensor [1, 2], `gamma` is the instance's draft depth. It
    returns the new tokens: the first `length` count, and a shorter text is completed by the target. The
    function does its own drafting, caching and random draws. Raises BadInput if the parameters do not fit.

    >>> Loop(lambda target, draft, prompt, length: [0], name="zero").adapter
    'generation loop'
    """

    adapter, style, whole = "generation loop", "loop", True

    def __init__(self, generate: Callable[..., Any], *, name: str = "", dtype: str | None = None):
        self.generate = self._identify(generate, name)
        self.dtype = base.known_dtype(dtype or "float32")
        parameters = base.signature(generate) or None
        if parameters and [each.name for each in parameters[: len(PARAMETERS)]] != [*PARAMETERS]:
            raise BadInput(f"{self.name} must take {', '.join(PARAMETERS)} and optionally gamma and rng")
        self.roles = base.parameters_of(parameters, self.name, PARAMETERS, ("gamma", "rng"), guess=False)
        self._tried = False  # on models that show what it returns

    def bound(self, instance: Instance, rounds: int) -> fmpq:
        length = instance.draft.depth + rounds
        return rounding_bound(
            self.dtype, instance.vocab, base.drafted_tokens(instance), length, logits=True, draws=True
        )

    def programs(self, sandbox: Sandbox, instance: Instance, rounds: int) -> Iterator[base.Program]:
        """One program: the first depth + rounds tokens, in any number of rounds of the loop."""
        if not self._tried:
            self._tried = True
            self._must_give_new_tokens(sandbox, instance.draft)
            self.idle = True
        yield self._program(sandbox, instance, rounds)

    def _must_give_new_tokens(self, sandbox: Sandbox, draft: Scheme) -> None:
        # Where both models are sure of token 1, a text that begins with 0 begins with a part of the prompt.
        sure = context_free([0, 1], [0, 1], draft)
        with suppress(Fault, NotEnumerable):
            words, _ = self._program(sandbox, sure, 1 + PROMPT).run(Fixed((0.5,), last=True))
            kept = words.index(1) if 1 in words else 0
            if 0 < kept <= PROMPT and set(words[kept:]) == {1}:
                what = f"returns a part of the prompt, a tensor [1, {PROMPT}]"
                raise BadInput(f"{self.name} {what}: return the new tokens, text[0, prompt.shape[1]:]")

    def _program(self, sandbox: Sandbox, instance: Instance, rounds: int) -> base.Program:
        import torch

        from draftproof.simulators.audit.stand_ins.torch_mode import answering

        dtype = getattr(torch, self.dtype)
        length = instance.draft.depth + rounds
        models = Model(instance.target, dtype, length), Model(instance.proposal, dtype, length)

        def run(source: Source) -> tuple[Prefix, None]:
            known = {"length": length, "gamma": instance.draft.depth, "rng": sandbox.start(source)}
            known |= dict(zip(("target", "draft"), models, strict=True))
            with answering(source, self.dtype):
                known["prompt"] = torch.zeros(1, PROMPT, dtype=torch.int64)
                for model in models:
                    model.asked.clear()
                more, named = self.arguments(known)
                vocab = instance.vocab
                words = sandbox.call(lambda: base.emitted(self.generate(*more, **named), vocab, LONGEST))
            self.idle &= not models[1].asked
            asked = [context for model in models for context in model.asked]
            if asked and () not in asked:
                raise Fault("raises", PROMPT_GIVEN)
            return words[:length], None

        return base.Program(ONE, run, (), LOOP_RUNS, instance.name)

    def sample(self, sandbox: Sandbox, chance: Chance, instance: Instance) -> Prefix:
        (program,) = self.programs(sandbox, instance, 1)
        return program.run(chance)[0]
