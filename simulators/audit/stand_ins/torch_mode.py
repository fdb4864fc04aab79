"""Replaces torch's random functions by a source and follows the coins through torch's other functions.

While a foreign function runs, `Answering` intercepts every torch function: random functions draw coins,
`torch_functions` handles functions with coins as arguments, and an unknown function is refused by name.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partialmethod
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from draftproof.simulators.audit.coins.combined import softmax
from draftproof.simulators.audit.coins.lazy import Lazy
from draftproof.simulators.audit.coins.sources import Chance, Seeded, Source
from draftproof.simulators.audit.coins.state import NotEnumerable
from draftproof.simulators.audit.stand_ins.generators import Generator, exponential, without_replacement
from draftproof.simulators.audit.stand_ins.torch_functions import COARSE, CoinTensors, Functions, objects
from draftproof.simulators.audit.stand_ins.triton_mode import following

KIND = {torch.float64: np.float64, torch.float16: np.float16}  # coins of other types are float32

REFUSED = ("randn", "randn_like", "normal", "poisson", "log_normal", "cauchy", "geometric", "dropout")
"""Random functions that cannot be enumerated here."""

Draw = Callable[[Source, type], Any]  # draws one number of a numpy type from a source


class Answering(TorchFunctionMode):
    """While entered, torch draws from the source."""

    def __init__(self, source: Source, dtype: str = "float32"):
        super().__init__()
        self.coins = CoinTensors()
        self.draws, self.functions = _Draws(source, self.coins), Functions(self.coins)
        exact = {"bfloat16": {*COARSE}, "float16": {torch.float16}}.get(dtype, ())
        self.draws.exact = self.functions.exact = frozenset(exact)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        raw = getattr(func, "__name__", "")
        name = raw.strip("_")
        inplace = raw.endswith("_") and not raw.startswith("_")
        draw = getattr(self.draws, f"draw_{name}", None)
        if draw is not None:
            return draw(func, args, kwargs)
        if name in REFUSED:
            raise NotEnumerable(f"torch.{raw} cannot be enumerated here")
        if not self.coins.holds(args) and not self.coins.holds(tuple(kwargs.values())):
            if inplace and args:
                self.coins.forget(args[0])
            return func(*args, **kwargs)
        if inplace:
            self.coins.decide([*args, *kwargs.values()])
        with np.errstate(all="ignore"):
            result = self.functions(func, name, args, kwargs)
        return self.coins.assign(args[0], result) if inplace else result

    def __enter__(self) -> Any:
        self._kernels = following(self.coins)
        self._kernels.__enter__()
        return super().__enter__()

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)
        self._kernels.__exit__(*raised)

    def tensor(self, values: np.ndarray, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """An array of coins as a tensor."""
        return self.coins.tensor(values.view(np.ndarray), torch.empty(0, dtype=dtype))


@contextmanager
def answering(source: Source, dtype: str = "float32") -> Iterator[Answering | None]:
    """While entered, torch draws from the source, or from its own generator if the source is a native one."""
    if isinstance(source, Chance) and source.native:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(int(source.rng.integers(2**62)))
            yield None
    else:
        with Answering(source, dtype) as mode:
            yield mode


class _Draws:
    """`draw_NAME(func, args, kwargs)` answers torch's NAME."""

    exact: frozenset[torch.dtype] = frozenset()  # types whose rounding the bound of the audit includes
    used = False  # whether something was drawn

    def __init__(self, source: Source, coins: CoinTensors):
        self.source, self.coins = source, coins

    def draw_rand(self, func: Any, args: Any, kwargs: Any, empty: Any = torch.empty) -> torch.Tensor:
        generator = kwargs.pop("generator", None)
        return self._filled(empty(*args, **kwargs), generator, lambda source, kind: source.uniform(kind))

    draw_rand_like = partialmethod(draw_rand, empty=torch.empty_like)

    def draw_uniform(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        low, high = (*args[1:], *(0.0, 1.0)[len(args) - 1 :])
        low, high = kwargs.get("from", low), kwargs.get("to", high)

        def one(source: Source, kind: type) -> Any:
            u = source.uniform(kind)
            return u if (low, high) == (0, 1) else low + (high - low) * u

        return self._filled(args[0], kwargs.get("generator"), one)

    def draw_exponential(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        rate = float(kwargs.get("lambd", args[1] if len(args) > 1 else 1.0))
        generator = kwargs.get("generator")
        return self._filled(args[0], generator, lambda source, kind: exponential(source, kind) / rate)

    def draw_bernoulli(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        p = kwargs.get("p", args[1] if len(args) > 1 else args[0])
        if isinstance(p, torch.Tensor) and not bool(((p >= 0) & (p <= 1)).all()):
            return func(*args, **kwargs)  # torch's own complaint
        coins = self._draws(args[0], kwargs.get("generator"), lambda source, kind: source.uniform(kind))
        heads = np.less(coins, objects(p) if isinstance(p, torch.Tensor) else float(p)).astype(bool)
        answer = torch.from_numpy(np.array(heads)).to(args[0].dtype)
        return args[0].copy_(answer) if func.__name__.endswith("_") else answer

    def draw_multinomial(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        names = ("input", "num_samples", "replacement")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        rows, count = given["input"], int(given["num_samples"])
        replacement = given.get("replacement", False)
        if self.coins.holds(rows):
            raise NotEnumerable("torch.multinomial of weights that depend on coins")
        plain = rows.detach().double()
        if not bool(torch.isfinite(plain).all() and (plain >= 0).all() and (plain.sum(-1) > 0).all()):
            return torch.multinomial(rows, count, replacement)  # torch's own complaint
        source = self._stream(given.get("generator"))
        drawn = [_categories(source, row, count, replacement) for row in plain.reshape(-1, plain.shape[-1])]
        return torch.tensor(drawn, dtype=torch.int64).reshape(*plain.shape[:-1], count)

    def draw_randint(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        bounds = [int(x) for x in args if not isinstance(x, tuple | list | torch.Size)]
        shape = next((x for x in args if isinstance(x, tuple | list | torch.Size)), kwargs.get("size", ()))
        drawn = Generator(self._stream(kwargs.get("generator"))).integers(*bounds, size=tuple(shape))
        return self.coins.tensor(
            drawn.view(np.ndarray), torch.empty(0, dtype=kwargs.get("dtype", torch.int64))
        )

    def draw_gumbel_softmax(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        names = ("logits", "tau", "hard", "eps", "dim")
        given = {"tau": 1.0, "hard": False, "dim": -1, **dict(zip(names, args, strict=False)), **kwargs}
        logits, dim = given["logits"], given["dim"]
        noise = self._draws(logits, None, lambda source, kind: -np.log(exponential(source, kind)))
        if not given["hard"]:
            return self.coins.tensor(softmax((objects(logits) + noise) / given["tau"], dim), logits)
        chosen = torch.from_numpy(np.argmax(objects(logits) + noise, axis=dim, keepdims=True))
        return torch.zeros_like(logits).scatter(dim, chosen, 1.0)

    def draw_randperm(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        return torch.from_numpy(Generator(self._stream(kwargs.get("generator"))).permutation(args[0]))

    def _filled(self, tensor: torch.Tensor, generator: Any, one: Draw) -> torch.Tensor:
        return self.coins.assign(tensor, self._draws(tensor, generator, one))

    def _draws(self, like: torch.Tensor, generator: Any, one: Draw) -> np.ndarray:
        source, kind = self._stream(generator), KIND.get(like.dtype, np.float32)
        if like.dtype in COARSE and like.dtype not in self.exact:
            source, kind = _Coarse(source, COARSE[like.dtype]), np.float32
        values = np.empty(like.numel(), dtype=object)
        values[:] = [one(source, kind) for _ in range(like.numel())]
        return values.reshape(tuple(like.shape))

    def _stream(self, generator: Any) -> Source:
        # The real generator's state identifies the stream and is advanced, so that the same seed repeats it.
        self.used = True
        generator = torch.default_generator if generator is None else generator
        state, source = state_of(generator), self.source
        torch.rand(1, generator=generator)
        if source.integers and state not in source.states:
            source.states |= {state_of(torch.Generator().manual_seed(seed)) for seed in source.integers}
        if state in source.states:
            source.states.add(state_of(generator))
        elif source.seeds is not None:
            source.seeds.met(("torch", state), "torch.manual_seed or torch.Generator")
        return _Stream(source, state)


def state_of(generator: torch.Generator) -> int:
    """A number that names the state of a generator."""
    return hash(generator.get_state().numpy().tobytes())


def _categories(source: Source, row: torch.Tensor, count: int, replacement: bool) -> list[int]:
    if replacement:
        return [source.choose(row.numpy()) for _ in range(count)]
    drawn = without_replacement(source, row.numpy(), count)
    if len(drawn) < count:  # torch continues with categories of weight zero, by the topk of a race
        places = torch.zeros(len(row))
        places[drawn] = torch.arange(len(drawn), 0, -1.0)
        drawn = places.topk(count).indices.tolist()
    return drawn


class _Coarse(Seeded):
    """Coins that are multiples of `step`, as torch draws them in narrow types."""

    def __init__(self, source: Source, step: float):
        super().__init__(source, step)
        self.step = step

    def uniform(self, kind: type = np.float64) -> Any:
        u = self.source.uniform(kind)
        return u.gridded(self.step) if isinstance(u, Lazy) else kind(np.floor(u / self.step) * self.step)


class _Stream(Seeded):
    """The draws of one generator state; categorical draws are remembered by row."""

    def choose(self, row: Any) -> int:
        return self._remembered(lambda: self.source.choose(row), tuple(map(float, row)))
