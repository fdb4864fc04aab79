"""How another process is told what was audited: the target in one expression, the instance as a document."""

import inspect
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from draftproof.simulators.audit.processors import Missing
from draftproof.simulators.audit.targets.base import Target
from draftproof.simulators.instances.files import parse
from draftproof.theory.errors import BadInput, quoted
from draftproof.theory.instance import Instance


def called(target: Target) -> tuple[str, dict[str, Any]]:
    """The target as an expression in Python, and the options by which `dp.replay` takes it."""
    options = {"style": target.style} if target.style != "verify" else {}
    if target.loaded is not None:
        given = {name: str(each) for name, each in target.loaded.items() if each is not None}
        return repr(given.pop("name")), options | given
    expression = spelling(target.origin) or target.name.rpartition(".")[2].replace("<lambda>", "verify")
    tensors = getattr(target, "tensors", target.whole)
    if target.dtype != ("float32" if tensors else "float64"):
        options["dtype"] = target.dtype
    return expression, options


def spelling(origin: Any) -> str:
    """The name by which another process loads an object, quoted; "" if it has none, as a nested function."""
    name, module = getattr(origin, "__qualname__", ""), sys.modules.get(getattr(origin, "__module__", ""))
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    plain = getattr(found, "_torchdynamo_orig_callable", found)
    if module is None or not name or inspect.unwrap(plain) is not inspect.unwrap(origin):
        return ""
    file = Path(getattr(module, "__file__", None) or "")
    if getattr(module, "__package__", "") or not file.is_file():
        return "" if module.__name__ == "__main__" else repr(f"{module.__name__}:{name}")
    path = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    return repr(f"{path.as_posix()}:{name}")


def instance_of(document: Any) -> Instance:
    """The instance of a report, given as it is or as the document that was printed, in which drafts of the
    kind `missing` are those of `--processors`. BadInput for anything else.
    """
    if isinstance(document, Instance):
        return document
    if not isinstance(document, dict):
        raise BadInput(f"instance: must be an Instance or its document, not {quoted(document)}")
    draft = document.get("draft")
    absent = draft if isinstance(draft, dict) and draft.get("kind") == Missing.kind else None
    if absent is None:
        return parse(json.dumps(document))
    found = parse(json.dumps({**document, "draft": {"kind": "chain", "depth": max(absent["depth"], 1)}}))
    masked = found.target if 0 < absent["depth"] == absent["drafted"] else None
    return replace(found, draft=Missing(absent["depth"], absent["drafted"], masked))
