"""Selection rules, one file each: which drafted tokens of a batch are verified.

Serving engines draft for several requests and verify only what fits. A rule is written beside the verifiers
and knows none of them; a verifier is handed the kept prefix of a draft and does not know that anything was
dropped. Every file has `RULE`, its declarations. `RULES` finds them by listing this folder.
"""

from importlib import import_module
from pkgutil import iter_modules

from draftproof.theory.errors import unknown
from draftproof.theory.selection.view import Rule


def _found() -> dict[str, Rule]:
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    rules = (module.RULE for module in modules if hasattr(module, "RULE"))
    return {rule.name: rule for rule in sorted(rules, key=lambda rule: rule.name)}


RULES: dict[str, Rule] = _found()
"""Name -> selection rule."""


def named(name: object) -> Rule:
    """The rule of that name. Raises BadInput, which lists similar names or all of them, if there is none.

    >>> named("tetris").predictable
    False
    """
    if not isinstance(name, str) or name not in RULES:
        raise unknown("selection rule", name, RULES)
    return RULES[name]
