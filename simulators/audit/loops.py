"""Targets that generate a whole text, and the tables that stand in for their two models."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from flint import fmpq

from draftproof.simulators.audit.randomness.generators import Generator
from draftproof.simulators.audit.randomness.sources import Chance, Source
from draftproof.simulators.audit.rounding import SHIFT, rounding_bound
from draftproof.simulators.audit.sandbox import Sandbox
from draftproof.simulators.audit.targets import (
    LONGEST,
    Program,
    Target,
    drafted_tokens,
    emitted,
    extra,
    known_dtype,
    signature,
)
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows

if TYPE_CHECKING:
    import torch

FIRST = ("target", "draft", "prompt", "length")
"""The parameters that a generation loop must have."""

RUNS = 20_000  # largest number of runs of a loop


class Loop(Target):
    """`generate(target, draft, prompt, length[, gamma][, rng])`; the law of its text is checked.

    `target` and `draft` are a `Model`, `prompt` is a tensor [1, 1], `gamma` is the instance's draft depth. It
    returns the new tokens: the first `length` count, and a shorter text is completed by the target. The
    function does its own drafting, caching and random draws. Raises BadInput if the parameters do not fit.

    >>> Loop(lambda target, draft, prompt, length: [0], name="zero").adapter
    'generation loop'
    """

    adapter, whole = "generation loop", True

    def __init__(self, generate: Callable[..., Any], *, name: str = "", dtype: str | None = None):
        self.generate = generate
        self._identify(generate, name)
        self.dtype = known_dtype(dtype or "float32")
        parameters = signature(generate) or []
        if parameters and [each.name for each in parameters[: len(FIRST)]] != [*FIRST]:
            raise BadInput(f"{self.name} must take {', '.join(FIRST)} and optionally gamma and rng")
        found = extra(parameters, self.name, FIRST, ("gamma", "rng"), guess=False) if parameters else ([], [])
        self._extra, self._named = found

    def bound(self, instance: Instance, rounds: int) -> fmpq:
        length = instance.draft.depth + rounds
        return rounding_bound(
            self.dtype, instance.vocab, drafted_tokens(instance), length, logits=True, draws=True
        )

    def programs(self, sandbox: Sandbox, instance: Instance, rounds: int) -> Iterator[Program]:
        """One program: the first depth + rounds tokens, in any number of rounds of the loop."""
        import torch

        from draftproof.simulators.audit.randomness.torch_mode import answering

        dtype = getattr(torch, self.dtype)
        models = Model(instance.target, dtype), Model(instance.proposal, dtype)
        length = instance.draft.depth + rounds

        def run(source: Source) -> tuple[Prefix, None]:
            sandbox.current.start(source)
            real = source.rng if isinstance(source, Chance) and source.native else None
            known = {"gamma": instance.draft.depth, "rng": real or Generator(source)}
            more, named = [known[name] for name in self._extra], {name: known[name] for name in self._named}
            with answering(source, self.dtype):
                prompt = torch.zeros(1, 1, dtype=torch.int64)
                words = sandbox.call(
                    lambda: emitted(
                        self.generate(*models, prompt, length, *more, **named), instance.vocab, LONGEST
                    )
                )
            return words[:length], None

        yield Program(ONE, run, None, self.limit or RUNS)

    def sample(self, sandbox: Sandbox, chance: Chance, population: Any) -> Prefix:
        (program,) = self.programs(sandbox, population.instance, 1)
        return program.run(chance)[0]


class Model:
    """A causal model made from a table: `model(ids, past_key_values)` gives `.logits` [B, T, V] and
    `.past_key_values` (None with use_cache=False), like models of transformers.

    The first token of a context is the prompt. The cache holds the tokens themselves, in the shape [B, 1, T,
    1] of keys and values, so a loop that crops it wrongly gets the rows of another context. Logits are
    shifted by a constant.
    """

    def __init__(self, rows: Rows, dtype: "torch.dtype"):
        import torch

        self.rows, self.dtype, self.device = rows, dtype, torch.device("cpu")
        self.config = SimpleNamespace(vocab_size=rows.vocab, max_position_embeddings=10**6)
        self._known: dict[Prefix, torch.Tensor] = {}

    def __call__(
        self, input_ids: "torch.Tensor", past_key_values: Any = None, use_cache: bool = True, **_: Any
    ) -> SimpleNamespace:
        import torch

        contexts = input_ids.reshape(-1, input_ids.shape[-1]).tolist()
        if past_key_values:
            seen = past_key_values[0][0].reshape(len(contexts), -1).tolist()
            contexts = [[*map(int, before), *new] for before, new in zip(seen, contexts, strict=True)]
        ends = range(len(contexts[0]) - input_ids.shape[-1] + 1, len(contexts[0]) + 1)
        logits = torch.stack([torch.stack([self.row(ids[1:end]) for end in ends]) for ids in contexts])
        kept = torch.tensor(contexts, dtype=self.dtype)[:, None, :, None]
        return SimpleNamespace(logits=logits, past_key_values=((kept, kept),) if use_cache else None)

    def row(self, tokens: Any) -> "torch.Tensor":
        """The logits [V] after these tokens; the prompt is not among them."""
        import torch

        prefix = tuple(map(int, tokens))
        if prefix not in self._known:
            row = torch.tensor([float(x) for x in self.rows[prefix]], dtype=torch.float64)
            self._known[prefix] = (row.log() + SHIFT).to(self.dtype)
        return self._known[prefix].clone()
