"""Targets of an audit: a function of one draft, a verifier of trees, or a whole generation loop.

Each defines the instances to run on, the programs to run, and how far rounding may move the law.
"""

import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from reprlib import repr
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq

from draftproof.simulators.audit.battery import battery
from draftproof.simulators.audit.randomness.generators import Generator, lazies
from draftproof.simulators.audit.randomness.sources import Chance, Source
from draftproof.simulators.audit.rounding import ROUNDOFF, rounding_bound
from draftproof.simulators.audit.sandbox import Fault, Sandbox
from draftproof.simulators.enumerate import drafts
from draftproof.theory.draft import Draft, Node, chained
from draftproof.theory.drafts.shape import inner
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows

INPUTS = ("target_probs", "draft_probs", "draft_tokens")  # [gamma + 1, V], [gamma, V] and [gamma]
Arrays: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]  # of INPUTS

Run: TypeAlias = Callable[[Source], tuple[Prefix, int | None]]
"""Returns the emitted tokens, and the number of tokens accepted in the first round (None if unknown)."""

JOINT_RUNS, SLOW_RUNS, LOOP_RUNS = 100_000, 1_000, 20_000
"""Largest numbers of runs: over several rounds; of a slow target; of a loop."""

LONGEST = 1_000  # largest number of tokens that a loop may return


@dataclass(frozen=True)
class Program:
    """A function to run for every outcome of its coins, with the probability that it is reached.

    If `draft` is None, the run also draws the draft. `most_runs` limits the number of runs.
    """

    weight: fmpq
    run: Run
    draft: Draft | None = None
    most_runs: int | None = None

    @property
    def drafted(self) -> str:
        return f"drafted {paths_text(self.draft)}" if self.draft else ""


class Target:
    """A foreign verifier or generation loop behind one calling convention."""

    name: str
    adapter: str  # the calling convention, as the report names it
    dtype: str  # the arithmetic it computes in, a key of ROUNDOFF
    namespace: dict[str, Any]  # the globals of its module
    slow = False  # calls are slow, so few instances are audited
    whole = False  # a generation loop, which drafts and keeps caches itself

    def _identify(self, foreign: Any, name: str, function: Any = None) -> None:
        # For an object, the globals are those of its method `function`.
        self.name = name or getattr(foreign, "__qualname__", type(foreign).__name__)
        self.namespace = getattr(inspect.unwrap(function or foreign), "__globals__", {})

    def instances(self, vocab: int, depth: int, rounds: int) -> list[Instance]:
        """The instances of the audit, smallest first; BadInput if they are too large."""
        several = max(rounds, 2) if self.whole else rounds  # a loop always makes several rounds
        return list(battery(vocab, depth, several, self.slow))

    def programs(self, sandbox: Sandbox, instance: Instance, rounds: int) -> Iterator[Program]:
        """The programs to run on an instance; their weights sum to 1."""
        raise NotImplementedError

    def calls(self, sandbox: Sandbox, instance: Instance) -> Iterator[Program]:
        """The programs to run with coins at the edges: single calls, on given drafts if the target
        takes drafts.
        """
        return self.programs(sandbox, instance, 1)

    def bound(self, instance: Instance, rounds: int) -> fmpq:
        """The total variation from the target's law that rounding alone can cause."""
        raise NotImplementedError


class DraftVerifier(Target):
    """A verifier of one draft: `prepare` makes the arguments, `call` runs it, `reset` drops state."""

    arrays = False  # `prepare` returns Arrays, which the audit can then corrupt
    logits = False  # it gets logarithms of rows
    draw: Callable[..., int] | None = None  # (sandbox, source, row, position) -> a token, if it drafts itself

    def reset(self) -> None: ...

    def prepare(self, target: Rows, draft: Draft) -> Any:
        raise NotImplementedError

    def call(self, sandbox: Sandbox, source: Source, prepared: Any, position: int = 0) -> Prefix:
        raise NotImplementedError

    def bound(self, instance: Instance, rounds: int) -> fmpq:
        several = rounds > 1 or self.draw is not None
        words = instance.draft.depth + rounds if several else 1
        return rounding_bound(self.dtype, instance.vocab, _drafted(instance), words, self.logits)

    def programs(self, sandbox: Sandbox, instance: Instance, rounds: int) -> Iterator[Program]:
        """One program per draft; over several rounds, or if the target drafts itself, a single program.

        The single program drafts, verifies and emits until it has depth + rounds tokens, and keeps its state.
        """
        if rounds > 1 or self.draw is not None:
            most = SLOW_RUNS if self.slow else JOINT_RUNS
            yield Program(ONE, lambda source: self._decoded(sandbox, instance, rounds, source), None, most)
        else:
            yield from self.calls(sandbox, instance)

    def calls(self, sandbox: Sandbox, instance: Instance) -> Iterator[Program]:
        for weight, draft in drafts(instance):
            prepared = self.prepare(instance.target, draft)

            def run(source: Source, prepared: Any = prepared) -> tuple[Prefix, int]:
                self.reset()
                word = self.call(sandbox, source, prepared)
                return word, len(word) - 1

            yield Program(weight, run, draft)

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


