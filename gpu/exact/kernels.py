"""The kernels under the same ties: compiled on a GPU, elsewhere a few cases in Triton's interpreter."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from rich.table import Table

from draftproof.gpu import kernels
from draftproof.gpu.exact.large import Closeness, closeness
from draftproof.gpu.exact.noise import Agreement, agreement, fits
from draftproof.gpu.verify import Batch, Outcome, Verifier, named
from draftproof.simulators.instances.randoms import Randoms
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree as Drawn
from draftproof.theory.instance import Instance

COMPILED, INTERPRETED = "compiled", "in Triton's interpreter"

PAIR = ((), ())
FEW: dict[str, tuple[Scheme, int]] = {
    "token": (Chain(1), 3),
    "block": (Chain(2), 2),
    "greedy-block": (Chain(2), 2),
    "rrs": (Drawn(PAIR), 3),
    "specinfer": (Drawn(PAIR, replacement=True), 2),
    "traversal": (Drawn(PAIR), 3),
    "one-hot": (TopK(PAIR), 3),
    "nss": (Drawn(PAIR, replacement=True), 2),
}
"""What the interpreter, which is slow, is given: a draft and a vocabulary for each verifier."""

LARGE = ("block",)
"""What the interpreter runs at the large vocabulary, on a chain."""


class Fused(Verifier):
    """A verifier whose decisions are the kernels', from the logarithms of its rows."""

    def verify(self, batch: Batch) -> Outcome:
        return kernels.verify(self.name, batch.map_rows(torch.log))


def fused(name: str) -> Fused:
    """The verifier of that name, decided by its kernels."""
    return Fused(**vars(named(name)))


@dataclass
class Kernels:
    """How the kernels were run on a device, or why they were not, and what came out by verifier."""

    run: str | None
    skipped: str = ""
    noise: dict[str, Agreement] = field(default_factory=dict)
    large: list[Closeness] = field(default_factory=list)

    @classmethod
    def on(cls, device: str) -> "Kernels":
        """Nothing found yet."""
        if not kernels.AVAILABLE:
            return cls(None, "Triton is not installed")
        if torch.device(device).type == "cuda":
            return cls(COMPILED)
        if torch.cuda.is_available():
            return cls(None, f"they are compiled for the GPU that is there, and the device is {device}")
        return cls(INTERPRETED)

    @property
    def ok(self) -> bool:
        """Whether every decision is the exact engine's, and at the large vocabulary that of float64."""
        return not any(each.wrong for each in (*self.noise.values(), *self.large))

    def check(self, sample: Sequence[Instance], device: str, vocab: int, seed: int) -> Iterator[str]:
        """Fills in what is found; yields each verifier's name when it is done."""
        compiled = self.run == COMPILED
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=RuntimeWarning, module="triton")
            for name in kernels.NAMES if self.run else ():
                total = Agreement(name)
                for instance in sample if compiled else Randoms(*FEW[name], 1):
                    if fits(named(name), instance):
                        total += next(agreement([instance], device, [fused(name)]))
                self.noise[name] = total
                if compiled or name in LARGE:
                    cases = None if compiled else 1
                    self.large += closeness(vocab, 1, device, seed, {name: fused(name)}, cases)
                yield name

    def answer(self) -> dict[str, Any]:
        """Their part of the JSON document."""
        return {
            "run": self.run,
            "skipped": self.skipped,
            "noise": [asdict(each) for each in self.noise.values()],
            "large": [
                {key: value for key, value in asdict(each).items() if key not in ("rate", "of_margin", "row")}
                for each in self.large
            ],
        }

    def table(self) -> Table | str:
        """One row a verifier, or the line that says why there is none."""
        if not self.run:
            return f"kernels skipped: {self.skipped}"
        vocab = max((each.vocab for each in self.large), default=0)
        table = Table(title=f"Kernels beside the exact engine, {self.run}")
        table.add_column("verifier", no_wrap=True)
        for heading in ("instances", "noise rows", "differ", f"V = {vocab:,}", "differ"):
            table.add_column(heading, justify="right")
        for name, noise in self.noise.items():
            large = [each for each in self.large if each.verifier == name]
            counts = noise.instances, noise.rows, noise.wrong
            wide = (sum(each.rows for each in large), sum(each.wrong for each in large)) if large else ()
            table.add_row(name, *(f"{count:,}" for count in (*counts, *wide)))
        return table
