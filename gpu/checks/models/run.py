"""Runs every verifier on every draft it is made for; makes a table and JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from itertools import count, cycle
from typing import Any

from rich.table import Table

from draftproof.gpu.checks.models.acceptance import Acceptance, Result
from draftproof.gpu.checks.models.greedy import Greedy, Reference, compare
from draftproof.gpu.checks.models.joint import WORDS, Joint, Known, laws, observe
from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.engine.decoding import cannot_select, fitting
from draftproof.gpu.engine.loop import Decode, generate
from draftproof.gpu.engine.output import Step
from draftproof.gpu.engine.selection import Selection
from draftproof.gpu.network.models import Model
from draftproof.gpu.network.session import Structure
from draftproof.gpu.sampling.rows import PLAIN, Sampling
from draftproof.gpu.verify import Verifier
from draftproof.simulators import screen
from draftproof.simulators.support.anytime import ERROR
from draftproof.theory.errors import BadInput

DRAFTS = ("chain:3", "paths:2x3", "tree:2x2", "tree+:2x2", "strata:2x2", "top-k:3x3x8", "ddtree:8x3")
"""Default of --draft."""

PAIR = 2
"""Tokens of each of two requests whose joint law is tested: words of two are many."""

ROWS = 64
"""Texts decoded at once to measure acceptance, and for joint laws of requests."""


@dataclass(frozen=True)
class Plan:
    """How much is run. Laws of few words show small differences after few runs; laws of many words show more
    kinds of faults.
    """

    runs: int = 500  # decodings for each law
    length: int = 3  # tokens of each word of a tested law
    tokens: int = 32  # length of a greedy text
    batch: int = 500
    seed: int = 0
    temperature: float = 1.0
    top_k: tuple[int, ...] = (2, 4)
    requests: int = 8  # of a batch, if there is a selection
    half_width: float = 0.1  # of the interval of E[tau] at which a cell has enough steps

    def words(self, verifier: Verifier, depth: int) -> int:
        """Tokens of a tested law: what a verifier does after the last drafted token shows in the next one."""
        length = max(self.length, depth + 1) if verifier.reads_leaves else self.length
        while length > self.length and max(self.top_k) ** length > WORDS:
            length -= 1
        return length


@dataclass
class Cell:
    """One verifier on one draft."""

    draft: str
    verifier: str
    selection: str | None = None
    greedy: Greedy | None = None
    laws: list[Joint] = field(default_factory=list)
    acceptance: Result | None = None

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.draft, self.verifier, self.selection)))

    @property
    def runs(self) -> int:
        return sum(each.runs for each in self.laws)

    @property
    def steps(self) -> int:
        return self.acceptance.total.steps if self.acceptance else 0

    @property
    def problems(self) -> list[str]:
        """Each unexpected result as a sentence."""
        found = [f"the law is rejected at prompt {each.prompt + 1}" for each in self.laws if each.rejected]
        if self.greedy is not None:
            found += [
                f"greedy text of prompt {each.prompt + 1} differs at token {each.place}"
                for each in self.greedy.ties
                if not each.explained
            ]
        return found + (self.acceptance.problems if self.acceptance else [])

    def answer(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "draft": self.draft,
            "verifier": self.verifier,
            "selection": self.selection,
            "greedy": self.greedy.answer() if self.greedy else None,
            "laws": [asdict(each) for each in self.laws],
            "acceptance": self.acceptance.answer() if self.acceptance else None,
            "problems": self.problems,
        }


@dataclass
class Validation:
    """A model pair, prompts and a plan; `run` yields the cells.

    Each of the `selections` runs on every chain with the first verifier that it fits. Rows are made by
    `sampling` and `draft_sampling`, with each top_k of the plan. Acceptance is measured on the `prompts` and
    on `many` more.
    """

    target: Model
    drafter: Drafter
    structures: Sequence[Structure]
    verifiers: Sequence[Verifier]
    prompts: Sequence[Sequence[int]]
    plan: Plan
    many: Sequence[Sequence[int]] = ()
    selections: Sequence[Selection] = ()
    sampling: Sampling = PLAIN
    draft_sampling: Sampling = PLAIN
    draft_temperature: float | None = None

    def __post_init__(self) -> None:
        pairs = fitting(self.structures, self.verifiers, self.drafter, self.target)
        self.cells: list[tuple[Structure, Verifier, Selection | None]] = [(*pair, None) for pair in pairs]
        chains = {shape.name: (shape, verifier) for shape, verifier in reversed(pairs)
                  if cannot_select(verifier, shape) is None}  # fmt: skip
        self.cells += [(*pair, each) for pair in reversed(chains.values()) for each in self.selections]

    def run(self) -> Iterator[Cell]:
        """The cells, one by one. Raises BadInput for prompts that are too long or have no enumerable law."""
        plan = self.plan
        for number, prompt in enumerate(self.prompts, 1):
            if len(prompt) + plan.tokens > self.target.context:
                raise BadInput(
                    f"prompt {number} has {len(prompt)} tokens and {plan.tokens} more are asked for; "
                    f"{self.target.name} takes {self.target.context}"
                )
        self.samplings = [replace(self.sampling, top_k=top_k) for top_k in plan.top_k]
        self.known = cache(self._known)
        reference = Reference(self.target, self.prompts, plan.tokens, self.sampling.processors)
        for structure, verifier, selection in self.cells:
            decode = self._decode(verifier, structure, selection)
            cell = Cell(structure.name, verifier.name, selection.rule.name if selection else None)
            if selection is None:
                cell.laws = self._laws(decode, self.known(plan.words(verifier, structure.depth), 1))
            else:
                known = self.known(min(PAIR, plan.length), plan.requests)
                cell.laws = self._laws(decode, known, requests=plan.requests, together=2)
            cell.greedy = compare(reference, decode)
            by_value = selection is not None and not selection.rule.predictable
            cell.acceptance = self._acceptance(decode, Acceptance(verifier, structure, by_value=by_value))
            yield cell

    def _known(self, length: int, most: int) -> list[tuple[Sampling, list[Known]]]:
        """For each number of kept tokens: the laws of words of this length at the first `most` prompts."""
        return [(each, laws(self.target, self.prompts, length, each, most)) for each in self.samplings]

    def _decode(self, verifier: Verifier, structure: Structure, selection: Selection | None) -> Decode:
        def decode(prompts: Sequence[Sequence[int]], *, sampling: Sampling, **options: Any) -> Iterator[Step]:
            heat = sampling.temperature if self.draft_temperature is None else self.draft_temperature
            return generate(
                self.target,
                self.drafter,
                prompts,
                verifier=verifier,
                structure=structure,
                sampling=sampling,
                draft_sampling=replace(self.draft_sampling, temperature=heat, top_k=sampling.top_k),
                selection=selection,
                **options,
            )

        return decode

    def _acceptance(self, decode: Decode, acceptance: Acceptance) -> Result:
        """Decodes the prompts again and again, each time with other seeds, until E[tau] is known to the
        planned half-width.
        """
        plan = self.plan
        every = dict.fromkeys(map(tuple, (*self.prompts, *self.many)))
        fit = [each for each in every if len(each) + plan.tokens <= self.target.context]
        seeds, rows = count(plan.seed), min(ROWS, plan.batch)
        for prompts in cycle([fit[first : first + rows] for first in range(0, len(fit), rows)]):
            given = {"max_new_tokens": plan.tokens, "seed": [next(seeds) for _ in prompts]}
            for step in decode(prompts, sampling=self.sampling, ignore_end=True, **given):
                acceptance.add(step)
                if acceptance.total.interval.half_width <= plan.half_width:
                    return acceptance.result()
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
        if cell.acceptance is None or cell.greedy is None:
            continue
        total, ties = cell.acceptance.total, len(cell.greedy.ties)
        rejected = any(each.rejected for each in cell.laws)
        made.add_row(
            *(cell.draft, " ".join(filter(None, (cell.verifier, cell.selection)))),
            f"{cell.greedy.tokens}{f', {ties} ties' if ties else ''}",
            *(f"{cell.runs:,}", "rejected" if rejected else "kept"),
            *(f"{total.measured:.3f}", f"{total.predicted:.3f} ± {max(total.above, total.below):.3f}"),
            *("" if bound is None else f"{bound:.3f}" for bound in cell.acceptance.bounds.values()),
            "NOT as expected" if cell.problems else "",
            style="bold red" if cell.problems else "",
        )
    return made


def summary(cells: Sequence[Cell]) -> str:
    """One line that counts the cells as expected, and one line for each problem and each tie."""
    tokens = sum(cell.greedy.tokens for cell in cells if cell.greedy)
    steps, runs = sum(cell.steps for cell in cells), sum(cell.runs for cell in cells)
    first = f"{sum(not cell.problems for cell in cells)} of {len(cells)} as predicted "
    first += f"({tokens:,} greedy tokens, {steps:,} steps, {runs:,} runs)"
    problems = [f"{cell.name}: {each}" for cell in cells for each in cell.problems]
    ties = [
        f"{cell.name}: token {tie.place} of greedy text {tie.prompt + 1} is a tie: "
        f"logits {tie.logits[0]:.6f} and {tie.logits[1]:.6f}, tolerance {tie.tolerance:.1e}"
        for cell in cells
        for tie in (cell.greedy.ties if cell.greedy else ())
        if tie.explained
    ]
    return "\n".join([first, *problems, *ties])
