"""Repeats of every cell, interleaved, so that what disturbs one disturbs its neighbours too."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from time import perf_counter

from draftproof.gpu.device import wait
from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.drafters.model import ModelDrafter
from draftproof.gpu.engine.loop import fitting, generate
from draftproof.gpu.graphs import recording
from draftproof.gpu.models import Model
from draftproof.gpu.rows import Sampling
from draftproof.gpu.structures import Structure
from draftproof.gpu.throughput import peers
from draftproof.gpu.validate.acceptance import Acceptance, mean_accepted
from draftproof.gpu.verify import VERIFIERS, Verifier

DRAFTS = ("chain:4", "tree:2x3", "top-k:4x4x16")
PLAIN = "plain"
PHASES = ("draft", "target", "verify", "rest")
VERSUS = (("block", "token"), ("traversal", "rrs"), ("traversal", "specinfer"))
"""Pairs of verifiers, the better one first, whose block efficiency is compared."""


@dataclass(frozen=True)
class Plan:
    """What is measured: texts of `tokens` tokens, each repeat with a seed of its own."""

    tokens: int = 64
    repeats: int = 3
    seed: int = 0
    temperatures: tuple[float, ...] = (0.2, 0.6, 1.0)


@dataclass
class Cell:
    """One way of decoding at one temperature; a number a repeat. Peers and plain decoding draft nothing.

    `expected[name]`: E[tau | draft] of another verifier, or of this one, at every step that was run here,
    from the step's rows.
    """

    method: str
    draft: str
    temperature: float
    acceptance: Acceptance | None = None
    tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    accepted: list[float] = field(default_factory=list)
    phases: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))
    expected: dict[str, list[float]] = field(default_factory=dict)

    @property
    def speeds(self) -> list[float]:
        """Tokens a second of each repeat."""
        return [made / taken for made, taken in zip(self.tokens, self.seconds, strict=True)]


class Bench:
    """A pair, prompts and a plan. Cells fill while `run` goes on; `finished` repeats are whole."""

    def __init__(
        self,
        target: Model,
        drafter: Drafter,
        structures: Sequence[Structure],
        verifiers: Sequence[Verifier],
        prompts: Sequence[Sequence[int]],
        plan: Plan,
    ) -> None:
        self.target, self.drafter, self.prompts, self.plan = target, drafter, prompts, plan
        pairs = fitting(structures, verifiers, drafter)
        self.ways: list[tuple[Cell, Structure | None, Verifier | None]] = []
        chains = [shape for shape in structures if shape.kind == "chain"]
        for heat in plan.temperatures:
            self.ways += [(Cell(name, "", heat), None, None) for name in (PLAIN, peers.PLAIN)]
            if isinstance(drafter, ModelDrafter):  # which assisted generation needs, and a chain
                self.ways += [(Cell(peers.ASSISTED, chain.name, heat), chain, None) for chain in chains]
            for shape, verifier in pairs:
                cell = Cell(verifier.name, shape.name, heat, Acceptance(verifier, shape))
                cell.expected = {each.name: [] for each in _rivals(verifier, shape, pairs)}
                self.ways.append((cell, shape, verifier))

    @property
    def total(self) -> int:
        """Runs in all: cells times repeats."""
        return len(self.ways) * self.plan.repeats

    @property
    def cells(self) -> list[Cell]:
        """Those that have been measured at least once."""
        return [cell for cell, _, _ in self.ways if cell.tokens]

    def run(self) -> Iterator[Cell]:
        """All repeats; the first round, which is not counted, warms up one way of each kind."""
        self._warm_up()
        for repeat, (cell, shape, verifier) in product(range(self.plan.repeats), self.ways):
            self._once(cell, shape, verifier, self.plan.seed + repeat, self.prompts, self.plan.tokens)
            yield cell

    def _warm_up(self) -> None:
        """A text of every way, where it is recorded; elsewhere a short one of each kind."""
        recorded = recording(self.target.device) is not None
        kinds: set[Hashable] = set()
        for cell, shape, verifier in self.ways:
            kind: Hashable = id(cell) if recorded else (cell.method if verifier is None else "", cell.draft)
            if kind not in kinds:
                kinds.add(kind)
                tried = Cell(cell.method, cell.draft, cell.temperature)
                tokens = self.plan.tokens if recorded else 8
                self._once(tried, shape, verifier, self.plan.seed, self.prompts[:1], tokens)

    def _once(
        self,
        cell: Cell,
        shape: Structure | None,
        verifier: Verifier | None,
        seed: int,
        prompts: Sequence[Sequence[int]],
        tokens: int,
    ) -> None:
        if verifier is None and cell.method != PLAIN:
            gamma = shape.depth if shape else None
            made, taken = peers.run(
                cell.method, self.target, self.drafter, gamma, prompts, tokens, cell.temperature, seed
            )
            cell.tokens.append(made)
            cell.seconds.append(taken)
            return
        made, steps, accepted, taken = 0, 0, 0, 0.0
        for number, prompt in enumerate(prompts):
            clock = perf_counter()
            run = generate(
                self.target,
                self.drafter if shape else None,
                [prompt],
                verifier=verifier or VERIFIERS["token"],
                structure=shape,
                sampling=Sampling(cell.temperature),
                max_new_tokens=tokens,
                ignore_end=True,
                seed=[seed * len(self.prompts) + number],
                timed=True,
            )
            while True:
                step = next(run, None)
                wait(self.target.device)
                taken += perf_counter() - clock
                if step is None:
                    break
                made += len(step.emitted[0])
                accepted, steps = accepted + step.accepted[0], steps + 1
                for phase in PHASES:
                    cell.phases[phase] += step.seconds[phase]
                if cell.acceptance is not None:
                    cell.acceptance.add(step)
                for name, means in cell.expected.items():
                    means += mean_accepted(VERIFIERS[name], step).tolist()
                clock = perf_counter()
        cell.tokens.append(made)
        cell.seconds.append(taken)
        cell.accepted.append(accepted / max(steps, 1))


def _rivals(
    verifier: Verifier, shape: Structure, pairs: Sequence[tuple[Structure, Verifier]]
) -> list[Verifier]:
    """Those it is compared with as the worse one, and itself; none where there is nobody."""
    better = [name for name, worse in VERSUS if worse == verifier.name]
    found = [each for draft, each in pairs if draft is shape and each.name in better]
    return [*found, verifier] if found else []
