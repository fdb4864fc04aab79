"""Replaces torch's random functions by a source and follows the coins through torch's other functions.

While a foreign function runs, `Answering` intercepts every torch function: random functions draw coins,
`torch_functions` handles functions with coins as arguments, and an unknown function is refused by name.
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partialmethod
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from draftproof.simulators.audit.coins.sources import Seeded, Source, Words
from draftproof.simulators.audit.coins.state import NotEnumerable
from draftproof.simulators.audit.stand_ins.generators import Generator, exponential, without_replacement
from draftproof.simulators.audit.stand_ins.torch_functions import CoinTensors, Functions, objects, words
from draftproof.simulators.audit.stand_ins.triton_mode import following

KIND = {torch.float64: np.float64, torch.float16: np.float16}  # coins of other types are float32

REFUSED = words("randn randn_like randperm normal poisson log_normal cauchy geometric dropout")
"""Random functions that cannot be enumerated here."""

Draw = Callable[[Source, type], Any]  # draws one number of a numpy type from a source


class Answering(TorchFunctionMode):
    """While entered, torch draws from the source: `draw_NAME(func, args, kwargs)` answers torch's NAME."""

    used = False  # whether something was drawn

    def __init__(self, source: Source, dtype: str = "float32"):
        super().__init__()
        self.source, self.coins = source, CoinTensors(dtype)
        self.functions = Functions(self.coins)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        raw = getattr(func, "__name__", "")
        name = raw.strip("_")
        inplace = raw.endswith("_") and not raw.startswith("_")
        draw = getattr(self, f"draw_{name}", None)
        if draw is not None:
            return draw(func, args, kwargs)
        if name in REFUSED:
            raise NotEnumerable(f"torch.{raw} cannot be enumerated here")
        if not self.coins.holds(args) and not self.coins.holds(tuple(kwargs.values())):
            if inplace and args:
                self.coins.forget(args[0])
            return func(*args, **kwargs)
        with np.errstate(all="ignore"):
            result = self.functions(func, name, args, kwargs)
        return self.coins.assign(args[0], result) if inplace else result

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
        generator = kwargs.get("generator")
        coins = self._draws(args[0], generator, lambda source, kind: source.uniform(kind), "bernoulli")
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
        rows = plain.reshape(-1, plain.shape[-1])
        with self._stream(given.get("generator")) as source:
            drawn = [_categories(source, row, count, replacement) for row in rows]
        return torch.tensor(drawn, dtype=torch.int64).reshape(*plain.shape[:-1], count)

    def draw_randint(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        bounds = [int(x) for x in args if not isinstance(x, tuple | list | torch.Size)]
        shape = next((x for x in args if isinstance(x, tuple | list | torch.Size)), kwargs.get("size", ()))
        with self._stream(kwargs.get("generator")) as source:
            drawn = Generator(source).integers(*bounds, size=tuple(shape))
        return self.coins.tensor(
            drawn.view(np.ndarray), torch.empty(0, dtype=kwargs.get("dtype", torch.int64))
        )

    def _filled(self, tensor: torch.Tensor, generator: Any, one: Draw, use: str = "") -> torch.Tensor:
        return self.coins.assign(tensor, self._draws(tensor, generator, one, use))

    def _draws(self, like: torch.Tensor, generator: Any, one: Draw, use: str = "") -> np.ndarray:
        kind = KIND.get(like.dtype, np.float32)
        self.coins.fine(like.dtype)
        with self._stream(generator, use) as source:
            if isinstance(self.source, Words):
                return self.source.block(lambda: one(source, kind), like.numel()).reshape(tuple(like.shape))
            values = np.array([one(source, kind) for _ in range(like.numel())], dtype=object)
        return values.reshape(tuple(like.shape))

    @contextmanager
    def _stream(self, generator: Any, use: str = "") -> Iterator[Source]:
        # The real generator's state says which stream it is and where, and is advanced with it.
        self.used = True
        generator, source = torch.default_generator if generator is None else generator, self.source
        state = state_of(generator)
        first, drawn = source.keyed.get(("torch", state), (state, 0))
        made_of_drawn = any(first == _state_of_seed(seed) for seed in source.integers)
        if not made_of_drawn and source.seeds is not None:
            past = source.past | source.seeds.carried
            source.seeds.met(("torch", first), "torch.manual_seed or torch.Generator", past)
        stream = _Stream(source, ("torch", first), drawn)
        stream.use = use
        yield stream
        torch.rand(stream.drawn - drawn, generator=generator)
        source.keyed["torch", state_of(generator)] = first, stream.drawn


@contextmanager
def answering(source: Source, dtype: str = "float32") -> Iterator[Answering]:
    """While entered, torch draws from the source."""
    mode = Answering(source, dtype)
    with following(mode.coins), mode:
        yield mode


def state_of(generator: torch.Generator) -> int:
    """A number that names the state of a generator."""
    return hash(generator.get_state().numpy().tobytes())


@lru_cache(maxsize=65536)
def _state_of_seed(seed: int) -> int:
    return state_of(torch.Generator().manual_seed(seed))


def _categories(source: Source, row: torch.Tensor, count: int, replacement: bool) -> list[int]:
    if replacement and count > 1:
        return [source.choose(row.numpy()) for _ in range(count)]
    drawn = without_replacement(source, row.numpy(), count)
    if len(drawn) < count:  # torch continues with categories of weight zero, by the topk of a race
        places = torch.zeros(len(row))
        places[drawn] = torch.arange(len(drawn), 0, -1.0)
        drawn = places.topk(count).indices.tolist()
    return drawn


class _Stream(Seeded):
    """The draws of one generator by the function `use`; categorical draws are remembered by row."""

    use = ""

    def uniform(self, kind: type = np.float64, use: Hashable = "") -> Any:
        return super().uniform(kind, (self.use, use))

    def choose(self, row: Any, use: Hashable = "") -> int:
        what = use, np.asarray(row, np.float64).tobytes()
        return self.remembered(lambda: self.source.choose(row, use), what)
