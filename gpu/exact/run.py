"""All comparisons with the exact engine on one device, for plain torch and for the kernels, as one report."""

import warnings
from collections.abc import Callable, Iterator, Sequence
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
"""Called with the stage, the number of instances done, and the total."""

TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}

COMPILED, INTERPRETED = "compiled", "in Triton's interpreter"

PAIR = ((), ())
FEW: dict[str, tuple[Scheme, int]] = {
    "token": (Chain(1), 3),
    "block": (Chain(2), 2),
    "greedy-block": (Chain(2), 2),
    "priority": (Chain(1), 2),
    "lifted-priority": (Chain(1), 2),
    "rrs": (Drawn(PAIR), 3),
    "specinfer": (Drawn(PAIR, replacement=True), 2),
    "traversal": (Drawn(PAIR), 3),
    "one-hot": (TopK(PAIR), 3),
    "nss": (Drawn(PAIR, replacement=True), 2),
}
"""Draft and vocabulary of each verifier's one instance in the interpreter, which is slow."""


class Fused(Verifier):
    """A verifier that runs its kernels, on the logarithms of its rows."""

    def verify(self, batch: Batch, softmax: bool = False) -> Outcome:
        return kernels.verify(self.name, batch.map_rows(torch.log))


def fused(name: str) -> Fused:
    """The verifier of that name, run by its kernels."""
    return Fused(**vars(named(name)))


@dataclass
class Found:
    """The agreement of each verifier, and the comparisons at the large vocabulary."""

    noise: dict[str, Agreement] = field(default_factory=dict)
    large: list[Closeness] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether all decisions agree with the exact engine and, at the large vocabulary, with float64."""
        return not any(each.wrong for each in (*self.noise.values(), *self.large))

    def add(self, found: Agreement) -> None:
        """Adds an agreement to the earlier ones of its verifier."""
        self.noise[found.verifier] = self.noise.get(found.verifier, Agreement(found.verifier)) + found


@dataclass
class Kernels(Found):
    """Results for the kernels: `run` says how they were run, or `skipped` why they were not."""

    run: str | None = None
    skipped: str = ""

    @classmethod
    def on(cls, device: str) -> "Kernels":
        """Nothing compared yet."""
        if not kernels.AVAILABLE:
            return cls(skipped="Triton is not installed")
        if torch.device(device).type == "cuda":
            return cls(run=COMPILED)
        if torch.cuda.is_available():
            return cls(skipped=f"they are compiled for the GPU that is there, and the device is {device}")
        return cls(run=INTERPRETED)

    def check(self, sample: Sequence[Instance], device: str, vocab: int, seed: int) -> Iterator[str]:
        """Compares one verifier after the other; yields the name of each when it is done."""
        compiled = self.run == COMPILED
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=RuntimeWarning, module="triton")
            for name in kernels.NAMES if self.run else ():
                self.add(Agreement(name))
                for instance in sample if compiled else Randoms(*FEW[name], 1):
                    if fits(named(name), instance):
                        self.add(next(agreement([instance], device, [fused(name)])))
                if compiled or name == "block":  # the interpreter: one verifier, on a chain
                    self.large += closeness(vocab, device, seed, [fused(name)], None if compiled else 1)
                yield name

    def answer(self) -> dict[str, Any]:
        """The kernels' part of the JSON document."""
        keys = "verifier", "draft", "logits", "vocab", "rows", "wrong"
        return {
            "run": self.run,
            "skipped": self.skipped,
            "noise": [asdict(each) for each in self.noise.values()],
            "large": [{key: getattr(each, key) for key in keys} for each in self.large],
        }

    def table(self) -> Table | str:
        """One row per verifier, or a line that says why there is no table."""
        if not self.run:
            return f"kernels skipped: {self.skipped}"
        return _table(f"Kernels compared with the exact engine, {self.run}", self)


@dataclass
class Report(Found):
    """Results of the comparisons for plain torch and for the kernels."""

    device: str = "cpu"
    kernels: Kernels = field(default_factory=Kernels)
    # The largest `own` and `ideal` of `rounding.Rounded`, by verifier and type of the rows.
    laws: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)
    complete: bool = False

    @classmethod
    def on(cls, device: str | None) -> "Report":
        """Nothing compared yet."""
        chosen = str(usable(device))
        return cls(device=chosen, kernels=Kernels.on(chosen))

    @property
    def ok(self) -> bool:
        """Whether all decisions agree and every error is within the bound for rounding."""
        return (
            super().ok
            and all(own <= ROUNDING for by_type in self.laws.values() for own, _ in by_type.values())
            and all(each.of_margin <= 1 for each in self.large)
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
        """One row per verifier."""
        return _table(
            f"Batched verifiers compared with the exact engine, torch on {self.device}", self, self.laws
        )

    def summary(self) -> str:
        """One line: the verdict and what was compared."""
        both = [*self.noise.values(), *self.kernels.noise.values()]
        rows, narrow = sum(each.rows for each in both), sum(each.narrow for each in both)
        verdict = "every decision is the exact engine's" if self.ok else "NOT all is as in the exact engine"
        return f"{verdict}: {rows:,} rows of noise, {narrow:,} cases narrower than float32;"


def _table(title: str, found: Found, laws: dict[str, dict[str, tuple[float, float]]] | None = None) -> Table:
    # Without `laws` the table has no columns of errors.
    vocab, kinds = max((each.vocab for each in found.large), default=0), () if laws is None else TYPES
    headings = ["instances", "noise rows", "differ", *(f"TV {kind}" for kind in kinds)]
    headings += [f"V = {vocab:,}", "differ", *(["rate error"] if laws is not None else [])]
    table = Table(title=title)
    table.add_column("verifier", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right")
    for name in sorted({*found.noise, *(laws or ()), *(each.verifier for each in found.large)}):
        noise, large = found.noise.get(name), [each for each in found.large if each.verifier == name]
        cells = [f"{count:,}" for count in (noise.instances, noise.rows, noise.wrong)] if noise else [""] * 3
        cells += [f"{laws[name][kind][0]:.1e}" if laws and name in laws else "" for kind in kinds]
        if large:
            cells += [f"{sum(each.rows for each in large):,}", f"{sum(each.wrong for each in large):,}"]
            cells += [f"{max(each.rate for each in large):.1e}"] * (laws is not None)
        table.add_row(name, *cells)
    return table


def fill(report: Report, vocab: int, seed: int, progress: Progress) -> None:
    """Compares on the standard suite, on a sample of it (laws and kernels), and at one large vocabulary.

    The slowest part comes last: an interrupted run still reports what was compared before.
    """
    families = [family for family in standard() if len(family)]
    sample = [family[len(family) // 2] for family in families]
    progress(f"V = {vocab:,}", 0, 1)
    for each in closeness(vocab, report.device, seed):
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
            report.add(found)
        done += len(instances)
        progress("same noise", done, of)
    report.noise = dict(sorted(report.noise.items()))


def _laws(report: Report, families: list[Family], progress: Progress) -> None:
    for done, family in enumerate(families, 1):
        quartiles = [family[i] for i in sorted({quarter * len(family) // 4 for quarter in (1, 2, 3)})]
        for instance, verifier in product(quartiles, VERIFIERS.values()):
            if fits(verifier, instance):
                by_type = report.laws.setdefault(verifier.name, dict.fromkeys(TYPES, (0.0, 0.0)))
                for kind, dtype in TYPES.items():
                    found = rounded(verifier, instance, dtype, report.device)
                    own, ideal = by_type[kind]
                    by_type[kind] = max(own, float(found.own)), max(ideal, float(found.ideal))
        progress("exact laws", done, len(families))
