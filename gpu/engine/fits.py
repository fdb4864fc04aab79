"""Whether prompts, drafter, verifier and structure go together."""

from collections.abc import Sequence

from draftproof.gpu.drafters.drafter import Drafter, Structure
from draftproof.gpu.models import Model
from draftproof.gpu.verify import Verifier
from draftproof.theory.errors import BadInput


def must_fit(
    target: Model,
    drafter: Drafter | None,
    prompts: Sequence[Sequence[int]],
    verifier: Verifier,
    structure: Structure | None,
) -> None:
    """Raises BadInput, in one line, where they do not."""
    if not prompts:
        raise BadInput("there is no prompt")
    for number, prompt in enumerate(prompts, 1):
        which = f"prompt {number}" if len(prompts) > 1 else "the prompt"
        if not prompt:
            raise BadInput(f"{which} is empty")
        if len(prompt) >= target.context:
            raise BadInput(
                f"{which} has {len(prompt)} tokens; {target.name} takes {target.context}, answer included"
            )
    if drafter is not None and structure is not None:
        why = misfit(verifier, structure, drafter)
        if why is not None:
            raise BadInput(why)


def misfit(verifier: Verifier, structure: Structure, drafter: Drafter) -> str | None:
    """Why the three do not go together; None where they do."""
    if structure.kind not in verifier.drafts:
        fit = ", ".join(verifier.drafts)
        return f"{verifier.name} is made for {fit}, not for {structure.name} ({structure.kind})"
    if drafter.only_chains and structure.kind != "chain":
        return f"{drafter.name} drafts chains, not {structure.name}"
    if verifier.name == "greedy-block" and not drafter.stateless:
        return f"greedy-block needs a drafter whose rows depend on the context alone; {drafter.name} is none"
    return None


def fitting(
    structures: Sequence[Structure], verifiers: Sequence[Verifier], drafter: Drafter
) -> list[tuple[Structure, Verifier]]:
    """The pairs that go together, structure by structure; BadInput where there is none."""
    found = [
        (shape, each) for shape in structures for each in verifiers if misfit(each, shape, drafter) is None
    ]
    if not found:
        raise BadInput(f"no verifier asked for is made for these drafts of {drafter.name}")
    return found
