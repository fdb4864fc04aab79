"""How another process is told what was audited: the target in one expression, the instance as a document."""

import inspect
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from draftproof.simulators.audit.processors import Missing
from draftproof.simulators.audit.targets.base import Target
from draftproof.simulators.audit.targets.selection import Selection
from draftproof.simulators.instances.files import parse_any
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.selection.batch import Batch


def called(target: Target) -> tuple[str, dict[str, Any]]:
    """The target as an expression in Python, and the options by which `dp.replay` takes it."""
    options = {"style": target.style} if target.style != "verify" else {}
    if target.loaded is not None:
        given = {name: str(each) for name, each in target.loaded.items() if each is not None}
        return repr(given.pop("name")), options | given
    expression = spelling(target.origin) or target.name.rpartition(".")[2].replace("<lambda>", "verify")
    tensors = getattr(target, "tensors", target.whole)
    if shapes := getattr(target, "coins", None):
        function = f"load({expression})" if ":" in expression else expression
        more = f"coins={shapes}, tensors={tensors}, dtype={target.dtype!r}"
        return f"audit.Function({function}, {more})", options
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


def instance_of(document: Any, target: Target) -> Instance | Batch:
    """The instance or batch of a report on the target, given as it is or as the document that was printed:
    the rule of a batch is then the target, and drafts of the kind `missing` are those of `--processors`.
    """
    found: Instance | Batch
    if isinstance(document, dict):
        given, draft = dict(document), document.get("draft")
        absent = draft if isinstance(draft, dict) and draft.get("kind") == Missing.kind else None
        if isinstance(given.get("selection"), dict):
            given["selection"] = given["selection"] | {"rule": "tetris"}
        elif absent:
            given["draft"] = {"kind": "chain", "depth": max(absent["depth"], 1)}
        found = parse_any(json.dumps(given))
        if absent and isinstance(found, Instance):
            masked = found.target if 0 < absent["depth"] == absent["drafted"] else None
            found = replace(found, draft=Missing(absent["depth"], absent["drafted"], masked))
    else:
        found = document
    if isinstance(target, Selection) != isinstance(found, Batch):
        raise BadInput(f"a {target.adapter} does not take such an instance")
    return replace(found, rule=target.rule) if isinstance(found, Batch) else found  # type: ignore[attr-defined]
