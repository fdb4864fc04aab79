"""All three ties on one device, of plain torch and of the kernels, gathered into one report."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

import torch
from rich.table import Table

from draftproof.gpu.device import usable
from draftproof.gpu.exact.kernels import Kernels
from draftproof.gpu.exact.large import Closeness, closeness
from draftproof.gpu.exact.law import rounded
from draftproof.gpu.exact.margin import STEPS, UNIT
from draftproof.gpu.exact.noise import Agreement, agreement, fits, grouped
from draftproof.gpu.kernels import NAMES
from draftproof.gpu.verify import VERIFIERS
from draftproof.simulators.check import Family
from draftproof.simulators.instances.suite import standard

Tell = Callable[[str, int, int], None]
"""Progress: (stage, instances done, of how many)."""

TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}

ROUNDING = STEPS * UNIT[torch.float32]
"""Largest total variation that float32 arithmetic is allowed: each entry may move by a relative STEPS u."""


@dataclass
class Report:
    """What the three ties found, by verifier, and what they found for the kernels."""

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
        table = Table(title=f"Batched verifiers beside the exact engine, torch on {self.device}")
        vocab = max((each.vocab for each in self.large), default=0)
        noisy, large = ("instances", "noise rows", "differ"), (f"V = {vocab:,}", "differ", "rate error")
        table.add_column("verifier", no_wrap=True)
        for heading in (*noisy, *(f"TV {kind}" for kind in TYPES), *large):
            table.add_column(heading, justify="right")
        for name in sorted({*self.noise, *self.laws, *(each.verifier for each in self.large)}):
            noise, laws = self.noise.get(name), self.laws.get(name)
            large = [each for each in self.large if each.verifier == name]
            counts = (noise.instances, noise.rows, noise.wrong) if noise else ()
            table.add_row(
                name,
                *([f"{count:,}" for count in counts] or [""] * 3),
                *(f"{laws[kind][0]:.1e}" if laws else "" for kind in TYPES),
                f"{sum(each.rows for each in large):,}",
                f"{sum(each.wrong for each in large):,}",
                f"{max((each.rate for each in large), default=0):.1e}",
            )
        return table

    def summary(self) -> str:
        """One line: what was compared, and whether it held."""
        both = [*self.noise.values(), *self.kernels.noise.values()]
        rows, narrow = sum(each.rows for each in both), sum(each.narrow for each in both)
        verdict = "every decision is the exact engine's" if self.ok else "NOT all is as in the exact engine"
        return f"{verdict}: {rows:,} rows of noise, {narrow:,} cases narrower than float32;"


def fill(report: Report, vocab: int, seed: int, tell: Tell) -> None:
    """The standard suite, a sample of it for the laws and for the kernels, and one large vocabulary.

    What takes long comes last, and an interrupted report keeps what was compared until then.
    """
    families = [family for family in standard() if len(family)]
    sample = [family[len(family) // 2] for family in families]
    tell(f"V = {vocab:,}", 0, 1)
    for each in closeness(vocab, device=report.device, seed=seed):
        report.large.append(each)
    tell("kernels", 0, len(NAMES))
    for done, _ in enumerate(report.kernels.check(sample, report.device, vocab, seed), 1):
        tell("kernels", done, len(NAMES))
    _noise(report, families, tell)
    _laws(report, families, tell)
    report.complete = True


def _noise(report: Report, families: list[Family], tell: Tell) -> None:
    done, of = 0, sum(map(len, families))
    for instances in grouped(families):
        for found in agreement(instances, report.device):
            known = report.noise.get(found.verifier)
            report.noise[found.verifier] = found if known is None else known + found
        done += len(instances)
        tell("same noise", done, of)
    report.noise = dict(sorted(report.noise.items()))


def _laws(report: Report, families: list[Family], tell: Tell) -> None:
    for done, family in enumerate(families):
        quartiles = [family[i] for i in sorted({quarter * len(family) // 4 for quarter in (1, 2, 3)})]
        for instance, verifier in product(quartiles, VERIFIERS.values()):
            if fits(verifier, instance):
                by_type = report.laws.setdefault(verifier.name, dict.fromkeys(TYPES, (0.0, 0.0)))
                for kind, dtype in TYPES.items():
                    found = rounded(verifier, instance, dtype, report.device)
                    own, ideal = by_type[kind]
                    by_type[kind] = max(own, float(found.own)), max(ideal, float(found.ideal))
        tell("exact laws", done + 1, len(families))
