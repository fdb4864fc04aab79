"""What a registered claim is, and the claims of the theorems that hold at every size."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from draftproof.proofs_check.every_size import prove_every_size
from draftproof.proofs_check.induction import THEOREMS
from draftproof.theory.verifiers import named

EVERY = "proved for every vocabulary and depth"
SIZES = "proved for the sizes listed"
REFUTED = "refuted"
UNDECIDED = "undecided"


CODE, CELLS, ROCQ, EXACT, WRITTEN = "code run", "sign cells", "Rocq", "exact instances", "argument"
"""What may stand behind a verdict: the code that it is about, run at every size, or on symbols at some; a
machine proof; that code run on rational instances; an argument that was typed."""

MACHINE_PROOFS = {
    "token-lossless": "token_lossless",
    "block-lossless": "block_lossless",
    "block-keeps-w": "block_accepts",
    "block-optimal": "no_rule_accepts_more",
    "block-bound": "no_rule_accepts_more",
    "recursive-lossless": "recursive_rejection_lossless",
    "traversal-lossless": "traversal_lossless",
    "lift-lossless": "lift_lossless",
    "nss-lossless": "nss_lossless",
    "one-hot-lossless": "one_hot_lossless",
    "greedy-lossless": "greedy_lossless",
    "priority-every-size": "priority_lossless",
    "lifted-priority-every-size": "lifted_priority_lossless",
}
"""Claim -> its theorem in proofs_check/rocq."""


CODE_RUN = {
    "token-lossless": ("token",),
    "nss-lossless": ("nss",),
    "one-hot-lossless": ("one-hot",),
    "block-lossless": ("block",),
    "recursive-lossless": ("specinfer", "rrs"),
    "traversal-lossless": ("traversal",),
    "traversal-rate": ("traversal",),
    "lift-lossless": ("lifted",),
    "k-seq-lossless": ("k-seq",),
    "lifted-k-seq-lossless": ("lifted-k-seq",),
}
"""Claim -> the verifiers whose own code is run at every size to prove it."""


def unrefuted(instances: int) -> str:
    """The verdict of a search that found no counterexample."""
    return f"no counterexample in {instances:,} exact instances"


@dataclass(frozen=True)
class Claim:
    """A statement in our words, its source, the sizes it was decided for, and how to decide it again.

    `check` returns the verdict found now and takes about `seconds` of CPU time; `verdict` is the recorded
    one, to which `note` adds, such as a witness.
    """

    key: str
    statement: str
    source: str
    scope: str
    check: Callable[[], str]
    verdict: str = SIZES
    seconds: float = 1
    note: str = ""

    @property
    def behind(self) -> tuple[str, ...]:
        """What stands behind the verdict."""
        checked = getattr(self.check, "behind", EXACT)
        return (checked, ROCQ) if self.key in MACHINE_PROOFS else (checked,)

    @property
    def command(self) -> str:
        return f"draftproof claims {self.key}"


@dataclass(frozen=True)
class Induction:
    """Checks every step of a theorem."""

    theorem: str
    behind = WRITTEN

    def __call__(self) -> str:
        theorem = THEOREMS[self.theorem]
        return theorem.verdict if theorem.check().holds else UNDECIDED


@dataclass(frozen=True)
class CodeRun:
    """Runs the verifiers' own code at every size."""

    verifiers: tuple[str, ...]
    behind = CODE

    def __call__(self) -> str:
        proved = all(
            prove_every_size(named(name), seconds=300).verdict == "proved" for name in self.verifiers
        )
        return EVERY if proved else UNDECIDED


def by_induction() -> Iterator[Claim]:
    """A claim for every theorem and corollary of `induction`; the code is run where that is possible."""
    for theorem in THEOREMS.values():
        for each in (theorem, *theorem.corollaries):
            scope = each.scope or theorem.scope
            if each.key in CODE_RUN:
                run = CodeRun(CODE_RUN[each.key])
                yield Claim(
                    each.key,
                    each.statement,
                    each.source,
                    scope,
                    run,
                    EVERY,
                    60.0 if each.key.startswith("lifted-k") else 2.0,
                )
                continue
            yield Claim(each.key, each.statement, each.source, scope, Induction(theorem.key), theorem.verdict)


def from_code() -> Iterator[Claim]:
    """Claims for verifiers whose code is run at every size, and for which no argument was written."""
    independent = "every chain, every tree with replacement or with stratified siblings"
    for name, statement, scope in (
        (
            "naive-tree",
            "NaiveTree, which judges the first child by token verification, is lossless.",
            "every tree and path",
        ),
        ("priority", "The priority rule, node by node, is lossless.", independent),
        ("lifted-priority", "The lift of the priority rule is lossless.", independent),
    ):
        source = named(name).source
        yield Claim(f"{name}-every-size", statement, source, scope, CodeRun((name,)), EVERY, 2.0)
