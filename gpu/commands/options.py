"""What the commands of `draftproof gpu` share: options, which check names before torch is loaded, and
measurements item by item, of which an interruption keeps the finished items.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, TypeVar

from click import Choice, FloatRange, IntRange, echo, option

from draftproof.gpu.sampling import names as spelling
from draftproof.simulators import screen
from draftproof.simulators.commands.entry import INTERRUPTED
from draftproof.simulators.commands.options import FILE as FILE
from draftproof.simulators.commands.options import json_option as json_option
from draftproof.simulators.commands.options import settings as settings
from draftproof.theory.errors import BadInput

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def known_draft(name: str) -> str:
    """The type of --draft."""
    spelling.draft(name)
    return name


NO_ROW_TEST = "Trust that the engine reads these models as transformers does."
VERIFIER = Choice(spelling.VERIFIERS)
DTYPE = Choice(["float32", "bfloat16", "float16"])

model = option(
    "--model", help="Target: a folder, a transformers name, or the pair that ships [default: shipped]."
)
prompts = option("--prompts", type=FILE, help="A file of prompts or questions; of these the first turns.")
device = option("--device", help="A torch device, such as cuda:0 [default: cuda if there is one, else cpu].")
no_row_test = option("--no-row-test", is_flag=True, help=NO_ROW_TEST)
stop = option("--stop", multiple=True, help="End a text where this string appears.")
chat = option("--chat", is_flag=True, help="Write prompts by the tokenizer's own chat template.")
dtype = option("--dtype", type=DTYPE)


def compared(command: Decorated) -> Decorated:
    """Adds what a command compares: models, drafts and verifiers, on which prompts."""
    as_there = "As for `gpu generate`; may be repeated [default: {}]."
    named = option("--verifier", type=VERIFIER, multiple=True, help=as_there.format("all that apply"))
    drawn = option("--draft", type=known_draft, multiple=True, help=as_there.format("one of each kind"))
    return model(option("--drafter", help="As for `gpu generate`.")(drawn(named(prompts(command)))))


SAMPLING = (
    option("--top-p", type=FloatRange(0, 1), help="Keep likeliest tokens up to this mass."),
    option("--min-p", type=FloatRange(0, 1), help="Drop tokens below this fraction of the best."),
    option(
        "--logits-processor",
        "functions",
        multiple=True,
        metavar="TARGET",
        help="A function or LogitsProcessor as package.module:name or path/to/file.py:name.",
    ),
    option("--draft-temperature", type=FloatRange(min=0), help="[default: the target's]"),
)
budget = option("--budget", type=IntRange(0), help="Most drafted tokens that are verified of a batch.")
selections = option("--selection", multiple=True)

Item = TypeVar("Item")
Stop: TypeAlias = KeyboardInterrupt | BadInput | None
"""The exception that ended a measurement early, or None."""


def measured(
    items: Iterator[Item], unit: str, total: int | None, name: Callable[[Item], str], advice: str
) -> tuple[list[Item], Stop]:
    """The items up to the end, Ctrl-C or BadInput, and what ended them early. BadInput before the first item
    is raised. `advice` is printed if memory runs out.
    """
    from draftproof.gpu.sampling.device import memory_errors

    found: list[Item] = []
    with screen.progress(unit) as bar:
        task = bar.add_task("preparing", total=total)
        try:
            with memory_errors(advice):
                for item in items:
                    found.append(item)
                    bar.update(task, description=name(item), completed=len(found))
        except (KeyboardInterrupt, BadInput) as stop:
            if isinstance(stop, BadInput) and not found:
                raise
            return found, stop
    return found, None


def status(stop: Stop, finished: str, failed: bool) -> int:
    """The exit status once results are printed. After Ctrl-C prints `finished`; raises BadInput again."""
    if isinstance(stop, BadInput):
        raise stop
    if stop is not None:
        echo(f"interrupted: {finished}", err=True)
        return INTERRUPTED
    return int(failed)
