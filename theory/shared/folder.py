"""The rules of a folder, one file each, as a mapping; each is imported when it is first asked for."""

from collections import UserDict
from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

from draftproof.theory.errors import unknown

Rule = TypeVar("Rule")


class Folder(UserDict[str, Rule]):
    """Name -> rule, for a package whose file `hsd_naive.py` declares the rule `hsd-naive` as `attribute`.

    `what` is what errors call a rule. `besides` are files of the package that declare none. Names are known
    without an import, and in order.

    >>> from draftproof.theory import verifiers
    >>> rules = Folder(verifiers.__name__, verifiers.__path__, "VERIFIER", "verifier")
    >>> len(rules) > 20, "hsd-naive" in rules, rules.named("hsd-naive").name
    (True, True, 'hsd-naive')
    """

    def __init__(
        self, package: str, path: Iterable[str], attribute: str, what: str, besides: tuple[str, ...] = ()
    ):
        files = (module.name for module in iter_modules(path) if not module.ispkg)
        names = (file.replace("_", "-") for file in sorted(files) if file not in besides)
        super().__init__(dict.fromkeys(names))  # type: ignore[arg-type]
        self._package, self._attribute, self._what = package, attribute, what

    def __getitem__(self, name: str) -> Rule:
        if self.data[name] is None:
            module = import_module(f"{self._package}.{name.replace('-', '_')}")
            self.data[name] = getattr(module, self._attribute)
        return self.data[name]

    def named(self, name: object) -> Rule:
        """The rule of that name. Raises BadInput, which lists similar names or all, if there is none."""
        if not isinstance(name, str) or name not in self:
            raise unknown(self._what, name, self)
        return self[name]
