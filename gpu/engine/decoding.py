"""What is decoded and how, and whether models, drafts and verifiers fit together."""

from collections.abc import Sequence
from dataclasses import dataclass

from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.drafters.structures import Sampled
from draftproof.gpu.engine.selection import Selection
from draftproof.gpu.network.models import Model
from draftproof.gpu.network.session import Structure
from draftproof.gpu.sampling.rows import PLAIN, Sampling
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import Verifier
from draftproof.theory.errors import BadInput

NO_DRAFT = Sampled("plain", Tree.chain(0))


@dataclass(frozen=True)
class Decoding:
    """The prompts (token ids) that a target continues, and all settings of the run. Raises BadInput for an
    empty or too long prompt and for settings that do not fit each other.

    drafter, structure: what proposes tokens, and in which shape; both None for plain decoding.
    sampling, draft_sampling: the target's, and the drafter's if it is not the target's.
    selection: which drafted tokens are verified; None: all.
    batch: the most texts decoded at once, by default all; when they have ended, the next prompts begin.
    max_new_tokens, stop, ignore_end: a text ends after so many tokens, at one of these strings, at an end
    token unless they are ignored, and where the context ends.
    seed: prompt b's noise depends only on (seed, b), or on seed[b].
    timed: on a GPU, measure the time of each phase, which waits for the device after each step.
    """

    target: Model
    drafter: Drafter | None
    prompts: Sequence[Sequence[int]]
    verifier: Verifier
    structure: Structure | None
    sampling: Sampling = PLAIN
    draft_sampling: Sampling | None = None
    selection: Selection | None = None
    batch: int | None = None
    max_new_tokens: int = 128
    stop: Sequence[str] = ()
    ignore_end: bool = False
    seed: int | Sequence[int] = 0
    timed: bool = False

    def __post_init__(self) -> None:
        if not self.prompts:
            raise BadInput("there is no prompt")
        for number, prompt in enumerate(self.prompts, 1):
            which = f"prompt {number}" if len(self.prompts) > 1 else "the prompt"
            if not prompt:
                raise BadInput(f"{which} is empty")
            if len(prompt) >= self.target.context:
                most = f"{self.target.name} takes {self.target.context}, answer included"
                raise BadInput(f"{which} has {len(prompt)} tokens; {most}")
        drafter, structure = self.drafter, self.structure
        why = None
        if drafter is not None and structure is not None:
            why = misfit(self.verifier, structure, drafter, self.target)
        if self.selection is not None:
            if structure is None:
                why = "there is no draft to select from"
            elif structure.kind != "chain":
                why = why or f"selection is defined on chains, not on {structure.name}"
            if self.batch is not None and self.selection.batch is not None:
                why = why or "a selection within groups of prompts needs all of them at once"
        if why:
            raise BadInput(why)
        if "" in self.stop:
            raise BadInput("a string of stop is empty")
        for name, number in (("max_new_tokens", self.max_new_tokens), ("batch", self.batch)):
            if number is not None and number < 1:
                raise BadInput(f"{name} must be at least 1, not {number}")

    @property
    def limits(self) -> list[int]:
        """The most new tokens of each text."""
        return [min(self.max_new_tokens, self.target.context - len(prompt)) for prompt in self.prompts]


def misfit(verifier: Verifier, structure: Structure, drafter: Drafter, target: Model) -> str | None:
    """The reason why these cannot be combined; None if they can."""
    if target.only_chains and structure.kind != "chain":
        return f"{target.name} reads chains only, not {structure.name}: {target.why}"
    if structure.kind not in verifier.drafts:
        fit = ", ".join(verifier.drafts)
        return f"{verifier.name} is made for {fit}, not for {structure.name} ({structure.kind})"
    if drafter.only_chains and structure.kind != "chain":
        return f"{drafter.name} drafts chains, not {structure.name}"
    if drafter.deepest is not None and structure.depth > drafter.deepest:
        return f"{drafter.name} drafts {drafter.deepest} tokens on a path at most, not {structure.name}"
    return None
