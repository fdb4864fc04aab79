"""What a command compares: a target and a drafter, on several drafts, verifiers and selection rules."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.engine.decoding import misfit
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.output import Step
from draftproof.gpu.engine.selection import Selection
from draftproof.gpu.network.models import Model
from draftproof.gpu.network.session import Structure
from draftproof.gpu.sampling.rows import PLAIN, Sampling
from draftproof.gpu.verify import VERIFIERS, Verifier
from draftproof.theory.errors import BadInput


class Way(NamedTuple):
    """One way of decoding; without a draft, plain decoding."""

    structure: Structure | None = None
    verifier: Verifier = VERIFIERS["token"]
    selection: Selection | None = None

    @property
    def rule(self) -> str | None:
        """The name of the selection rule, if there is one."""
        return self.selection.rule.name if self.selection else None

    @property
    def by_value(self) -> bool:
        """Whether drafted tokens are selected by their values."""
        return self.selection is not None and not self.selection.rule.predictable


@dataclass(frozen=True)
class Setup:
    """Rows are made by `sampling`, the drafter's at `draft_temperature` if it is given."""

    target: Model
    drafter: Drafter
    structures: Sequence[Structure]
    verifiers: Sequence[Verifier]
    selections: Sequence[Selection] = ()
    sampling: Sampling = PLAIN
    draft_temperature: float | None = None

    def whole(self) -> list[Way]:
        """The pairs of structure and verifier that can be combined, structure by structure; BadInput if there
        are none.
        """
        target, drafter = self.target, self.drafter
        pairs = product(self.structures, self.verifiers)
        why = {Way(shape, each): misfit(each, shape, drafter, target) for shape, each in pairs}
        if None not in why.values():
            raise BadInput(f"none of the verifiers fits: {next(iter(why.values()))}")
        return [way for way, reason in why.items() if reason is None]

    def selecting(self, way: Way) -> list[Way]:
        """The same with each of the `selections`; none if its drafts cannot be selected from."""
        chain = way.structure is not None and way.structure.kind == "chain"
        return [way._replace(selection=each) for each in self.selections] if chain else []

    def decode(
        self, way: Way, prompts: Sequence[Sequence[int]], *, sampling: Sampling, **options: Any
    ) -> Iterator[Step]:
        """The steps of a run with this `sampling`; `options` as in `generate`."""
        heat = sampling.temperature if self.draft_temperature is None else self.draft_temperature
        return generate(
            self.target,
            self.drafter if way.structure else None,
            prompts,
            verifier=way.verifier,
            structure=way.structure,
            sampling=sampling,
            draft_sampling=replace(sampling, temperature=heat),
            selection=way.selection,
            **options,
        )
