"""Functions of a file that cannot be imported as a whole: their text is read and run by itself.

Serving engines import half the world at the top of a file. What is audited is the function's own
text, unmodified, in a namespace with the few names that it uses.
"""

import re
from pathlib import Path
from typing import Any

from draftproof.simulators.files import text_of
from draftproof.theory.errors import BadInput


def functions(path: Path | None, names: tuple[str, ...], namespace: dict[str, Any]) -> dict[str, Any]:
    """The namespace after the top-level functions `names` of a file were defined in it.

    Tabs are read as four spaces where a file mixes them. Functions that the file lacks are left
    out; raises BadInput when it has none of them, or cannot be read.
    """
    if path is None:
        raise BadInput("this adapter needs --path, the file that has the function")
    text = text_of(path)
    found = {name: body for name in names if (body := _body(text, name))}
    if not found:
        raise BadInput(f"{path}: has none of the functions {', '.join(names)}")
    for name, body in found.items():
        try:
            exec(compile(body.expandtabs(4), f"{path}:{name}", "exec"), namespace)
        except Exception as error:
            raise BadInput(f"{path}: {name} cannot be compiled: {error}") from None
    return namespace


def function(path: Path | None, name: str, namespace: dict[str, Any]) -> Any:
    """The one function of that name."""
    return functions(path, (name,), namespace)[name]


def _body(text: str, name: str) -> str:
    match = re.search(rf"^def {re.escape(name)}\(.*?(?=^[^\s#)]|\Z)", text, re.MULTILINE | re.DOTALL)
    return match[0] if match else ""
