"""Timed decoding with real models; the cells take turns, so that other load slows all of them alike."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from math import isfinite, nan
from statistics import fmean
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from draftproof.gpu.checks.models.acceptance import Acceptance, mean_accepted
from draftproof.gpu.checks.models.greedy import for_transformers
from draftproof.gpu.drafters.drafter import Drafter, ModelDrafter
from draftproof.gpu.engine.loop import cannot_select, fitting, generate
from draftproof.gpu.engine.output import Step, Texts
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


@dataclass(frozen=True)
class Plan:
    """What is measured: each repeat generates texts of `tokens` tokens from a seed of its own, at most as
    many at once as each of the `batches` says; when one ends, the next begins. A text ends early where a
    string of `stop` appears.
    """

    tokens: int = 64
    batches: tuple[int, ...] = (1,)
    repeats: int = 3
    seed: int = 0
    temperatures: tuple[float, ...] = (0.2, 0.6, 1.0)
    stop: tuple[str, ...] = ()


@dataclass(frozen=True)
class Repeat:
    """One repeat of a cell: its tokens and seconds; by the clock of the engine alone the mean seconds of
    `prefill`, of the `first` token of a text (prefill included) and `between` two tokens; `emitted`
    tokens and `verified` drafted tokens in a call of the target. What was not measured is NaN.
    """

    tokens: int
    seconds: float
    prefill: float = nan
    first: float = nan
    between: float = nan
    emitted: float = nan
    verified: float = nan


@dataclass
class Cell:
    """One way of decoding at one temperature, at most `batch` texts at once.

    `taus` are the accepted tokens of every step of one text, and `asked` the questions of these texts, by
    number: the turns of a question and its repeats depend on one another. `expected[name]` is
    E[tau | draft] of the verifier of that name at these steps.
    """

    method: str
    temperature: float
    structure: Structure | None = None
    verifier: Verifier | None = None
    acceptance: Acceptance | None = None
    batch: int = 1
    selection: Selection | None = None
    expected: dict[str, list[float]] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)
    taus: list[int] = field(default_factory=list)
    repeats: list[Repeat] = field(default_factory=list)
    phases: Counter[str] = field(default_factory=Counter)

    @property
    def draft(self) -> str:
        return self.structure.name if self.structure else ""

    @property
    def speeds(self) -> list[float]:
        """Tokens a second of each repeat."""
        return [each.tokens / each.seconds for each in self.repeats]

    def mean(self, name: str) -> float | None:
        """The mean of a number over the repeats that measured it; None if none did."""
        known = [number for each in self.repeats if isfinite(number := getattr(each, name))]
        return fmean(known) if known else None


@dataclass
class Run:
    """A run over all texts, of which the first ones were read in `taken` seconds: tokens `made` of each,
    counts of the target's calls and of the drafted tokens they verified, and when each text's first step was
    over (`since`). Times of each text: its `prefills`, its `firsts`, prefill and first step, and its `gaps`,
    the mean time between two tokens.
    """

    taken: float
    calls: int = 0
    verified: int = 0
    made: Counter[int] = field(default_factory=Counter)
    since: dict[int, float] = field(default_factory=dict)
    prefills: list[float] = field(default_factory=list)
    firsts: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)

    def add(self, step: Step, seconds: float) -> None:
        """Adds a step that took so long."""
        before, within = (0.0, self.taken) if self.calls == 0 else (self.taken, 0.0)
        self.taken += seconds
        for row in step.rows:
            if row not in self.since:
                self.since[row] = self.taken
                self.firsts.append(self.taken - before)
                self.prefills.append(within or max(0.0, seconds - sum(step.seconds.values())))
        self.calls += 1
        self.verified += int((step.tokens >= 0).sum()) if step.kept is None else sum(step.kept)
        for row, tokens, ended in zip(step.rows, step.emitted, step.finished, strict=True):
            self.made[row] += len(tokens)
            if ended and self.made[row] > 1:
                self.gaps.append((self.taken - self.since[row]) / (self.made[row] - 1))


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
                if cannot_select(verifier, shape) is None:
                    self.ways += [self._selecting(cell, each) for each in self.selections]

    @staticmethod
    def _selecting(cell: Cell, selection: Selection) -> Cell:
        assert cell.verifier is not None
        assert cell.structure is not None
        acceptance = Acceptance(cell.verifier, cell.structure, by_value=not selection.rule.predictable)
        method = f"{cell.method} {selection.rule.name}"
        shape, verifier, batch = cell.structure, cell.verifier, cell.batch
        return Cell(method, cell.temperature, shape, verifier, acceptance, batch, selection)

    @property
    def total(self) -> int:
        """Total number of runs: cells times repeats."""
        return len(self.ways) * self.plan.repeats

    @property
    def cells(self) -> list[Cell]:
        """The cells that have been measured at least once."""
        return [cell for cell in self.ways if cell.repeats]

    def run(self) -> Iterator[Cell]:
        """Runs all repeats, after a warm-up that is not counted."""
        self._warm_up()
        for repeat, cell in product(range(self.plan.repeats), self.ways):
            self._once(cell, self.plan.seed + repeat, self.prompts, self.plan.tokens)
            yield cell

    def _warm_up(self) -> None:
        """Decodes a whole text in every cell if passes become CUDA graphs, else a short one of each kind."""
        recorded = recording(self.target.device) is not None
        kinds: dict[Hashable, Cell] = {}
        for cell in self.ways:
            like = cell.verifier is None and cell.method, cell.draft, cell.batch
            kind: Hashable = id(cell) if recorded else like
            empty = {"expected": {}, "asked": [], "taus": [], "repeats": [], "phases": Counter()}
            kinds.setdefault(kind, replace(cell, acceptance=None, **empty))
        for trial in kinds.values():
            first = self.prompts[: trial.batch]
            self._once(trial, self.plan.seed, first, self.plan.tokens if recorded else 8)

    def _once(self, cell: Cell, seed: int, prompts: Sequence[Prompt], tokens: int) -> None:
        """One repeat: every prompt with a seed of its own."""
        given = [prompt.ids for prompt in prompts]
        if cell.method in (TRANSFORMERS, ASSISTED):
            gamma = cell.structure.depth if cell.structure else None
            sampling = replace(self.sampling, temperature=cell.temperature)
            stop = self.plan.stop
            peer = transformers(self.target, self.drafter, gamma, given, tokens, sampling, seed, stop)
            cell.repeats.append(Repeat(*peer))
            return
        run = self._run(cell, given, seed, tokens)
        made = sum(run.made.values())
        cell.repeats.append(
            Repeat(
                made,
                run.taken,
                prefill=fmean(run.prefills),
                first=fmean(run.firsts),
                between=fmean(run.gaps) if run.gaps else nan,
                emitted=made / run.calls,
                verified=run.verified / run.calls,
            )
        )

    def _run(self, cell: Cell, prompts: Sequence[list[int]], seed: int, tokens: int) -> Run:
        """Decodes the prompts; the time of what is computed from the steps is not counted."""
        clock = perf_counter()
        seeds = [seed * len(prompts) + number for number in range(len(prompts))]
        run = self._decode(cell, prompts, seeds, tokens)
        wait(self.target.device)
        found, clock = Run(perf_counter() - clock), perf_counter()
        for step in run:
            wait(self.target.device)
            found.add(step, perf_counter() - clock)
            cell.phases.update(step.seconds)
            if cell.acceptance is not None:
                cell.acceptance.add(step)
            cell.taus += step.accepted
            cell.asked += [self.prompts[row].question for row in step.rows]
            for name, means in cell.expected.items():
                means += mean_accepted(VERIFIERS[name], step).tolist()
            clock = perf_counter()
        return found

    def _decode(
        self, cell: Cell, prompts: Sequence[Sequence[int]], seeds: list[int], tokens: int
    ) -> Iterator[Step]:
        heat, own = cell.temperature, self.draft_temperature
        return generate(
            self.target,
            self.drafter if cell.structure else None,
            prompts,
            verifier=cell.verifier or VERIFIERS["token"],
            structure=cell.structure,
            sampling=replace(self.sampling, temperature=heat),
            draft_sampling=replace(self.draft_sampling, temperature=heat if own is None else own),
            selection=cell.selection,
            batch=cell.batch,
            max_new_tokens=tokens,
            stop=self.plan.stop,
            ignore_end=True,
            seed=seeds,
            timed=True,
            keep_rows=False,
        )


def transformers(
    target: Model,
    drafter: Drafter,
    gamma: int | None,
    prompts: Sequence[Sequence[int]],
    tokens: int,
    sampling: Sampling,
    seed: int,
    stop: Sequence[str] = (),
) -> tuple[int, float]:
    """Generates the same texts by transformers alone, prompt by prompt; returns total tokens and seconds.

    With a `gamma` this is assisted generation that always drafts `gamma` tokens; else plain generation.
    Tokens after a string of `stop` do not count.
    """
    options: dict[str, Any] = {"do_sample": sampling.temperature > 0}
    if sampling.temperature > 0:
        names = ("temperature", "top_k", "top_p", *(["min_p"] if sampling.min_p else []))
        options |= {name: getattr(sampling, name) for name in names}
    if gamma is not None:
        assert isinstance(drafter, ModelDrafter)
        assistant = options["assistant_model"] = drafter.model.network
        settings = assistant.generation_config
        settings.num_assistant_tokens, settings.num_assistant_tokens_schedule = gamma, "constant"
        settings.assistant_confidence_threshold = 0.0
    made, seconds = 0, 0.0
    torch.manual_seed(seed)
    for prompt in prompts:
        ids = torch.tensor([list(prompt)], device=target.device)
        length = min(tokens, target.context - len(prompt))
        options |= {"max_new_tokens": length, "min_new_tokens": length, "pad_token_id": 0}
        options |= for_transformers(sampling.processors, len(prompt))
        texts = Texts([length], frozenset(), stop, target.tokenizer.decode)
        options["stopping_criteria"] = [partial(_stopped, target, len(prompt), stop)] if stop else []
        with quiet():
            wait(target.device)
            started = perf_counter()
            text = target.network.generate(ids, attention_mask=torch.ones_like(ids), **options)
            wait(target.device)
        seconds += perf_counter() - started
        (counted,), _, _ = texts.take([text[0, len(prompt) :].tolist()])
        made += len(counted)
    return made, seconds


def _stopped(target: Model, start: int, stop: Sequence[str], ids: Tensor, _: Any, **__: Any) -> Tensor:
    """Whether each text has a string of `stop` from place `start` on."""
    texts = (target.tokenizer.decode(row[start:].tolist()) for row in ids)
    return torch.tensor([any(each in text for each in stop) for text in texts], device=ids.device)
