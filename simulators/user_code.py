"""The verifier that a spelling names: one of the project's, or the user's own by file or module."""

import inspect
from typing import Any

from draftproof.simulators.support.load import load, remembered
from draftproof.theory.errors import BadInput, unknown
from draftproof.theory.targets import TARGETS, declared
from draftproof.theory.verifier import ALL, CHAIN, Verifier
from draftproof.theory.verifiers import VERIFIERS

FORMS = {3: ("oracle", "draft", "target"), 2: ("target", "draft")}
"""The first parameters of a rule in the project's form (docs/write.md), and of one on trees (audit.Tree)."""


class UserVerifier(Verifier):
    """A verifier of the user's. Its name is its spelling, by which other processes load it again."""

    def __reduce__(self) -> tuple:
        return named, (self.name,)


def named(spelling: str) -> Verifier:
    """The verifier of that name, the rule of a declared target, or the object that `file.py:name` or
    `package.module:name` is: a `Verifier`; verify(oracle, draft, target), taken as a rule declared lossless
    on every kind of draft; or a function that `draftproof audit` takes, on arrays or as verify(target, draft,
    rng) on trees, whose law is exact for its own arithmetic. An edited file is loaded again.

    Raises BadInput if there is none.

    >>> named("block").lossless, named("cactus:1/20").lossless
    (True, False)
    """
    if spelling in VERIFIERS:
        return VERIFIERS[spelling]
    if spelling.partition(":")[0] in TARGETS:
        return declared(spelling).rule
    if ":" not in spelling:
        raise unknown("verifier", spelling, [*VERIFIERS, *TARGETS, "file.py:name"])
    return _of_user(spelling)


@remembered
def _of_user(spelling: str) -> Verifier:
    found: Any = load(spelling)
    if isinstance(found, Verifier):
        return UserVerifier(**{**vars(found), "name": spelling})
    return UserVerifier(spelling, spelling, **_form(found, spelling))


def of_function(function: Any) -> Verifier:
    """The verifier that a function is, as `named` takes it; declared lossless."""
    name = str(getattr(function, "__qualname__", "") or type(function).__name__)
    return Verifier(name, name, **_form(function, name))


def _form(found: Any, name: str) -> dict[str, Any]:
    # The fields of a function's `Verifier`.
    if not callable(found):
        raise BadInput(f"{name}: is no verifier, but a {type(found).__name__}")
    first, rule = _parameters(found), {"lossless": True, "ordered": True}
    if first[:3] == FORMS[3]:
        return {"drafts": ALL, "verify": found, **rule}
    # imported here: the audit is a quarter of the product, which the project's own verifiers do without
    from draftproof.simulators.audit.enumerated import EnumeratedRule
    from draftproof.simulators.audit.targets.signatures import infer_signature
    from draftproof.simulators.audit.targets.trees import Tree

    tree = first[:2] == FORMS[2]
    made = EnumeratedRule(Tree(found, name=name) if tree else infer_signature(found, name=name))
    return {"drafts": ALL if tree else CHAIN, "verify": made.verify, "rounding": made.rounding, **rule}


def _parameters(function: object) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ()
