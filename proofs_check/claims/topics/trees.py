"""The most that can be accepted: alpha* of siblings, and deterministic trees."""

from itertools import combinations, product

from flint import fmpq

from draftproof.proofs_check.claims.checks import Case, by_depth, searched
from draftproof.proofs_check.claims.quantities import FORMULAS, Quantity, draws
from draftproof.simulators.laws.enumerate import Enumerator
from draftproof.simulators.laws.optimum import full_information
from draftproof.simulators.support.make import prefixes
from draftproof.theory.drafts.names import scheme
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import Prefix
from draftproof.theory.transport import single_step
from draftproof.theory.transport.certificate import certified


def _certified(instance: Instance) -> bool:
    # The transport program with its exact certificate and both formulas agree.
    p, q, draft = instance.target[()], instance.proposal[()], instance.draft
    value = certified(single_step.problem(p, draws(draft, q))).value
    return all(value == FORMULAS[name](draft, p, q) for name in ("prefix minimum", "subset minimum"))


def _near_best(instance: Instance) -> bool:
    best, found = (Quantity(name).on(instance) for name in ("prefix minimum", "global-resolution"))
    return 0 <= best - found <= fmpq(1, 10**6)


def _all_of_the_tree(instance: Instance) -> bool:
    return Quantity("nss").on(instance) == full_information(instance).value


def _best_tree(instance: Instance) -> bool:
    # Whether no tree of as many tokens has more of q, one row for each depth.
    q, drafted = by_depth(instance).proposal, instance.draft
    reach: dict[Prefix, fmpq] = {(): ONE}
    for prefix in [x for x in prefixes(q.vocab, drafted.depth) if x]:
        reach[prefix] = reach[prefix[:-1]] * q[prefix[:-1]][prefix[-1]]
    nodes = [node.prefix for node in drafted.draw(Enumerator(ONE), q).root]
    trees = (each for each in combinations(reach, len(nodes)) if all(x[:-1] in each for x in each))
    return sum(map(reach.__getitem__, nodes)) == max(sum(map(reach.__getitem__, each)) for each in trees)


def _cases(vocabs: tuple[int, ...], *drafts: str) -> list[Case]:
    return list(product(vocabs, map(scheme, drafts)))


CHECKS = {
    "alpha-certified": searched(
        _certified, _cases((3, 4, 5), "tree:2x1", "tree+:2x1", "tree:3x1", "tree+:3x1"), 15
    ),
    "global-resolution-optimal": searched(_near_best, _cases((2, 3, 4), "tree+:2x1"), 60),
    "nss-optimal": searched(_all_of_the_tree, _cases((2, 3), "top-k:2x1", "top-k:2x2", "ddtree:4x2"), 20),
    "ddtree-optimal": searched(_best_tree, _cases((2, 3), "ddtree:4x2"), 20),
}