class Function(DraftVerifier):
    """verify(target_probs, draft_probs, draft_tokens[, rng][, position]) on chains.

    Arrays are [gamma + 1, V], [gamma, V] and [gamma], numpy arrays or, with `tensors`, torch tensors. A class
    is instantiated without arguments for every run; attributes that it keeps between calls are its state.
    `coins` maps parameters that are arrays of uniforms to their shapes: numbers, "gamma" or "vocab".
    Parameters named `rng` and `position` receive the generator and the number of tokens emitted before. A
    fourth parameter without a default is assumed to be the generator. For an object with a method `forward`,
    such as a torch.nn.Module, the parameters are those of `forward`. Raises BadInput if the parameters do not
    fit.

    >>> Function(lambda p, q, x, rng: [0], name="first").adapter
    'numpy function'
    """

    arrays = True

    def __init__(
        self,
        verify: Callable[..., Any],
        *,
        name: str = "",
        dtype: str | None = None,
        tensors: bool | None = None,
        coins: Mapping[str, tuple[int | str, ...]] | None = None,
    ):
        if not callable(verify):
            raise BadInput(f"{name or verify!r} is not a function")
        self.verify = verify
        self._called: Any = verify
        self.stateful = inspect.isclass(verify)
        function = verify.__call__ if self.stateful or not inspect.isroutine(verify) else verify
        if hasattr(verify, "forward") and _parameters(function) is None:
            function = verify.forward  # type: ignore[attr-defined]
        self._identify(verify, name, function)
        self.coins = dict(coins or {})
        self._extra, self._named = _extra(function, self.name, self.stateful, self.coins)
        if self.stateful:
            try:
                inspect.signature(verify).bind()
            except TypeError as error:
                raise BadInput(f"{self.name} must be made without arguments: {error}") from None
            except ValueError:
                pass  # a class of an extension module has no signature
        if tensors is None:
            takes_rng = "rng" in (*self._extra, *self._named)
            tensors = "torch" in self.namespace and not self.coins and not takes_rng
        self.tensors = tensors
        self.dtype = known_dtype(dtype or ("float32" if tensors else "float64"))
        self.draw = self._draw if hasattr(verify, "draft") else None
        self.adapter = "torch function" if tensors else "numpy function"

    @property
    def takes_position(self) -> bool:
        """Whether it is told how many tokens were emitted before, so that its noise may be keyed by it."""
        return "position" in (*self._extra, *self._named)

    def reset(self) -> None:
        if self.stateful:
            self._called = None

    def _object(self, sandbox: Sandbox) -> Any:
        if self._called is None:
            sandbox.current.making = True
            try:
                self._called = sandbox.call(self.verify)
            finally:
                sandbox.current.making = False
            if "torch" in sys.modules:
                sandbox.current.once |= {("torch", state) for state in _torch_states(self._called)}
        return self._called

    def prepare(self, target: Rows, draft: Draft) -> Arrays:
        path, dtype = draft.path, "float32" if self.dtype == "bfloat16" else self.dtype
        p = np.array([target[node.prefix] for node in path], dtype=np.float64)
        q = np.array([node.proposal for node in path[:-1]], dtype=np.float64).reshape(-1, target.vocab)
        return p.astype(dtype), q.astype(dtype), np.array([node.token for node in path[1:]], dtype=np.int64)

    def call(self, sandbox: Sandbox, source: Source, prepared: Any, position: int = 0) -> Prefix:
        sandbox.current.start(source)
        called = self._object(sandbox)
        real = source.rng if isinstance(source, Chance) and source.native else None
        given = [array.copy() for array in prepared]
        extra: dict[str, Any] = {"rng": real or Generator(source), "position": position}
        extra |= {name: self._coins(source, shape, prepared) for name, shape in self.coins.items()}

        def run(arguments: list[Any]) -> Any:
            named = {name: extra[name] for name in self._named}
            return sandbox.call(
                lambda: emitted(
                    called(*arguments, *(extra[name] for name in self._extra), **named),
                    prepared[0].shape[1],
                    len(prepared[2]) + 1,
                )
            )

        word = self._on_tensors(run, source, real, given, extra) if self.tensors else run(given)
        for name, before, after in zip(INPUTS, prepared, given, strict=True):
            if before.tobytes() != after.tobytes():  # NaN are equal here
                sandbox.remark("changes its inputs", name)
        return word

    def _on_tensors(
        self, run: Callable[[list[Any]], Any], source: Source, real: Any, given: Any, extra: dict[str, Any]
    ) -> Any:
        import torch

        from draftproof.simulators.audit.randomness.torch_mode import Answering

        tensors = [torch.from_numpy(array) for array in given]
        if self.dtype == "bfloat16":
            tensors[:2] = [tensor.to(torch.bfloat16) for tensor in tensors[:2]]
        if real is not None:
            extra |= {name: torch.from_numpy(extra[name]) for name in self.coins}
            with torch.random.fork_rng(devices=[]):
                torch.default_generator.manual_seed(int(real.integers(2**62)))
                return run(tensors)
        with Answering(source) as mode:
            extra |= {name: mode.tensor(extra[name]) for name in self.coins}
            return run(tensors)

    def _coins(self, source: Source, shape: tuple[int | str, ...], prepared: Any) -> np.ndarray:
        sizes = {"gamma": len(prepared[2]), "vocab": prepared[0].shape[1]}
        dimensions = tuple(sizes[size] if isinstance(size, str) else size for size in shape)
        kind = np.dtype(self.dtype if self.dtype in ("float64", "float16") else "float32").type
        return lazies([source.uniform(kind) for _ in range(int(np.prod(dimensions)))], dimensions)

    def _draw(self, sandbox: Sandbox, source: Source, row: tuple[float, ...], position: int) -> int:
        sandbox.current.start(source)
        draft = self._object(sandbox).draft
        return sandbox.call(
            lambda: emitted([draft(np.array(row), Generator(source), position)], len(row), 1)
        )[0]


