"""Timed decoding with real models; the cells take turns, so that other load slows all of them alike."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from statistics import fmean
from time import perf_counter
from typing import Any

import torch

from draftproof.gpu.checks.models.acceptance import Acceptance, mean_accepted
from draftproof.gpu.checks.models.greedy import generated
from draftproof.gpu.drafters.drafter import Drafter, ModelDrafter
from draftproof.gpu.engine.decoding import cannot_select, fitting
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.output import Step
from draftproof.gpu.engine.prompts import Prompt
from draftproof.gpu.engine.selection import Selection
from draftproof.gpu.network.graphs import recording
from draftproof.gpu.network.models import Model, quiet
from draftproof.gpu.network.session import Structure
from draftproof.gpu.sampling.device import wait
from draftproof.gpu.sampling.rows import PLAIN as PLAIN_ROWS
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import VERIFIERS, Verifier

DRAFTS = ("chain:4", "tree:2x3", "top-k:4x4x16")
PLAIN, TRANSFORMERS, ASSISTED = "plain", "transformers plain", "transformers assisted"
"""Methods without a verifier: this engine's plain decoding, transformers' plain and assisted generation."""
VERSUS = (("block", "token"), ("shaped-block", "block"), ("traversal", "rrs"), ("traversal", "specinfer"))
"""Pairs of verifiers whose block efficiency is compared, the better one first."""
WARM = 8
"""Tokens of a text that is decoded before anything is timed."""


@dataclass(frozen=True)
class Plan:
    """What is measured: each repeat generates texts of `tokens` tokens from a seed of its own, at most as
    many at once as each of the `batches` says; when one ends, the next begins.
    """

    tokens: int = 64
    batches: tuple[int, ...] = (1,)
    repeats: int = 3
    seed: int = 0
    temperatures: tuple[float, ...] = (0.2, 0.6, 1.0)


@dataclass(frozen=True)
class Repeat:
    """One repeat of a cell: the tokens of all texts, the seconds that they took, prompts included, and, if
    this engine decoded, the calls of the target and the drafted tokens that these verified.
    """

    tokens: int
    seconds: float
    calls: int = 0
    verified: int = 0


@dataclass
class Cell:
    """One way of decoding at one temperature, at most `batch` texts at once."""

    method: str
    temperature: float
    structure: Structure | None = None
    verifier: Verifier | None = None
    acceptance: Acceptance | None = None
    batch: int = 1
    selection: Selection | None = None
    expected: dict[str, list[float]] = field(default_factory=dict)
    """E[tau | draft] of other verifiers at each step of this one's texts, by name."""
    asked: list[int] = field(default_factory=list)
    """The number of the prompt that each step belongs to: its repeats depend on one another."""
    taus: list[int] = field(default_factory=list)
    """The accepted tokens of each step of each text."""
    repeats: list[Repeat] = field(default_factory=list)
    phases: Counter[str] = field(default_factory=Counter)

    @property
    def draft(self) -> str:
        return self.structure.name if self.structure else ""

    @property
    def speeds(self) -> list[float]:
        """Tokens a second of each repeat."""
        return [each.tokens / each.seconds for each in self.repeats]

    def a_call(self, name: str) -> float | None:
        """The mean of a number a call of the target over the repeats; None if calls were not counted."""
        known = [getattr(each, name) / each.calls for each in self.repeats if each.calls]
        return fmean(known) if known else None

    def untimed(self) -> "Cell":
        """The same way of decoding, nothing measured."""
        empty = {"expected": {}, "asked": [], "taus": [], "repeats": [], "phases": Counter()}
        return replace(self, acceptance=None, **empty)


