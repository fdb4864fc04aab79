"""The ways in which a claim of some sizes is checked: sign cells, search, a counterexample."""

from collections.abc import Callable, Iterable, Iterator

from draftproof.proofs_check.claims.claim import CELLS, REFUTED, SIZES, UNDECIDED, unrefuted
from draftproof.proofs_check.means import Mean, accepted, compare
from draftproof.proofs_check.prove import prove
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance
from draftproof.theory.verifiers import named

SECONDS = 1800.0  # time limit of one sign-cell proof, in CPU seconds

PAIR = every(2, 1)
WITH, WITHOUT = Tree(PAIR, True), Tree(PAIR, False)

Case = tuple[int, Scheme]  # a vocabulary and a draft


class Lossless:
    """Proves one verifier lossless at every size given, by sign cells."""

    behind = CELLS

    def __init__(self, verifier: str, *cases: Case):
        self.verifier, self.cases = verifier, cases

    def __call__(self) -> str:
        for vocab, scheme in self.cases:
            verdict = prove(named(self.verifier), scheme, vocab, SECONDS).verdict
            if verdict != "proved":
                return verdict
        return SIZES


def means(verifier: str) -> Callable[[Scheme], Mean]:
    """E[tau] of a verifier on a draft."""
    return lambda scheme: accepted(named(verifier), scheme)


class Related:
    """Proves mean a "equal" to mean b, or "never below" it, at every size given, by sign cells."""

    behind = CELLS

    def __init__(self, wanted: str, a: Callable[[Scheme], Mean], b: Callable[[Scheme], Mean], *cases: Case):
        self.wanted, self.a, self.b, self.cases = wanted, a, b, cases

    def __call__(self) -> str:
        for vocab, scheme in self.cases:
            relation = compare(self.a(scheme), self.b(scheme), vocab, scheme, SECONDS).relation
            if relation in ("refuted", "undecided"):
                return relation
            if self.wanted == "equal" and relation != "equal":
                return REFUTED
        return SIZES


class Together:
    """Several sign-cell checks as one: the first verdict that is not a proof, if there is one."""

    behind = CELLS

    def __init__(self, *parts: Related):
        self.parts = parts

    def __call__(self) -> str:
        return next((found for part in self.parts if (found := part()) != SIZES), SIZES)


def chains(vocab: int, *depths: int) -> list[Case]:
    """Chains of some depths."""
    return [(vocab, Chain(depth)) for depth in depths]


def exact_instances(schemes: Iterable[Scheme], vocabs: Iterable[int], count: int) -> Iterator[Instance]:
    """All scenarios, then `count` random instances, of every scheme and vocabulary."""
    for scheme in schemes:
        for vocab in vocabs:
            yield from Scenarios(scheme, vocab)
            yield from Randoms(scheme, vocab, count)


def searched(
    holds: Callable[[Instance], bool], schemes: Iterable[Scheme], vocabs: Iterable[int], count: int
) -> Callable[[], str]:
    """A search through `exact_instances` that ends at the first one where the statement does not hold."""

    def check() -> str:
        tried = 0
        for instance in exact_instances(schemes, vocabs, count):
            if not holds(instance):
                return REFUTED
            tried += 1
        return unrefuted(tried)

    return check


def refuted_on(witness: Instance, holds: Callable[[Instance], bool]) -> Callable[[], str]:
    """Looks whether the statement still fails to hold on its counterexample."""
    return lambda: UNDECIDED if holds(witness) else REFUTED
