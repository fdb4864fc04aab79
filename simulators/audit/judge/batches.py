"""The exact joint law of the requests of a batch, which a foreign function verifies or selects from."""

from collections.abc import Iterable
from itertools import chain
from time import monotonic

from flint import fmpq

from draftproof.simulators.audit.judge.exact import INSTANCE_SECONDS, Case, emit, must_repeat
from draftproof.simulators.audit.rounding import rounding_bound
from draftproof.simulators.audit.sandbox import Sandbox
from draftproof.simulators.audit.targets.batches import ByRoles, Decision
from draftproof.simulators.laws.verdicts.batches import Block, Emitted, judge_mixture
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix
from draftproof.theory.selection.batch import Batch, Shown
from draftproof.theory.verifiers import named as verifier

TOKEN = verifier("token")


def blocks(request: Instance, decisions: Iterable[Shown | Prefix]) -> dict[Shown | Prefix, Block]:
    """What a request emits: by token verification of tokens that are shown, or what the function returned."""
    emitted = Emitted(request, TOKEN)
    return {
        each: emitted[each]
        if isinstance(each, Shown)
        else Block(Law([(each, ONE)]), fmpq(len(each) - 1), request.target)
        for each in decisions
    }


def batch_case(target: ByRoles, sandbox: Sandbox, batch: Batch, seconds: float) -> Case:
    """The exact verdict on one batch, against p only. Raises NotEnumerable, or Fault for a call that hangs.

    Decisions are discrete, so rounding may cause only what `bound` says: 0 for a rule, and its own
    verification's rounding for a target that emits tokens.
    """
    programs, deadline = target.programs_on(sandbox, batch), monotonic() + min(seconds, INSTANCE_SECONDS)
    runs, faults, fault_mass = emit(programs, sandbox, deadline, sandbox.repeats)
    nothing: Decision = tuple(Shown((), 0) for _ in batch.requests)
    mixture = {nothing: fault_mass} if fault_mass else {}
    for mass, (decision, _) in runs:
        mixture[decision] = mixture.get(decision, ZERO) + mass
    seen = [dict.fromkeys(each) for each in zip(*mixture, strict=True)]
    laws = [blocks(*each) for each in zip(batch.requests, seen, strict=True)]
    rule = all(isinstance(each, Shown) for each in chain(*seen))
    one, count = batch.requests[0], len(batch.requests)
    bound = ZERO if rule else rounding_bound(target.dtype, one.vocab, one.draft.depth, count, target.logits)
    verdict = judge_mixture(batch, TOKEN, laws, mixture, bound)
    variation, accepted = verdict.total_variation, verdict.expected_accepted
    wrong = verdict.wrong if variation > bound and not fault_mass else None
    case = Case(batch, accepted, fault_mass, faults, variation, bound, wrong)
    if not case.lossless:
        for program in target.programs_on(sandbox, batch):
            must_repeat(program.run)
    return case
