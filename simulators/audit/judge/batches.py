"""The exact joint law of the requests of a batch, which a foreign function verifies or selects from."""

from time import monotonic

from flint import fmpq

from draftproof.simulators.audit.judge.exact import INSTANCE_SECONDS, Case, must_repeat, runs_of
from draftproof.simulators.audit.sandbox import Fault, Sandbox
from draftproof.simulators.audit.targets.batches import ByRoles, Decision
from draftproof.simulators.laws.verdicts.batches import Block, Emitted, judge_mixture
from draftproof.theory.law import Law
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix
from draftproof.theory.selection.batch import Batch, Shown
from draftproof.theory.shared.reportable import spelled
from draftproof.theory.verifiers import named as verifier

TOKEN = verifier("token")


class EmittedWords(Emitted):
    """What one request emits: by the verifier if tokens are shown to it, or what the function returned."""

    def __getitem__(self, decision: Shown | Prefix) -> Block:
        if isinstance(decision, Shown):
            return super().__getitem__(decision)
        return Block(
            Law([(decision, ONE)] if decision else []), fmpq(max(len(decision) - 1, 0)), self.request.target
        )


def batch_case(target: ByRoles, sandbox: Sandbox, batch: Batch, seconds: float = INSTANCE_SECONDS) -> Case:
    """The exact verdict on one batch, against p only. Raises NotEnumerable, or Fault for a call that hangs.

    Decisions are discrete, so rounding may cause only what `bound` says: 0 for a rule, and its own
    verification's rounding for a target that emits tokens.
    """
    deadline = monotonic() + seconds
    mixture: dict[Decision, fmpq] = {}
    fault_mass, faults, words = ZERO, dict[str, str](), False
    for program, drafts in target.programs_on(sandbox, batch):
        if not sandbox.repeats:
            must_repeat(program.run)
            sandbox.repeats = True
        for mass, result in runs_of(program, deadline, sandbox):
            if isinstance(result, Fault):
                fault_mass += mass
                faults.setdefault(result.kind, f"{result.what} ({' | '.join(map(spelled, drafts))})")
                decision: Decision = tuple(Shown((), 0) for _ in drafts)
            else:
                decision = result[0]
            mixture[decision] = mixture.get(decision, ZERO) + mass
            words |= not all(isinstance(each, Shown) for each in decision)
    laws = [EmittedWords(request, TOKEN) for request in batch.requests]
    bound = target.bound_of(batch) if words else ZERO
    verdict = judge_mixture(batch, TOKEN, laws, mixture, bound)
    case = Case(
        batch,
        verdict.expected_accepted,
        fault_mass,
        faults,
        verdict.total_variation,
        bound,
        verdict.wrong if verdict.total_variation > bound and not fault_mass else None,
    )
    if not case.lossless:
        for program, _ in target.programs_on(sandbox, batch):
            must_repeat(program.run)
    return case