def _torch_states(made: Any) -> Iterator[int]:
    # The states of the generators that an object holds, and of torch's own, after the object was made.
    import torch

    held = [each for each in getattr(made, "__dict__", {}).values() if isinstance(each, torch.Generator)]
    for generator in (torch.default_generator, *held):
        yield hash(generator.get_state().numpy().tobytes())


class Tree(DraftVerifier):
    """verify(target, draft, rng) on drafts of any kind: `target` maps a prefix to its float row, `draft` is a
    `draftproof.theory.draft.Draft` with float rows, and the result is the emitted tokens.

    >>> Tree(lambda target, draft, rng: [0], name="first").name
    'first'
    """

    adapter, dtype = "tree function", "float64"

    def __init__(self, verify: Callable[..., Any], *, name: str = ""):
        self.verify = verify
        self._identify(verify, name)

    def prepare(self, target: Rows, draft: Draft) -> Any:
        new: dict[int, Node] = {}

        def in_floats(node: Node) -> Node:
            row = None if node.proposal is None else tuple(map(float, node.proposal))
            new[id(node)] = Node(node.prefix, row, tuple(map(in_floats, node.children)), node.shape)
            return new[id(node)]

        root = in_floats(draft.root)
        paths = tuple(tuple(new[id(node)] for node in path) for path in draft.paths)
        floats = Draft(
            root,
            replacement=draft.replacement,
            stratified=draft.stratified,
            paths=paths if draft.merged else None,
        )
        return _FloatRows(target), floats, target.vocab, max(map(len, paths))

    def call(self, sandbox: Sandbox, source: Source, prepared: Any, position: int = 0) -> Prefix:
        rows, draft, vocab, most = prepared
        sandbox.current.start(source)
        return sandbox.call(lambda: emitted(self.verify(rows, draft, Generator(source)), vocab, most))


class _FloatRows(dict[Prefix, tuple[float, ...]]):
    def __init__(self, target: Rows):
        super().__init__()
        self.target, self.vocab = target, target.vocab

    def __missing__(self, prefix: Prefix) -> tuple[float, ...]:
        self[prefix] = tuple(map(float, self.target[prefix]))
        return self[prefix]


class Loop(Target):
    """`generate(target, draft, prompt, length[, gamma][, rng])`; the law of its text is checked.

    `target` and `draft` are `models.Model`, `prompt` is a tensor [1, 1], `gamma` is the instance's draft
    depth.
    It returns the new tokens: the first `length` count, and a shorter text is completed by the target. The
    function does its own drafting, caching and random draws. Raises BadInput if the parameters do not fit.

    >>> Loop(lambda target, draft, prompt, length: [0], name="zero").adapter
    'generation loop'
    """

    adapter, whole = "generation loop", True

    def __init__(self, generate: Callable[..., Any], *, name: str = "", dtype: str | None = None):
        self.generate = generate
        self._identify(generate, name)
        self.dtype = known_dtype(dtype or "float32")
        self._extra = _loop_extra(generate, self.name)

    def bound(self, instance: Instance, rounds: int) -> fmpq:
        length = instance.draft.depth + rounds
        return rounding_bound(self.dtype, instance.vocab, _drafted(instance), length, logits=True, draws=True)

    def programs(self, sandbox: Sandbox, instance: Instance, rounds: int) -> Iterator[Program]:
        """One program: the first depth + rounds tokens, in any number of rounds of the loop."""
        import torch

        from draftproof.simulators.audit.models import Model
        from draftproof.simulators.audit.randomness.torch_mode import Answering

        dtype = getattr(torch, self.dtype)
        models = Model(instance.target, dtype), Model(instance.proposal, dtype)
        length = instance.draft.depth + rounds

        def run(source: Source) -> tuple[Prefix, None]:
            sandbox.current.start(source)
            known = {"gamma": instance.draft.depth, "rng": Generator(source)}
            extra = {name: known[name] for name in self._extra}
            with Answering(source):
                prompt = torch.zeros(1, 1, dtype=torch.int64)
                words = sandbox.call(
                    lambda: emitted(self.generate(*models, prompt, length, **extra), instance.vocab, LONGEST)
                )
            return words[:length], None

        yield Program(ONE, run, None, LOOP_RUNS)


