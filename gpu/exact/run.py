"""All comparisons on one device, of plain torch and of the kernels, gathered into one report."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

import torch
from rich.table import Table

from draftproof.gpu import kernels
from draftproof.gpu.device import usable
from draftproof.gpu.exact.large import Closeness, closeness
from draftproof.gpu.exact.noise import Agreement, agreement, fits, grouped
from draftproof.gpu.exact.rounding import ROUNDING, rounded
from draftproof.gpu.verify import VERIFIERS, Batch, Outcome, Verifier, named
from draftproof.simulators.check import Family
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.suite import standard
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree as Drawn
from draftproof.theory.instance import Instance

Progress = Callable[[str, int, int], None]
"""Called with the stage, how many instances are done, and of how many."""

TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}

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
"""Draft and vocabulary of the one instance that each verifier has in the interpreter, which is slow."""

LARGE = ("block",)
"""Verifiers that the interpreter runs at the large vocabulary, on a chain."""


class Fused(Verifier):
    """A verifier whose decisions are made by its kernels, from the logarithms of its rows."""

    def verify(self, batch: Batch) -> Outcome:
        return kernels.verify(self.name, batch.map_rows(torch.log))


def fused(name: str) -> Fused:
    """The verifier of that name, decided by its kernels."""
    return Fused(**vars(named(name)))


@dataclass
class Kernels:
    """What was found for the kernels, by verifier; how they were run on a device, or why they were not."""

    run: str | None
    skipped: str = ""
    noise: dict[str, Agreement] = field(default_factory=dict)
    large: list[Closeness] = field(default_factory=list)

    @classmethod
    def on(cls, device: str) -> "Kernels":
        """Nothing compared yet."""
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
        table = _table(f"Kernels beside the exact engine, {self.run}", self.large)
        for name, noise in self.noise.items():
            table.add_row(name, *_noise_cells(noise), *_large_cells(self.large, name))
        return table


@dataclass
class Report:
    """What the comparisons found, by verifier, and what they found for the kernels."""

    device: str
    kernels: Kernels
    complete: bool = False
    noise: dict[str, Agreement] = field(default_factory=dict)
    laws: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)
    large: list[Closeness] = field(default_factory=list)

    @classmethod
    def on(cls, device: str | None) -> "Report":
        """Nothing compared yet."""
        chosen = str(usable(device))
        return cls(chosen, Kernels.on(chosen))

    @property
    def ok(self) -> bool:
        """Whether no decision differs and every error is within what rounding explains."""
        return (
            not any(each.wrong for each in self.noise.values())
            and all(own <= ROUNDING for by_type in self.laws.values() for own, _ in by_type.values())
            and not any(each.wrong or each.of_margin > 1 for each in self.large)
            and self.kernels.ok
        )

    def answer(self) -> dict[str, Any]:
        """The JSON document."""
        return {
            "device": self.device,
            "ok": self.ok,
            "complete": self.complete,
            "noise": [asdict(each) for each in self.noise.values()],
            "laws": [
                {"verifier": name, "type": kind, "total_variation": own, "with_rounded_input": ideal}
                for name, by_type in self.laws.items()
                for kind, (own, ideal) in by_type.items()
            ],
            "large": [asdict(each) for each in self.large],
            "kernels": self.kernels.answer(),
        }

    def table(self) -> Table:
        """One row a verifier."""
        title = f"Batched verifiers beside the exact engine, torch on {self.device}"
        table = _table(title, self.large, (f"TV {kind}" for kind in TYPES), ("rate error",))
        for name in sorted({*self.noise, *self.laws, *(each.verifier for each in self.large)}):
            laws = self.laws.get(name)
            table.add_row(
                name,
                *_noise_cells(self.noise.get(name)),
                *(f"{laws[kind][0]:.1e}" if laws else "" for kind in TYPES),
                *_large_cells(self.large, name, always=True),
                f"{max((each.rate for each in self.large if each.verifier == name), default=0):.1e}",
            )
        return table

    def summary(self) -> str:
        """One line: what was compared, and whether it held."""
        both = [*self.noise.values(), *self.kernels.noise.values()]
        rows, narrow = sum(each.rows for each in both), sum(each.narrow for each in both)
        verdict = "every decision is the exact engine's" if self.ok else "NOT all is as in the exact engine"
        return f"{verdict}: {rows:,} rows of noise, {narrow:,} cases narrower than float32;"


def _table(title: str, large: list[Closeness], laws: Iterable[str] = (), last: Iterable[str] = ()) -> Table:
    vocab = max((each.vocab for each in large), default=0)
    table = Table(title=title)
    table.add_column("verifier", no_wrap=True)
    for heading in ("instances", "noise rows", "differ", *laws, f"V = {vocab:,}", "differ", *last):
        table.add_column(heading, justify="right")
    return table


def _noise_cells(noise: Agreement | None) -> list[str]:
    return [f"{count:,}" for count in (noise.instances, noise.rows, noise.wrong)] if noise else [""] * 3


def _large_cells(large: list[Closeness], name: str, always: bool = False) -> list[str]:
    own = [each for each in large if each.verifier == name]
    counts = sum(each.rows for each in own), sum(each.wrong for each in own)
    return [f"{count:,}" for count in counts] if own or always else ["", ""]


def fill(report: Report, vocab: int, seed: int, progress: Progress) -> None:
    """The standard suite, a sample of it for the laws and for the kernels, and one large vocabulary.

    What takes long comes last, and an interrupted report keeps what was compared until then.
    """
    families = [family for family in standard() if len(family)]
    sample = [family[len(family) // 2] for family in families]
    progress(f"V = {vocab:,}", 0, 1)
    for each in closeness(vocab, device=report.device, seed=seed):
        report.large.append(each)
    progress("kernels", 0, len(kernels.NAMES))
    for done, _ in enumerate(report.kernels.check(sample, report.device, vocab, seed), 1):
        progress("kernels", done, len(kernels.NAMES))
    _noise(report, families, progress)
    _laws(report, families, progress)
    report.complete = True


def _noise(report: Report, families: list[Family], progress: Progress) -> None:
    done, of = 0, sum(map(len, families))
    for instances in grouped(families):
        for found in agreement(instances, report.device):
            known = report.noise.get(found.verifier)
            report.noise[found.verifier] = found if known is None else known + found
        done += len(instances)
        progress("same noise", done, of)
    report.noise = dict(sorted(report.noise.items()))


def _laws(report: Report, families: list[Family], progress: Progress) -> None:
    for done, family in enumerate(families):
        quartiles = [family[i] for i in sorted({quarter * len(family) // 4 for quarter in (1, 2, 3)})]
        for instance, verifier in product(quartiles, VERIFIERS.values()):
            if fits(verifier, instance):
                by_type = report.laws.setdefault(verifier.name, dict.fromkeys(TYPES, (0.0, 0.0)))
                for kind, dtype in TYPES.items():
                    found = rounded(verifier, instance, dtype, report.device)
                    own, ideal = by_type[kind]
                    by_type[kind] = max(own, float(found.own)), max(ideal, float(found.ideal))
        progress("exact laws", done + 1, len(families))
