"""Kernels with one flaw in how their programs meet, and what notices it.

What may notice: the interpreter by itself ("alone"), programs interleaved ("interleaved"), late stores and
stale loads besides ("weak"), and the look at what was written and read without order between ("races").
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from unittest.mock import patch

from triton.runtime.interpreter import InterpretedFunction

COUNT = 'tl.atomic_add(nodes.finished_programs + v, 1, sem="acq_rel")'
LAST = f"if {COUNT} == tl.num_programs(1) - 1"
LOWER = 'tl.atomic_min(nodes.stop, tl.load(turn + f).to(tl.int32), sem="relaxed")'
LOOP = "        for chunk in range(start"
ASKED = 'tl.atomic_min(nodes.stop, N, sem="relaxed")'


@dataclass(frozen=True)
class Flaw:
    """What is replaced in a module of the kernels; what notices it in a few orders of one draft, what else in
    many orders of several; and which draft that is.
    """

    module_name: str
    edits: dict[str, str]
    soon: str
    later: tuple[str, ...] = ()
    on: str = "short chain"


FLAWS = {
    "one too few is enough": Flaw(
        "sweep", {LAST: LAST[:-1] + "2"}, "alone", ("interleaved", "weak", "races")
    ),
    "counted before the masses are stored": Flaw(
        "sweep",
        {LAST: LAST.replace(COUNT, "ticket"), LOOP: f"        ticket = {COUNT}\n{LOOP}"},
        "interleaved",
        ("weak", "races"),
    ),
    "counted by a load and a store": Flaw(
        "sweep",
        {
            f"        {LAST}": "        ticket = tl.load(nodes.finished_programs + v)\n"
            "        tl.store(nodes.finished_programs + v, ticket + 1)\n"
            f"        {LAST.replace(COUNT, 'ticket')}"
        },
        "weak",
        ("interleaved", "races"),
    ),
    "neither released nor acquired": Flaw(
        "sweep", {COUNT: COUNT.replace("acq_rel", "relaxed")}, "weak", ("races",)
    ),
    "not released": Flaw("sweep", {COUNT: COUNT.replace("acq_rel", "acquire")}, "weak", ("races",)),
    "not acquired": Flaw("sweep", {COUNT: COUNT.replace("acq_rel", "release")}, "weak", ("races",)),
    "the last acceptance stops": Flaw(
        "nodes",
        {LOWER: "tl.store(nodes.stop, tl.load(turn + f).to(tl.int32))"},
        "interleaved",
        ("weak", "races"),
        "chain",
    ),
    "due in any round": Flaw(
        "sweep", {"+ v) == round": "+ v) > 0"}, "interleaved", ("weak", "races"), "siblings"
    ),
    "due in a later round": Flaw(
        "sweep", {"+ v) == round": "+ v) >= round"}, "interleaved", ("weak", "races"), "siblings"
    ),
    "the stop is a plain load": Flaw("sweep", {ASKED: "tl.load(nodes.stop)"}, "races"),
}

NAMES = ("cells", "draw", "filtering", "launch", "nodes", "noise", "opening")
NAMES += ("sweep", "walk")
MODULES = [import_module(f"draftproof.gpu.kernels.{name}") for name in NAMES]


@contextmanager
def flawed(name: str, folder: Path) -> Iterator[None]:
    """Kernels launched inside have that flaw; AssertionError where the source has changed."""
    with edited(FLAWS[name].module_name, FLAWS[name].edits, folder):
        yield


@contextmanager
def edited(module_name: str, edits: dict[str, str], folder: Path) -> Iterator[None]:
    """Functions of a module of the kernels have these edits inside, wherever modules of the kernels use them;
    AssertionError where the source has changed.
    """
    right = import_module(f"draftproof.gpu.kernels.{module_name}")
    source = Path(str(right.__file__)).read_text(encoding="utf-8")
    for old, new in edits.items():
        assert source.count(old) == 1, f"{module_name}.py has {old!r} {source.count(old)} times"
        source = source.replace(old, new)
    path = folder / f"{module_name}.py"  # the interpreter reads a function's source from its file
    path.write_text(source, encoding="utf-8")
    spec = spec_from_file_location("flawed", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    with ExitStack() as stack:
        for key, value in vars(module).items():
            function = value.fn if isinstance(value, InterpretedFunction) else value
            if getattr(function, "__module__", "") == "flawed":
                original = getattr(right, key)
                for each in MODULES:
                    if getattr(each, key, None) is original:
                        stack.enter_context(patch.object(each, key, value))
        yield
