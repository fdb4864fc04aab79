"""Every verifier on every draft it is made for, and the specimens, cell by cell."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.drafters.model import ModelDrafter
from draftproof.gpu.engine.loop import Decode, fitting, generate, misfit
from draftproof.gpu.models import Model
from draftproof.gpu.rows import Sampling
from draftproof.gpu.structures import Structure
from draftproof.gpu.validate.acceptance import Acceptance, Result
from draftproof.gpu.validate.cell import Cell
from draftproof.gpu.validate.greedy import Reference, compare
from draftproof.gpu.validate.joint import Joint, Known, laws, observe
from draftproof.gpu.validate.specimens import Specimen
from draftproof.gpu.validate.step_law import worst_prompt
from draftproof.gpu.verify import Verifier
from draftproof.simulators.anytime import ERROR
from draftproof.theory.errors import BadInput

DRAFTS = ("chain:3", "paths:2x3", "tree:2x2", "tree+:2x2", "top-k:3x3x8")
"""What is validated by default."""


@dataclass(frozen=True)
class Plan:
    """How much is run: `runs` decodings of `length` tokens a law, texts of `tokens` tokens.

    There are `laws` prompts for each number of kept tokens in `top_k`: few words show small differences
    early, more words show more of them. Specimens get `patience` times as many prompts, and eight times as
    many runs at each; faint ones one prompt out of all that were given for it, and `long` times as many runs.
    """

    runs: int = 500
    length: int = 3
    laws: int = 1
    tokens: int = 32
    batch: int = 500
    seed: int = 0
    temperature: float = 1.0
    top_k: tuple[int, ...] = (2, 4)
    patience: int = 6
    long: int = 24


class Validation:
    """A pair, prompts and a plan; `run` goes through the cells.

    `specimens` are run each on the first structure that it takes; faint ones at the worst of `many` prompts,
    if there is a drafter that can be asked for its rows.
    """

    def __init__(
        self,
        target: Model,
        drafter: Drafter,
        structures: Sequence[Structure],
        verifiers: Sequence[Verifier],
        prompts: Sequence[Sequence[int]],
        plan: Plan,
        specimens: Sequence[Specimen] = (),
        many: Sequence[Sequence[int]] = (),
    ) -> None:
        self.target, self.drafter, self.prompts, self.plan, self.many = target, drafter, prompts, plan, many
        self.cells: list[tuple[Structure, Verifier, Specimen | None]] = [
            (structure, verifier, None) for structure, verifier in fitting(structures, verifiers, drafter)
        ]
        for each in specimens:
            if each.faint and not isinstance(self.drafter, ModelDrafter):
                continue
            fit = (one for one in structures if misfit(each.verifier, one, self.drafter) is None)
            first = next(fit, None)
            if first is not None:
                self.cells.append((first, each.verifier, each))

    def run(self) -> Iterator[Cell]:
        """The cells, one by one."""
        for number, prompt in enumerate(self.prompts, 1):
            if len(prompt) + self.plan.tokens > self.target.context:
                raise BadInput(
                    f"prompt {number} has {len(prompt)} tokens and {self.plan.tokens} more are asked for; "
                    f"{self.target.name} takes {self.target.context}"
                )
        plan = self.plan
        samplings = [Sampling(plan.temperature, top_k) for top_k in plan.top_k]
        most = plan.laws * plan.patience
        every = [
            (sampling, laws(self.target, self.prompts, plan.length, sampling, most)) for sampling in samplings
        ]
        some = [(sampling, law) for sampling, found in every for law in found[: plan.laws]]
        turns = range(max(len(found) for _, found in every))
        many = [(sampling, found[turn]) for turn in turns for sampling, found in every if turn < len(found)]
        own = Reference(self.target, self.prompts, self.plan.tokens)
        for structure, verifier, specimen in self.cells:
            decode = partial(generate, self.target, self.drafter, verifier=verifier, structure=structure)
            cell = Cell(structure.name, verifier.name, specimen.how if specimen else None)
            if specimen is None:
                cell.greedy = compare(own, decode)
                cell.acceptance = self._acceptance(decode, Acceptance(verifier, structure))
                cell.laws = self._laws(decode, some, 1)
            elif specimen.faint:
                cell.off, known = self._worst(verifier, structure, samplings[0])
                if not cell.too_faint:
                    cell.laws = self._laws(decode, [known], plan.long)
            else:
                cell.laws = self._laws(decode, many, 8)
            yield cell

    def _worst(
        self, verifier: Verifier, structure: Structure, sampling: Sampling
    ) -> tuple[float, tuple[Sampling, Known]]:
        assert isinstance(self.drafter, ModelDrafter)
        asked = self.target, self.drafter.model, self.many, verifier
        off, known = worst_prompt(*asked, structure.depth, sampling, self.plan.length)
        return off, (sampling, known)

    def _acceptance(self, decode: Decode, found: Acceptance) -> Result:
        plan, sampling = self.plan, Sampling(self.plan.temperature)
        for step in decode(
            self.prompts, sampling=sampling, max_new_tokens=plan.tokens, ignore_end=True, seed=plan.seed
        ):
            found.add(step)
        return found.result()

    def _laws(self, decode: Decode, known: Sequence[tuple[Sampling, Known]], times: int) -> list[Joint]:
        """Prompt after prompt, `times` as many runs as planned at each; if more, until one is rejected."""
        plan, error = self.plan, ERROR / len(known)
        found: list[Joint] = []
        for sampling, prompt in known:
            found.append(observe(decode, prompt, sampling, plan.runs * times, plan.batch, plan.seed, error))
            if times > 1 and found[-1].rejected:
                break
        return found
