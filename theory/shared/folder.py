"""The rules of a folder, one file each, as a mapping; each is imported when it is first asked for."""

from collections.abc import Iterable, Iterator, MutableMapping
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

Rule = TypeVar("Rule")


class Folder(MutableMapping[str, Rule]):
    """Name -> rule, for a package whose file `hsd_naive.py` declares the rule `hsd-naive` as `attribute`.

    `besides` are files of the package that declare none. Names are known without an import, and in order.

    >>> from draftproof.theory import verifiers
    >>> rules = Folder(verifiers.__name__, verifiers.__path__, "VERIFIER")
    >>> len(rules) > 20, "hsd-naive" in rules, rules["hsd-naive"].name
    (True, True, 'hsd-naive')
    """

    def __init__(self, package: str, path: Iterable[str], attribute: str, besides: tuple[str, ...] = ()):
        files = (module.name for module in iter_modules(path) if not module.ispkg)
        self._files = {file.replace("_", "-"): file for file in sorted(files) if file not in besides}
        self._package, self._attribute = package, attribute
        self._rules: dict[str, Rule] = {}

    def __getitem__(self, name: str) -> Rule:
        if name not in self._rules:
            module = import_module(f"{self._package}.{self._files[name]}")
            self._rules[name] = getattr(module, self._attribute)
        return self._rules[name]

    def __setitem__(self, name: str, rule: Rule) -> None:
        self._rules[name] = rule

    def __delitem__(self, name: str) -> None:
        del self._rules[name]

    def __contains__(self, name: object) -> bool:
        return name in self._files or name in self._rules

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._files.keys() | self._rules.keys()))

    def __len__(self) -> int:
        return len(self._files.keys() | self._rules.keys())
