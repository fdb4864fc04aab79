"""Which edits of a module the fast tests of that module find.

`python -m tests.mutants.found MODULE EDITS SECONDS TEST...` prints what the tests say of the module, and
of every edit chosen with the fixed seed: "found", "survives", or "ends nowhere" in so many CPU seconds. Every
edit is run in a fork, in which the code of the module's functions is exchanged.
"""

import json
import os
import resource
import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import getsource
from random import Random
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from hypothesis import Phase, settings

from tests.mutants.syntax import Edit, edits

WARNING = "ignore::pytest.PytestAssertRewriteWarning"
OPTIONS = "-q", "-x", "-p", "no:cacheprovider", "-W", WARNING, "-m", "not slow"
NOT_RUN = 99


def chosen(module: ModuleType, count: int) -> list[Edit]:
    """Some edits of the module, chosen with a fixed seed."""
    every = edits(getsource(module))
    return Random(0).sample(every, min(count, len(every)))


def functions(owner: Any, module: ModuleType) -> Iterator[FunctionType]:
    """The functions that the module defines, those of its classes too."""
    for each in vars(owner).values():
        for function in (each, getattr(each, "fget", None), getattr(each, "__wrapped__", None)):
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                yield function
        if isinstance(each, type) and each.__module__ == module.__name__:
            yield from functions(each, module)


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code of all functions in a module's code, but not of those within functions."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            if not each.co_flags & 2:  # of a class
                yield from codes(each)


def exchange(module: ModuleType, text: str) -> None:
    """Gives the module's functions the code of the edited text."""
    assert module.__file__ is not None
    edited = {each.co_qualname: each for each in codes(compile(text, module.__file__, "exec"))}
    for function in functions(module, module):
        if (name := function.__code__.co_qualname) in edited:  # not what a decorator or a dataclass adds
            function.__code__ = edited[name]


class Unshrunk:
    """Counterexamples stay as they are found."""

    def pytest_collection_finish(self) -> None:
        settings.register_profile("unshrunk", settings(), phases=(Phase.explicit, Phase.generate))
        settings.load_profile("unshrunk")


def said(module: ModuleType, text: str, seconds: int, tests: list[str]) -> str:
    """What the tests say of the module with this text."""
    child = os.fork()
    if not child:
        status = NOT_RUN
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            exchange(module, text)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            status = pytest.main([*OPTIONS, *tests], [Unshrunk()])
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "ends nowhere"
    return {0: "survives", 1: "found", 2: "found"}.get(os.WEXITSTATUS(status), "not run")


def main(name: str, count: str, seconds: str, *tests: str) -> None:
    module = import_module(name)
    for test in ("tests/conftest.py", *tests):  # what every fork would import
        import_module(test.partition("::")[0].removesuffix(".py").replace("/", "."))
    print(json.dumps(["", said(module, getsource(module), 10 * int(seconds), list(tests))]), flush=True)
    for edit in chosen(module, int(count)):
        print(json.dumps([str(edit), said(module, edit.text, int(seconds), list(tests))]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
