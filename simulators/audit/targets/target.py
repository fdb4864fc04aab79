"""How a foreign function is called: what it is given, and how its answer is read."""

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np

from draftproof.simulators.audit.door import Watch
from draftproof.simulators.audit.judge.rounding import ROUNDOFF
from draftproof.simulators.audit.randomness.generator import Generator, lazies
from draftproof.simulators.audit.randomness.sources import Chance, Source
from draftproof.simulators.audit.targets.answers import emitted
from draftproof.theory.draft import Draft
from draftproof.theory.errors import BadInput
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows

Draw: TypeAlias = Callable[[Watch, Source, tuple[float, ...], int], int]
"""A token, given the row it is to be drawn from and its position."""


class Target(Protocol):
    """A foreign verifier behind one calling convention.

    `prepare` makes of the exact rows and a draft what the function is given; `call` runs it once,
    its random calls answered by the source, and reads what it emitted. `fresh` forgets all state.
    """

    name: str
    adapter: str
    dtype: str  # the arithmetic it computes in, a key of ROUNDOFF
    namespace: dict[str, Any]  # the globals of its module
    draw: Draw | None  # how it drafts; None where the instance's scheme does
    slow: bool  # every call is: few instances are audited
    logits: bool  # it is given logarithms of rows
    whole: bool  # it is a whole generation loop, `loop.Loop`

    def fresh(self) -> None: ...
    def prepare(self, target: Rows, draft: Draft) -> Any: ...
    def call(self, watch: Watch, source: Source, prepared: Any, position: int) -> Prefix: ...


