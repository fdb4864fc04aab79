"""The project's one catalogue of wrong verifiers: what each mutant is, and which judge has to refute it.

A mutant stands once, in the module that says what it is made of; importing the module registers it.

* `edits`: source edits of `theory/verifiers`, and `rules`: bugs that real verifiers had, as rules of the
  project's own kind. Enumeration judges both, on the mutant's drafts; `prove` refutes those of the list of
  bugs once more (`tests/proofs_check/test_bugs.py`), and those alone that hold but on a null set.
* `functions`, `objects`: bugs that real verifiers had, as foreign code in the form in which they were
  found. `audit` judges them.
* `gpu`: source edits of the GPU kernels, judged by their interpreter (`tests/gpu/kernels`), and the lossy
  batched verifiers that `draftproof gpu validate` has to notice.
* `generated`: single edits made from the syntax trees of `theory/verifiers`, which are not registered here.
  Enumeration judges them, and no prover may call proved what it refutes.
* `controls`: verifiers without a flaw, which no judge may refute.

`row` is the mutant's number in the list of bugs that public code had (`bugs`), which gives its source.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from draftproof.theory.drafts import Scheme
from draftproof.theory.verifier import Verifier


@dataclass(frozen=True, eq=False)
class Mutant:
    """A verifier with a known flaw, or a control without one.

    `judge` is "audit" for a foreign function or class `verify`, run with `options`; "enumeration" or
    "proof" for a `verifier` of the project's own kind on `drafts`; else a test or command that judges by
    itself. `row` is its number in the list of bugs, "" if it has none. `expected` is how it must be
    found: "biased", "finding" (at an edge) or "lossless".
    """

    name: str
    flaw: str
    row: str = ""
    expected: str = "biased"
    judge: str = "enumeration"
    verify: Callable[..., Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    verifier: Verifier | None = None
    drafts: tuple[Scheme, ...] = ()


CATALOGUE: list[Mutant] = []
"""Every mutant and control that `table` judges, in the order of definition."""


def mutant(flaw: str, row: str = "", expected: str = "biased", **options: Any) -> Callable[[Any], Any]:
    """Registers a foreign function or class under its own name, to be audited."""

    def register(verify: Any) -> Any:
        name = verify.__name__.strip("_").replace("_", " ").lower()
        CATALOGUE.append(Mutant(name, flaw, row, expected, "audit", verify, options))
        return verify

    return register


def rule(name: str, flaw: str, verifier: Verifier, drafts: tuple[Scheme, ...], **more: Any) -> None:
    """Registers a verifier of the project's own kind, to be judged by enumeration or proof."""
    CATALOGUE.append(Mutant(name, flaw, verifier=verifier, drafts=drafts, **more))
