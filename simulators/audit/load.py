"""Loads the target that a command line names."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from draftproof.simulators.audit.sandbox import CALL_SECONDS, Observer
from draftproof.simulators.audit.targets.base import Target
from draftproof.simulators.audit.targets.loops import Loop
from draftproof.simulators.audit.targets.programs import ForeignProgram
from draftproof.simulators.audit.targets.signatures import infer_signature
from draftproof.simulators.audit.targets.trees import Tree
from draftproof.simulators.support.load import in_full
from draftproof.simulators.support.load import load as loaded
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput, quoted

STYLES = {"verify": infer_signature, "loop": Loop, "tree": Tree, "exec": ForeignProgram}
"""What is audited: a function that verifies drafts or selects tokens of a batch, generates text, or verifies
trees; or a program, named by its command.
"""


@dataclass(frozen=True)
class Subject:
    """What is audited, by name or as a function, and how it is called: its style, one of STYLES; the
    arithmetic; and the drafts that a function on trees is made for. Raises BadInput for what does not go
    together.
    """

    named: str | Callable[..., Any] | Target
    style: str = "verify"
    dtype: str | None = None
    drafts: tuple[Scheme, ...] = ()

    def __post_init__(self) -> None:
        if not (callable(self.named) or isinstance(self.named, str | Target)):
            raise BadInput(f"{quoted(self.named)} is no function, and no name of one")
        if self.style == "exec" and not isinstance(self.named, str):
            raise BadInput(f"a program is named by its command, not by {quoted(self.named)}")
        if self.style not in STYLES:
            raise BadInput(f"style {self.style!r} is not one of {', '.join(STYLES)}")
        if self.drafts and self.style != "tree":
            raise BadInput("draft goes with --tree")


def target(
    subject: Subject | Target | str | Callable[..., Any],
    observer: Observer | None = None,
    seconds: float = CALL_SECONDS,
) -> Target:
    """The target of the function that `load` finds, or that is given. A function is called a few times, each
    at most `seconds` long, which `observer` is told.
    """
    if not isinstance(subject, Subject):
        subject = Subject(subject)
    named, dtype, style = subject.named, subject.dtype, subject.style
    if style == "exec":
        return ForeignProgram(str(named), dtype=dtype)
    name = in_full(named) if isinstance(named, str) else ""
    found = load(name, piecewise=True) if isinstance(named, str) else named
    if isinstance(found, Target):
        if style != "verify" or dtype is not None:
            raise BadInput(f"{name}: is a target already, with its style and type")
        made: Target = found
    elif style == "verify":
        made = infer_signature(found, name=name, dtype=dtype, seconds=seconds, observer=observer)
    else:
        made = STYLES[style](found, name=name, dtype=dtype)
    if isinstance(made, Tree):
        made.drafts = subject.drafts
    if name:
        made.loaded = {"name": name, "dtype": dtype}
    return made


def load(name: str, piecewise: bool = False) -> Any:
    """The function or target that `package.module:name` or `path/to/file.py:name` names; else BadInput."""
    found = loaded(name, piecewise)
    if not callable(found) and not isinstance(found, Target):
        raise BadInput(f"{name}: is not a function")
    return found