class Function:
    """verify(target_probs, draft_probs, draft_tokens[, rng][, position]) on chains.

    Arrays are [gamma + 1, V], [gamma, V] and [gamma]; of numpy, or with `tensors` of torch. A class
    is made anew, without arguments, for every run; what it keeps between calls is its state.
    `coins` names parameters that are arrays of uniforms, with their shapes: numbers, "gamma" or "vocab".
    Parameters named `rng` and `position` are given the generator and how many tokens were emitted
    before; any fourth one without a default is taken to be the generator.
    """

    slow = logits = whole = False

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
        self.name = name or getattr(verify, "__qualname__", type(verify).__name__)
        self.stateful = inspect.isclass(verify)
        function = verify.__call__ if self.stateful or not inspect.isroutine(verify) else verify
        self.namespace: dict[str, Any] = getattr(inspect.unwrap(function), "__globals__", {})
        self.coins = dict(coins or {})
        self._extra, self._named = _extra(function, self.name, self.stateful, self.coins)
        if self.stateful:
            _needs_nothing(verify, self.name)
        torch_only = (
            "torch" in self.namespace and not self.coins and "rng" not in (*self._extra, *self._named)
        )
        self.tensors = torch_only if tensors is None else tensors
        self.dtype = dtype or ("float32" if self.tensors else "float64")
        if self.dtype not in ROUNDOFF:
            raise BadInput(f"dtype {self.dtype!r} is not one of {', '.join(ROUNDOFF)}")
        self.draw: Draw | None = self._draw if hasattr(verify, "draft") else None
        self.adapter = "torch function" if self.tensors else "numpy function"

    def fresh(self) -> None:
        if self.stateful:
            self._called = None

    def _object(self, watch: Watch) -> Any:
        if self._called is None:
            self._called = watch.call(self.verify)
        return self._called

    def prepare(self, target: Rows, draft: Draft) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        path = draft.path
        p = np.array([_floats(target[node.prefix]) for node in path])
        q = np.array([_floats(node.proposal) for node in path[:-1]])
        dtype = "float32" if self.dtype == "bfloat16" else self.dtype
        return p.astype(dtype), q.astype(dtype), np.array([node.token for node in path[1:]])

    def call(self, watch: Watch, source: Source, prepared: Any, position: int = 0) -> Prefix:
        watch.current.start(source)
        called = self._object(watch)
        rng = source.rng if isinstance(source, Chance) and source.native else Generator(source)
        extra = {"rng": rng, "position": position}
        given = [array.copy() for array in prepared]
        extra |= {name: self._coins(source, shape, prepared) for name, shape in self.coins.items()}
        if self.tensors:
            result = self._with_tensors(watch, called, source, given, extra)
        else:
            result = self._run(watch, called, given, extra)
        for name, before, after in zip(
            ("target_probs", "draft_probs", "draft_tokens"), prepared, given, strict=True
        ):
            if before.tobytes() != after.tobytes():  # NaN are equal here
                watch.remark("changes its inputs", name)
        return emitted(result, prepared[0].shape[1], len(prepared[2]) + 1)

    def _run(self, watch: Watch, called: Any, given: list[Any], extra: Mapping[str, Any]) -> Any:
        more = [extra[name] for name in self._extra]
        named = {name: extra[name] for name in self._named}
        return watch.call(lambda: called(*given, *more, **named))

    def _coins(self, source: Source, shape: tuple[int | str, ...], prepared: Any) -> np.ndarray:
        sizes = {"gamma": len(prepared[2]), "vocab": prepared[0].shape[1]}
        dimensions = tuple(sizes[size] if isinstance(size, str) else size for size in shape)
        kind = np.dtype(self.dtype if self.dtype in ("float64", "float16") else "float32").type
        return lazies([source.uniform(kind) for _ in range(int(np.prod(dimensions)))], dimensions)

    def _draw(self, watch: Watch, source: Source, row: tuple[float, ...], position: int) -> int:
        watch.current.start(source)
        drafter = self._object(watch)
        token = watch.call(lambda: drafter.draft(np.array(row), Generator(source), position))
        return emitted([token], len(row), 1)[0]

    def _with_tensors(
        self, watch: Watch, called: Any, source: Source, given: list[np.ndarray], extra: dict[str, Any]
    ) -> Any:
        import torch

        from draftproof.simulators.audit.randomness.torch_mode import Answering

        tensors = [torch.from_numpy(array) for array in given]
        if self.dtype == "bfloat16":
            tensors[:2] = [tensor.to(torch.bfloat16) for tensor in tensors[:2]]
        if isinstance(source, Chance) and source.native:
            extra |= {name: torch.from_numpy(extra[name]) for name in self.coins}
            with torch.random.fork_rng(devices=[]):
                torch.default_generator.manual_seed(int(source.rng.integers(2**62)))
                return self._run(watch, called, tensors, extra)
        with Answering(source) as mode:
            extra |= {name: mode.tensor(extra[name]) for name in self.coins}
            return self._run(watch, called, tensors, extra)


def _floats(row: Any) -> Any:
    return row if isinstance(row, np.ndarray) else [float(x) for x in row]


def _extra(function: Any, name: str, stateful: bool, coins: Collection[str]) -> tuple[list[str], list[str]]:
    # What is passed after the first three, by position and by name.
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ["rng"], []
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return ["rng"], []
    parameters = parameters[1:] if stateful else parameters
    if len([each for each in parameters if each.kind is not each.KEYWORD_ONLY]) < 3:
        raise BadInput(
            f"{name} must take target_probs, draft_probs, draft_tokens and, where it needs one, rng"
        )
    extra: list[str] = []
    named: list[str] = []
    for each in parameters[3:]:
        required = each.default is each.empty and each.kind is not each.VAR_KEYWORD
        if each.name in ("rng", "position") or each.name in coins:
            (named if each.kind is each.KEYWORD_ONLY else extra).append(each.name)
        elif required and each.kind is not each.KEYWORD_ONLY and not extra:
            extra.append("rng")
        elif required:
            raise BadInput(
                f"{name} has a parameter {each.name!r} that nothing is passed for: "
                "after the first three come a generator and, by name, `position` and coins"
            )
        elif each.kind is not each.KEYWORD_ONLY:
            break
    return extra, named


def _needs_nothing(made: Callable[..., Any], name: str) -> None:
    try:
        inspect.signature(made).bind()
    except TypeError as error:
        raise BadInput(f"{name} must be made without arguments: {error}") from None
    except ValueError:
        pass  # a class of an extension module that does not tell
