"""Mutants and controls: what each is, and how it is put before the checker."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from draftproof.theory.drafts import Scheme
from draftproof.theory.verifier import Verifier


@dataclass(frozen=True, eq=False)
class Specimen:
    """A verifier with a known flaw, or with none.

    `verify` is a foreign function (or class), audited with `options`; or `verifier` is one of the
    project's own kind, judged exactly on `drafts`. `row` is its row of the list of bugs, "" for none.
    `expected` is how it must be found: "biased", "finding" (at an edge) or "lossless".
    """

    name: str
    flaw: str
    row: str = ""
    expected: str = "biased"
    verify: Callable[..., Any] | None = None
    verifier: Verifier | None = None
    drafts: tuple[Scheme, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


SPECIMENS: list[Specimen] = []
"""Everything registered, in the order of definition."""


def specimen(flaw: str, row: str = "", expected: str = "biased", **options: Any) -> Callable[[Any], Any]:
    """Registers a foreign function or class under its own name."""

    def keep(verify: Any) -> Any:
        name = verify.__name__.strip("_").replace("_", " ").lower()
        SPECIMENS.append(Specimen(name, flaw, row, expected, verify=verify, options=options))
        return verify

    return keep


def native(name: str, flaw: str, verifier: Verifier, drafts: tuple[Scheme, ...], **more: Any) -> None:
    """Registers a verifier of the project's own kind."""
    SPECIMENS.append(Specimen(name, flaw, verifier=verifier, drafts=drafts, **more))
