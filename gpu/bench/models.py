"""Timed decoding with real models; the cells take turns, so that other load slows all of them alike."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean
from time import perf_counter
from typing import Any, NamedTuple

import torch

from draftproof.gpu.checks.models.acceptance import Acceptance
from draftproof.gpu.checks.models.greedy import generated
from draftproof.gpu.drafters.drafter import ModelDrafter
from draftproof.gpu.engine.prompts import Prompt
from draftproof.gpu.engine.setup import Setup, Way
from draftproof.gpu.network.models import quiet
from draftproof.gpu.sampling.device import wait
from draftproof.gpu.sampling.rows import Sampling

DRAFTS = ("chain:4", "tree:2x3", "top-k:4x4x16")
PLAIN, TRANSFORMERS, ASSISTED = "plain", "transformers plain", "transformers assisted"
"""Methods without a verifier: this engine's plain decoding, transformers' plain and assisted generation."""
PLAIN_WAY = Way()
WARM = 8
"""Tokens of a text that is decoded before anything is timed."""


@dataclass(frozen=True)
class Plan:
    """What is measured: each repeat generates texts of `tokens` tokens from a seed of its own, as many at
    once as each of the `batches` says.
    """

    tokens: int = 64
    batches: tuple[int, ...] = (1,)
    repeats: int = 3
    seed: int = 0
    temperatures: tuple[float, ...] = (0.2, 0.6, 1.0)


class Repeat(NamedTuple):
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
    way: Way = PLAIN_WAY
    batch: int = 1

    def __post_init__(self) -> None:
        structure, verifier, _ = self.way
        self.draft = structure.name if structure else ""
        self.acceptance = None
        if structure and self.method != ASSISTED:
            self.acceptance = Acceptance(verifier, structure, by_value=self.way.by_value)
        self.repeats = list[Repeat]()
        self.phases = Counter[str]()

    @property
    def speeds(self) -> list[float]:
        """Tokens a second of each repeat."""
        return [each.tokens / each.seconds for each in self.repeats]

    def a_call(self, name: str) -> float | None:
        """The mean of a number a call of the target over the repeats; None if calls were not counted."""
        known = [getattr(each, name) / each.calls for each in self.repeats if each.calls]
        return fmean(known) if known else None


@dataclass
class Bench:
    """What is compared, prompts and a plan. `run` fills the cells; repeats that it has yielded are complete.

    Verifiers of chains run once with every drafted token and once with each of the selections. Packages that
    decode one text at a time are not run with larger batches. The temperatures are the plan's.
    """

    setup: Setup
    prompts: Sequence[Prompt]
    plan: Plan

    def __post_init__(self) -> None:
        setup, self.every = self.setup, list[Cell]()
        whole, chains = setup.whole(), [each for each in setup.structures if each.kind == "chain"]
        for heat, batch in product(self.plan.temperatures, self.plan.batches):
            self.every.append(Cell(PLAIN, heat, batch=batch))
            if batch == 1:
                self.every.append(Cell(TRANSFORMERS, heat))
            # assisted generation needs a model, and drafts chains
            if batch == 1 and type(setup.drafter) is ModelDrafter:
                self.every += [Cell(ASSISTED, heat, Way(shape)) for shape in chains]
            for way in whole:
                name = way.verifier.name
                self.every.append(Cell(name, heat, way, batch))
                selecting = ((f"{name} {each.rule}", each) for each in setup.selecting(way))
                self.every += [Cell(method, heat, each, batch) for method, each in selecting]

    @property
    def total(self) -> int:
        """Total number of runs: cells times repeats."""
        return len(self.every) * self.plan.repeats

    @property
    def cells(self) -> list[Cell]:
        """The cells that have been measured at least once."""
        return [cell for cell in self.every if cell.repeats]

    def run(self) -> Iterator[Cell]:
        """Runs all repeats. Before, untimed, a short text is decoded for each kind of pass."""
        kinds = {
            (cell.acceptance is None and cell.method, cell.draft, cell.batch): cell for cell in self.every
        }
        for cell in kinds.values():
            self._once(replace(cell), self.plan.seed, self.prompts[: cell.batch], WARM)  # measures nothing
        for repeat, cell in product(range(self.plan.repeats), self.every):
            self._once(cell, self.plan.seed + repeat, self.prompts, self.plan.tokens)
            yield cell

    def _once(self, cell: Cell, seed: int, prompts: Sequence[Prompt], tokens: int) -> None:
        """One repeat: every prompt with a seed of its own."""
        given, device = [prompt.ids for prompt in prompts], self.setup.target.device
        sampling = replace(self.setup.sampling, temperature=cell.temperature)
        if cell.method in (TRANSFORMERS, ASSISTED):
            cell.repeats.append(self._transformers(cell, given, sampling, seed, tokens))
            return
        clock = perf_counter()
        steps = self.setup.decode(
            cell.way,
            given,
            sampling=sampling,
            batch=cell.batch,
            max_new_tokens=tokens,
            ignore_end=True,
            seed=[seed * len(given) + number for number in range(len(given))],
            timed=True,
        )
        wait(device)
        taken, made, calls, verified, clock = perf_counter() - clock, 0, 0, 0, perf_counter()
        for step in steps:
            wait(device)
            taken += perf_counter() - clock
            calls += 1
            made += sum(map(len, step.emitted))
            verified += int((step.draft.tokens >= 0).sum()) if step.kept is None else sum(step.kept)
            cell.phases.update(step.seconds)
            if cell.acceptance is not None:
                cell.acceptance.add(step)
            clock = perf_counter()  # what is computed from a step is not timed
        cell.repeats.append(Repeat(made, taken, calls, verified))

    def _transformers(
        self, cell: Cell, prompts: Sequence[list[int]], sampling: Sampling, seed: int, tokens: int
    ) -> Repeat:
        """The same by transformers, prompt by prompt: plain, or assisted with drafts as long as the chain."""
        target, drafter = self.setup.target, self.setup.drafter
        options: dict[str, Any] = {"do_sample": sampling.temperature > 0, "pad_token_id": 0}
        if sampling.temperature > 0:
            names = ("temperature", "top_k", "top_p", *(["min_p"] if sampling.min_p else []))
            options |= {name: getattr(sampling, name) for name in names}
        if cell.way.structure is not None:
            assert isinstance(drafter, ModelDrafter)
            assistant = options["assistant_model"] = drafter.model.network
            settings = assistant.generation_config
            settings.num_assistant_tokens_schedule, settings.assistant_confidence_threshold = "constant", 0.0
            settings.num_assistant_tokens = cell.way.structure.depth
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
