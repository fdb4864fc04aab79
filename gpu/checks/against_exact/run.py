"""All comparisons with the exact engine on one device, for plain torch and for the kernels, as one report."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import torch
from rich.table import Table

from draftproof.gpu import kernels
from draftproof.gpu.checks.against_exact.large import Closeness, closeness
from draftproof.gpu.checks.against_exact.noise import Agreement, agreement, fits, grouped
from draftproof.gpu.sampling.device import usable
from draftproof.gpu.verify import Batch, Outcome, Verifier, named
from draftproof.gpu.verify.verifier import CHAIN, DETERMINISTIC, STRATIFIED, WITH, WITHOUT
from draftproof.simulators import screen
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.suite import standard
from draftproof.simulators.laws.check import Family
from draftproof.simulators.support.pool import cores, shared
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree as Drawn
from draftproof.theory.instance import Instance

COMPILED, INTERPRETED = "compiled", "in Triton's interpreter"

PAIR = ((), ())
FEW: dict[str, tuple[Scheme, int]] = {
    CHAIN: (Chain(2), 2),
    WITH: (Drawn(PAIR, replacement=True), 2),
    WITHOUT: (Drawn(PAIR), 3),
    STRATIFIED: (Chain(1), 2),  # what is made for strata sums over classes of tokens, a minute a tree
    DETERMINISTIC: (TopK(PAIR), 3),
}
"""Kind of draft -> the draft and vocabulary of one instance in the interpreter, which is slow; a verifier's
is that of the last kind it is made for.
"""


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

    def table(self, title: str) -> Table:
        """One row per verifier."""
        vocab = max((each.vocab for each in self.large), default=0)
        headings = ["instances", "noise rows", "differ", f"V = {vocab:,}", "differ"]
        table = screen.table(title, "l" + "r" * len(headings), "verifier", *headings)
        table.columns[0].no_wrap = True
        for name in sorted({*self.noise, *(each.verifier for each in self.large)}):
            noise = self.noise.get(name, Agreement(name))
            large = [(each.rows, each.wrong) for each in self.large if each.verifier == name]
            counts = noise.instances, noise.rows, noise.wrong, *map(sum, zip((0, 0), *large, strict=True))
            table.add_row(name, *(f"{count:,}" for count in counts))
        return table


@dataclass
class Report:
    """Results for plain torch and for kernels: `run` says how these ran, or `skipped` why they did not."""

    device: str
    run: str | None
    skipped: str = ""
    plain: Found = field(default_factory=Found)
    kernels: Found = field(default_factory=Found)

    @classmethod
    def on(cls, device: str | None) -> "Report":
        """Nothing compared yet."""
        chosen = usable(device)
        if not kernels.AVAILABLE:
            return cls(str(chosen), None, "Triton is not installed")
        if chosen.type == "cuda":
            return cls(str(chosen), COMPILED)
        if torch.cuda.is_available():
            why = f"they are compiled for the GPU that is there, and the device is {chosen}"
            return cls(str(chosen), None, why)
        return cls(str(chosen), INTERPRETED)

    @property
    def ok(self) -> bool:
        """Whether all decisions agree and every error is within the bound for rounding."""
        return self.plain.ok and self.kernels.ok and all(each.of_margin <= 1 for each in self.plain.large)

    def answer(self) -> dict[str, Any]:
        """The JSON document."""
        plain, fused = (
            {"noise": [*map(asdict, each.noise.values())], "large": [*map(asdict, each.large)]}
            for each in (self.plain, self.kernels)
        )
        kernel = {"run": self.run, "skipped": self.skipped} | fused
        return {"device": self.device, "ok": self.ok} | plain | {"kernels": kernel}

    def tables(self) -> Iterator[Table | str]:
        """A table for plain torch, and one for the kernels or a line that says why there is none."""
        title = f"Batched verifiers compared with the exact engine, torch on {self.device}"
        yield self.plain.table(title)
        title = f"Kernels compared with the exact engine, {self.run}"
        yield self.kernels.table(title) if self.run else f"kernels skipped: {self.skipped}"

    def summary(self) -> str:
        """The verdict and what was compared, after a line for each difference at the large vocabulary."""
        both = [*self.plain.noise.values(), *self.kernels.noise.values()]
        rows, narrow = sum(each.rows for each in both), sum(each.narrow for each in both)
        verdict = "every decision is the exact engine's" if self.ok else "NOT all is as in the exact engine"
        differ = [
            f"{each.case}: {each.wrong} of {each.rows} rows of noise differ; first: {each.first}"
            for found in (self.plain, self.kernels)
            for each in found.large
            if each.wrong
        ]
        last = f"{verdict}: {rows:,} rows of noise, {narrow:,} cases narrower than float32;"
        return "\n".join([*differ, last])


def fill(report: Report, vocab: int, seed: int) -> Iterator[str]:
    """Compares at one large vocabulary, on a sample of the standard suite (kernels), and on all of it. Yields
    what was compared.

    The slowest part comes last: an interrupted run still reports what was compared before.
    """
    families = [family for family in standard() if len(family)]
    sample = [family[len(family) // 2] for family in families]
    report.plain.large += closeness(vocab, report.device, seed)
    yield f"V = {vocab:,}"
    yield from _kernels(report, sample, vocab, seed)
    yield from _noise(report, families)


def _kernels(report: Report, sample: Sequence[Instance], vocab: int, seed: int) -> Iterator[str]:
    found, compiled = report.kernels, report.run == COMPILED
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="triton")
        for name in kernels.NAMES if report.run else ():
            found.add(Agreement(name))
            for instance in sample if compiled else Randoms(*FEW[named(name).drafts[-1]], 1):
                if fits(named(name), instance):
                    found.add(next(agreement([instance], report.device, [fused(name)])))
            if compiled or name == kernels.NAMES[0]:  # the interpreter: one verifier, on a chain
                found.large += closeness(vocab, report.device, seed, [fused(name)], None if compiled else 1)
            yield f"kernels of {name}"


def _noise(report: Report, families: list[Family]) -> Iterator[str]:
    groups = list(grouped(families))
    processes = min(cores(), 1 + len(groups) // 8) if report.device == "cpu" else 1
    compare = partial(_agreements, device=report.device, threads=1 if processes > 1 else None)
    for instances, agreements in shared(compare, groups, processes):
        for found in agreements:
            report.plain.add(found)
        yield instances[0].name


def _agreements(instances: list[Instance], device: str, threads: int | None) -> list[Agreement]:
    if threads:
        torch.set_num_threads(threads)
    return list(agreement(instances, device))
