"""Whether a function's result depends on the order of a set of texts, which differs between processes.

The order is that of hashes, and Python draws the key of its hashes of text when it starts (PYTHONHASHSEED).
So the same coins are tried in several processes, each with another key.
"""

import ast
import os
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

from draftproof.simulators.audit import load
from draftproof.simulators.audit.battery import battery
from draftproof.simulators.audit.isolation import Progress, isolated
from draftproof.simulators.audit.judge.exact import run_or_fault
from draftproof.simulators.audit.randomness.coin_state import NotEnumerable
from draftproof.simulators.audit.randomness.sources import Fixed
from draftproof.simulators.audit.sandbox import Fault, Observer, sandboxed
from draftproof.theory.errors import BadInput

KEYS = ("1", "2", "3", "4")
COINS = (0.5, 0.9, 0.1)
_BUILD = {"set", "frozenset", "hash"}
DEPENDS = (
    "the same coins give different results under another PYTHONHASHSEED: it depends on the order of a set of "
    "texts or on their hashes; sort the set"
)


def depends(name: str, roles: str | None, style: str, seconds: float, progress: Progress) -> bool:
    """Whether the results of the function of that name, of a style of `load.STYLES`, differ between processes
    with other keys. Functions that build no set are not tried.
    """
    if not builds_sets(name):
        return False
    found = set[str]()
    for key in KEYS:
        with patch.dict(os.environ, PYTHONHASHSEED=key), suppress(BadInput):
            told = isolated(results, name, seconds, progress, name, roles, style, seconds)
            if isinstance(told, str):  # else it hangs or dies, which the audit itself has to find
                found.add(told)
    return len(found) > 1


def builds_sets(name: str) -> bool:
    """Whether the function of that name, or what it names of its own file, builds a set or asks for a hash.

    >>> here = "draftproof.simulators.audit.hash_order"
    >>> builds_sets(f"{here}:depends"), builds_sets(f"{here}:results")
    (True, False)
    """
    root, first = load.source(name), name.rpartition(":")[2].partition(".")[0]
    try:
        spec = None if isinstance(root, Path) else find_spec(root)
        tree = ast.parse(Path(spec.origin or "" if spec else root).read_bytes())
    except (OSError, SyntaxError, ValueError, ImportError):
        return False
    known: dict[str, ast.stmt] = {}
    for each in tree.body:
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            known[each.name] = each
        elif isinstance(each, ast.Assign):
            known |= {name.id: each for name in each.targets if isinstance(name, ast.Name)}
    left = [first]
    while left:
        parts = list(ast.walk(known.pop(left.pop(), ast.Pass())))
        named = {part.id for part in parts if isinstance(part, ast.Name)}
        if named & _BUILD or any(isinstance(part, ast.Set | ast.SetComp) for part in parts):
            return True
        left += named & known.keys()
    return False


def results(observer: Observer, name: str, roles: str | None, style: str, seconds: float) -> str:
    """A digest of the function's results on small instances, with a few plain coins."""
    target = load.target(name, None, None, style, roles, observer)
    observer.loaded()
    found, instances = sha256(), list(battery(3, 1, 2 if target.whole else 1))  # made outside the sandbox
    with sandboxed(seconds, target.namespace, observer, target.name) as sandbox:
        for instance in instances:
            for program in target.programs(sandbox, instance, 1):
                for coin in COINS:
                    try:
                        result = run_or_fault(program.run, Fixed([coin]))
                    except (NotEnumerable, BadInput):
                        continue
                    found.update((result.kind if isinstance(result, Fault) else str(result)).encode())
    return found.hexdigest()