def emitted(result: Any, vocab: int, most: int) -> Prefix:
    """The function's result as token ids; raises Fault if it is anything else. Runs inside the call's limits,
    since the result may be an object whose methods raise or never end.
    """
    try:
        found = result.detach().cpu() if hasattr(result, "detach") else result
        if not isinstance(found, np.ndarray) and hasattr(found, "__len__") and len(found) > LONGEST:
            raise Fault("returns garbage", f"{len(found)} entries, not 1 to {most}")
        values = np.asarray(found)
    except Exception as error:
        if isinstance(error, Fault):
            raise
        values = np.array(None)
    if values.ndim == 2 and len(values) == 1:
        values = values[0]
    if values.ndim != 1 or values.dtype.kind not in "iu":
        plain = type(result) in (list, tuple, str, int, float, type(None))
        found = repr(result) if plain else f"a {type(result).__name__}"
        raise Fault("returns garbage", f"{found} is not a list of token ids")
    if not 1 <= len(values) <= most:
        raise Fault("returns garbage", f"{len(values)} tokens, not 1 to {most}")
    for token in values.tolist():
        if not 0 <= token < vocab:
            raise Fault("leaves the vocabulary", f"token id {token}, vocabulary {vocab}")
    return tuple(values.tolist())


def paths_text(draft: Draft) -> str:
    """The drafted paths as token ids."""
    start = len(draft.root.prefix)
    return ", ".join(" ".join(map(str, path[-1].prefix[start:])) for path in draft.paths)


def _drafted(instance: Instance) -> int:
    _, draft = next(drafts(instance))
    return sum(inner(draft.root.shape))


def known_dtype(dtype: str) -> str:
    """The name of an arithmetic that targets compute in; BadInput for another."""
    if dtype not in ROUNDOFF:
        raise BadInput(f"dtype {dtype!r} is not one of {', '.join(ROUNDOFF)}")
    return dtype


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    # None if the function has no signature, or takes any arguments and passes them on.
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    return None if any(each.kind is each.VAR_POSITIONAL for each in parameters) else parameters


def _is_required(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD


def _extra(function: Any, name: str, stateful: bool, coins: Collection[str]) -> tuple[list[str], list[str]]:
    # The arguments after the first three: (by position, by name).
    parameters = _parameters(function)
    if parameters is None:
        return ["rng"], []
    parameters = parameters[1:] if stateful else parameters
    if len([each for each in parameters if each.kind is not each.KEYWORD_ONLY]) < 3:
        raise BadInput(f"{name} must take {', '.join(INPUTS)} and optionally rng")
    extra: list[str] = []
    named: list[str] = []
    for each in parameters[3:]:
        positional = each.kind is not each.KEYWORD_ONLY
        if each.name in ("rng", "position") or each.name in coins:
            (extra if positional else named).append(each.name)
        elif _is_required(each) and positional and not extra:
            extra.append("rng")
        elif _is_required(each):
            after = "after the first three it may have a generator, `position` and coins"
            raise BadInput(f"{name} has a parameter {each.name!r} that nothing is passed for: {after}")
        elif positional:
            break
    return extra, named


def _loop_extra(generate: Callable[..., Any], name: str) -> list[str]:
    # The loop's parameters that are passed by name.
    parameters = _parameters(generate)
    if parameters is None:
        return []
    first = [each.name for each in parameters if each.kind is not each.KEYWORD_ONLY][:4]
    if first != ["target", "draft", "prompt", "length"]:
        raise BadInput(f"{name} must take target, draft, prompt, length and optionally gamma and rng")
    extra = [each.name for each in parameters[4:] if each.name in ("gamma", "rng")]
    for each in parameters[4:]:
        if each.name not in extra and _is_required(each):
            raise BadInput(f"{name} has a parameter {each.name!r} that nothing is passed for")
    return extra
