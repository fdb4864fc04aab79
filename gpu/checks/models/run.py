"""Runs every verifier on every draft it is made for; makes a table and JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import count, cycle
from typing import Any

from rich.table import Table

from draftproof.gpu.checks.models.acceptance import Acceptance
from draftproof.gpu.checks.models.greedy import Greedy, Reference, compare
from draftproof.gpu.checks.models.joint import Joint, Known, laws, observe
from draftproof.gpu.engine.loop import Decode
from draftproof.gpu.engine.setup import Setup
from draftproof.gpu.sampling.rows import Sampling
from draftproof.simulators import screen
from draftproof.simulators.support.anytime import ERROR
from draftproof.theory.errors import BadInput

DRAFTS = ("chain:3", "paths:2x3", "tree:2x2", "tree+:2x2", "strata:2x2", "top-k:3x3x8")
"""Default of --draft."""

PAIR = 2
"""Tokens of each of two requests whose joint law is tested: words of two are many."""

ROWS = 64
"""Texts decoded at once to measure acceptance, and for joint laws of requests."""


@dataclass(frozen=True)
class Plan:
    """How much is run. Laws of few words show small differences early, those of many more kinds of faults."""

    runs: int = 500  # decodings for each law
    length: int = 3  # tokens of each word of a tested law
    tokens: int = 32  # length of a greedy text
    batch: int = 500
    seed: int = 0
    temperature: float = 1.0
    top_k: tuple[int, ...] = (2, 4)
    requests: int = 8  # of a batch, if there is a selection
    half_width: float = 0.1  # of the interval of E[tau] at which a cell has enough steps


@dataclass
class Cell:
    """One verifier on one draft."""

    draft: str
    verifier: str
    selection: str | None
    greedy: Greedy
    laws: list[Joint]
    acceptance: Acceptance

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.draft, self.verifier, self.selection)))

    @property
    def runs(self) -> int:
        return sum(each.runs for each in self.laws)

    @property
    def problems(self) -> list[str]:
        """Each unexpected result as a sentence."""
        return [
            *(f"the law is rejected at prompt {each.prompt + 1}" for each in self.laws if each.rejected),
            *(str(each) for each in self.greedy.ties if not each.explained),
            *self.acceptance.problems,
        ]

    def answer(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "draft": self.draft,
            "verifier": self.verifier,
            "selection": self.selection,
            "greedy": asdict(self.greedy) | {"ok": self.greedy.ok},
            "laws": [asdict(each) for each in self.laws],
            "acceptance": self.acceptance.answer(),
            "problems": self.problems,
        }


@dataclass
class Validation:
    """What is compared, prompts and a plan; `run` yields the cells.

    Each of the selections runs on every chain with the first verifier that it fits. Rows are made with each
    top_k of the plan. Acceptance is measured on the `prompts` and on `many` more.
    """

    setup: Setup
    prompts: Sequence[Sequence[int]]
    plan: Plan
    many: Sequence[Sequence[int]] = ()

    def __post_init__(self) -> None:
        whole = self.setup.whole()
        first = {way.structure: way for way in reversed(whole) if self.setup.selecting(way)}
        selected = (each for way in reversed(first.values()) for each in self.setup.selecting(way))
        self.ways = [*whole, *selected]

    def run(self) -> Iterator[Cell]:
        """The cells, one by one. Raises BadInput for prompts that are too long or have no enumerable law."""
        plan, setup = self.plan, self.setup
        for number, prompt in enumerate(self.prompts, 1):
            if len(prompt) + plan.tokens > setup.target.context:
                raise BadInput(
                    f"prompt {number} has {len(prompt)} tokens and {plan.tokens} more are asked for; "
                    f"{setup.target.name} takes {setup.target.context}"
                )
        self.known = cache(self._known)
        reference = Reference(setup.target, self.prompts, plan.tokens, setup.sampling.processors)
        for way in self.ways:
            decode, draft, verifier = partial(setup.decode, way), way.structure, way.verifier
            assert draft is not None
            if way.selection is None:
                tested = self._laws(decode, self.known(plan.length, 1))
            else:
                known = self.known(min(PAIR, plan.length), plan.requests)
                tested = self._laws(decode, known, requests=plan.requests, together=2)
            greedy = compare(reference, decode)
            acceptance = self._accepted(decode, Acceptance(verifier, draft, by_value=way.by_value))
            yield Cell(draft.name, verifier.name, way.rule, greedy, tested, acceptance)

    def _known(self, length: int, most: int) -> list[tuple[Sampling, list[Known]]]:
        """For each number of kept tokens: the laws of words of this length at the first `most` prompts."""
        samplings = [replace(self.setup.sampling, top_k=top_k) for top_k in self.plan.top_k]
        return [(each, laws(self.setup.target, self.prompts, length, each, most)) for each in samplings]

    def _accepted(self, decode: Decode, acceptance: Acceptance) -> Acceptance:
        """Decodes the prompts again, each time with other seeds, until E[tau] has the planned half-width."""
        plan, context = self.plan, self.setup.target.context
        every = dict.fromkeys(map(tuple, (*self.prompts, *self.many)))
        fit = [each for each in every if len(each) + plan.tokens <= context]
        seeds, rows = count(plan.seed), min(ROWS, plan.batch)
        for prompts in cycle([fit[first : first + rows] for first in range(0, len(fit), rows)]):
            given = {"max_new_tokens": plan.tokens, "seed": [next(seeds) for _ in prompts]}
            for step in decode(prompts, sampling=self.setup.sampling, ignore_end=True, **given):
                acceptance.add(step)
                if acceptance.total.interval.half_width <= plan.half_width:
                    return acceptance
        raise AssertionError("there is a prompt")

    def _laws(
        self, decode: Decode, known: Sequence[tuple[Sampling, Sequence[Known]]], **batch: int
    ) -> list[Joint]:
        """Tests laws. `batch`: how many requests are decoded and tested together."""
        plan, error = self.plan, ERROR / len(known)
        rows = min(ROWS, plan.batch) if batch else plan.batch
        return [
            joint
            for sampling, prompts in known
            for joint in observe(decode, prompts, sampling, plan.runs, rows, plan.seed, error, **batch)
        ]


def table(cells: Sequence[Cell]) -> Table:
    """One line per verifier and draft."""
    headings = "draft", "verifier", "greedy", "runs", "law", "E\\[tau]", "predicted", "stateless", "full inf."
    made = screen.table("Real models compared with their own laws", "llrrrrrrrl", *headings, "")
    made.columns[0].no_wrap = made.columns[1].no_wrap = True
    for cell in cells:
        total, ties = cell.acceptance.total.interval, len(cell.greedy.ties)
        rejected = any(each.rejected for each in cell.laws)
        made.add_row(
            *(cell.draft, " ".join(filter(None, (cell.verifier, cell.selection)))),
            f"{cell.greedy.tokens}{f', {ties} ties' if ties else ''}",
            *(f"{cell.runs:,}", "rejected" if rejected else "kept"),
            *(f"{total.measured:.3f}", f"{total.predicted:.3f} ± {total.half_width:.3f}"),
            *("" if bound is None else f"{bound:.3f}" for bound in cell.acceptance.bounds.values()),
            "NOT as expected" if cell.problems else "",
            style="bold red" if cell.problems else "",
        )
    return made


def summary(cells: Sequence[Cell]) -> str:
    """One line that counts the cells as expected, and one line for each problem and each tie."""
    tokens, runs = sum(cell.greedy.tokens for cell in cells), sum(cell.runs for cell in cells)
    steps = sum(cell.acceptance.total.steps for cell in cells)
    first = f"{sum(not cell.problems for cell in cells)} of {len(cells)} as predicted "
    first += f"({tokens:,} greedy tokens, {steps:,} steps, {runs:,} runs)"
    problems = [f"{cell.name}: {each}" for cell in cells for each in cell.problems]
    ties = [f"{cell.name}: {tie}" for cell in cells for tie in cell.greedy.ties if tie.explained]
    return "\n".join([first, *problems, *ties])