@dataclass
class Bench:
    """A model pair, prompts and a plan. `run` fills the cells; repeats that it has yielded are complete.

    Verifiers of chains run once with every drafted token and once with each of the `selections`. Packages
    that decode one text at a time are not run with larger batches. The temperatures of `sampling`
    and `draft_sampling` are replaced by the plan's, and the drafter's by `draft_temperature`, if it is given.
    """

    target: Model
    drafter: Drafter
    structures: Sequence[Structure]
    verifiers: Sequence[Verifier]
    prompts: Sequence[Prompt]
    plan: Plan
    selections: Sequence[Selection] = ()
    sampling: Sampling = PLAIN_ROWS
    draft_sampling: Sampling = PLAIN_ROWS
    draft_temperature: float | None = None

    def __post_init__(self) -> None:
        pairs = fitting(self.structures, self.verifiers, self.drafter, self.target)
        chains = [shape for shape in self.structures if shape.kind == "chain"]
        self.ways: list[Cell] = []
        for heat, batch in product(self.plan.temperatures, self.plan.batches):
            self.ways.append(Cell(PLAIN, heat, batch=batch))
            if batch == 1:
                self.ways.append(Cell(TRANSFORMERS, heat))
            if batch == 1 and type(self.drafter) is ModelDrafter:  # assisted generation needs a model, chains
                self.ways += [Cell(ASSISTED, heat, shape) for shape in chains]
            for shape, verifier in pairs:
                better = {name for name, worse in VERSUS if worse == verifier.name}
                found = [each.name for draft, each in pairs if draft is shape and each.name in better]
                cell = Cell(verifier.name, heat, shape, verifier, Acceptance(verifier, shape), batch)
                cell.expected = {name: [] for name in (*found, verifier.name) if found}
                self.ways.append(cell)
                for each in self.selections if cannot_select(verifier, shape) is None else ():
                    measured = Acceptance(verifier, shape, by_value=not each.rule.predictable)
                    named = f"{verifier.name} {each.rule.name}"
                    self.ways.append(Cell(named, heat, shape, verifier, measured, batch, each))

    @property
    def total(self) -> int:
        """Total number of runs: cells times repeats."""
        return len(self.ways) * self.plan.repeats

    @property
    def cells(self) -> list[Cell]:
        """The cells that have been measured at least once."""
        return [cell for cell in self.ways if cell.repeats]

    def run(self) -> Iterator[Cell]:
        """Runs all repeats. Before, untimed, each cell decodes a whole text if passes become CUDA graphs, and
        a short one for each kind of pass otherwise.
        """
        recorded = recording(self.target.device) is not None
        kinds = {
            index if recorded else (cell.verifier is None and cell.method, cell.draft, cell.batch): cell
            for index, cell in enumerate(self.ways)
        }
        for cell in kinds.values():
            tokens = self.plan.tokens if recorded else WARM
            self._once(cell.untimed(), self.plan.seed, self.prompts[: cell.batch], tokens)
        for repeat, cell in product(range(self.plan.repeats), self.ways):
            self._once(cell, self.plan.seed + repeat, self.prompts, self.plan.tokens)
            yield cell

    def _once(self, cell: Cell, seed: int, prompts: Sequence[Prompt], tokens: int) -> None:
        """One repeat: every prompt with a seed of its own."""
        given = [prompt.ids for prompt in prompts]
        if cell.method in (TRANSFORMERS, ASSISTED):
            cell.repeats.append(self._transformers(cell, given, seed, tokens))
            return
        heat, own = cell.temperature, self.draft_temperature
        clock = perf_counter()
        steps = generate(
            self.target,
            self.drafter if cell.structure else None,
            given,
            verifier=cell.verifier or VERIFIERS["token"],
            structure=cell.structure,
            sampling=replace(self.sampling, temperature=heat),
            draft_sampling=replace(self.draft_sampling, temperature=heat if own is None else own),
            selection=cell.selection,
            batch=cell.batch,
            max_new_tokens=tokens,
            ignore_end=True,
            seed=[seed * len(given) + number for number in range(len(given))],
            timed=True,
            keep_rows=False,
        )
        wait(self.target.device)
        taken, made, calls, verified, clock = perf_counter() - clock, 0, 0, 0, perf_counter()
        for step in steps:
            wait(self.target.device)
            taken += perf_counter() - clock
            calls += 1
            made += sum(map(len, step.emitted))
            verified += int((step.tokens >= 0).sum()) if step.kept is None else sum(step.kept)
            self._note(cell, step)
            clock = perf_counter()  # what is computed from a step is not timed
        cell.repeats.append(Repeat(made, taken, calls, verified))

    def _note(self, cell: Cell, step: Step) -> None:
        cell.phases.update(step.seconds)
        if cell.acceptance is not None:
            cell.acceptance.add(step)
        cell.taus += step.accepted
        cell.asked += step.rows
        for name, means in cell.expected.items():
            means += mean_accepted(VERIFIERS[name], step).tolist()

    def _transformers(self, cell: Cell, prompts: Sequence[list[int]], seed: int, tokens: int) -> Repeat:
        """The same texts by transformers alone, prompt by prompt: plain, or assisted by as many drafted
        tokens as the cell's chain has.
        """
        target, sampling = self.target, replace(self.sampling, temperature=cell.temperature)
        options: dict[str, Any] = {"do_sample": sampling.temperature > 0, "pad_token_id": 0}
        if sampling.temperature > 0:
            names = ("temperature", "top_k", "top_p", *(["min_p"] if sampling.min_p else []))
            options |= {name: getattr(sampling, name) for name in names}
        if cell.structure is not None:
            assert isinstance(self.drafter, ModelDrafter)
            assistant = options["assistant_model"] = self.drafter.model.network
            settings = assistant.generation_config
            settings.num_assistant_tokens_schedule, settings.assistant_confidence_threshold = "constant", 0.0
            settings.num_assistant_tokens = cell.structure.depth
        made, seconds = 0, 0.0
        torch.manual_seed(seed)
        for prompt in prompts:
            length = min(tokens, target.context - len(prompt))
            options |= {"max_new_tokens": length, "min_new_tokens": length}
            with quiet():
                wait(target.device)
                started = perf_counter()
                generated(target.network, prompt, sampling.processors, **options)
                wait(target.device)
            seconds += perf_counter() - started
            made += length
        return Repeat(made, seconds)
