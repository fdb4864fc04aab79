"""The optima of an instance: enumerates its drafts and passes them to `theory.transport`."""

from collections.abc import Sequence
from functools import lru_cache

from flint import fmpq

from draftproof.simulators.enumerate import drafts
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Row
from draftproof.theory.transport import block
from draftproof.theory.transport import partial as incomplete
from draftproof.theory.transport import stateless as problems
from draftproof.theory.transport.bounds import Optimum
from draftproof.theory.transport.certificate import Certificate, Transport, certified
from draftproof.theory.transport.single_step import subset_formula

SETS = 10  # the largest vocabulary whose sets of tokens are enumerated


@lru_cache(maxsize=1)
def drafted(instance: Instance) -> block.Drafted:
    """The law of the drafted prefixes; cached for the last instance, since both optima use it."""
    return block.merged(drafts(instance))


def block_problem(instance: Instance) -> Transport:
    """The full-information block transport problem of an instance."""
    return block.problem(drafted(instance), instance.target, instance.draft.depth)


def full_information(instance: Instance) -> Certificate:
    """The certified full-information optimum, a bound of every lossless verifier in its first call."""
    return certified(block_problem(instance))


def stateless(instance: Instance) -> Optimum:
    """The certified optimum of lossless verifiers without state."""
    return problems.stateless(drafted(instance), instance.target)


def one_level(instance: Instance) -> fmpq:
    """Both optima of a draft of one level, in closed form: 1 + min over sets H of p(H) - Pr(all drafts in H).

    Raises BadInput for a deeper draft or more than SETS tokens.
    """
    if instance.draft.depth != 1 or instance.vocab > SETS:
        raise BadInput(f"optima in closed form are for drafts of depth 1 and up to {SETS} tokens")
    draws = {frozenset().union(*seen): mass for seen, mass in drafted(instance).items()}
    return subset_formula(instance.target[()], draws)


def completions(
    instance: Instance, choices: Sequence[tuple[Row | None, Row | None]] | None = None
) -> list[Instance]:
    """The instance, and copies with other rows at the prefixes that some drafts contain and others do not.

    `choices` are pairs (target row, proposal row), with None for the instance's own row. By default the
    target row is one-hot on each token in turn.
    """
    prefixes = [block.drafted(draft.root) for _, draft in drafts(instance)]
    sometimes = frozenset.union(*prefixes) - frozenset.intersection(*prefixes)
    hidden = sorted(prefix for prefix in sometimes if len(prefix) < instance.draft.depth)
    if choices is None:
        choices = incomplete.points(instance.target[()])
    tables = incomplete.completions(instance.target, instance.proposal, hidden, choices)
    return [Instance(p, q, instance.draft, instance.name) for p, q in tables]


def partial_information(family: Sequence[Instance], weights: Sequence[fmpq] | None = None) -> Optimum:
    """The optimum of verifiers that see only the rows on the drafted tree and are valid on the whole family.

    `weights` are the instances' weights in the mean of E[tau]; by default all are equal.
    """
    if weights is None:
        weights = [fmpq(1, len(family))] * len(family)
    return incomplete.partial([(drafts(one), one.target) for one in family], weights)
