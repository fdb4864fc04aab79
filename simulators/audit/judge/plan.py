"""What an audit is asked to do: its options, and the plan that is made of them.

`checked` and `plan_of` refuse options that exclude each other, and nothing else does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import inf
from numbers import Integral, Real
from typing import Annotated, Any, NamedTuple, TypedDict, get_args, get_type_hints

from flint import fmpq

from draftproof.simulators.audit.battery import DEPTH, VOCAB, must_be_small
from draftproof.simulators.audit.judge.samples import TEST_RUNS
from draftproof.simulators.audit.sandbox import CALL_SECONDS
from draftproof.simulators.audit.targets.base import Target
from draftproof.simulators.audit.targets.batches import ByRoles, Selection
from draftproof.theory.errors import BadInput, quoted
from draftproof.theory.instance import Instance
from draftproof.theory.selection.batch import Batch


class Given(NamedTuple):
    """What an option is when it is not given, what it means, and its bounds."""

    default: Any
    help: str
    least: float = -inf
    most: float = inf


class Options(TypedDict, total=False):
    """The keyword arguments of `examine`, each with its meaning, which is also the help of the command."""

    vocab: Annotated[int, Given(VOCAB, "Largest vocabulary.", 2)]
    depth: Annotated[int, Given(DEPTH, "Largest draft depth.", 1)]
    dtype: Annotated[str | None, Given(None, "The arithmetic that the target computes in, such as float32.")]
    instances: Annotated[
        Sequence[Any] | None, Given(None, "Instances, or batches, in place of those within these bounds.")
    ]
    iterations: Annotated[
        int, Given(1, "Rounds of decoding whose joint law is checked, with the state between them.", 1, 3)
    ]
    edges: Annotated[bool, Given(True, "Try coins at the ends of [0, 1), and rows of NaN.")]
    padding: Annotated[bool, Given(False, "Also try drafts that end in -1.")]
    invariant: Annotated[
        bool, Given(False, "Also require that the text is a function of the seed, whatever the draft.")
    ]
    smallest: Annotated[bool, Given(True, "Shrink an instance on which the target fails.")]
    statistical: Annotated[bool, Given(False, "Test random runs instead of enumerating.")]
    float32: Annotated[bool, Given(False, "Count the final draw's random numbers, at any vocabulary.")]
    runs: Annotated[int, Given(TEST_RUNS, "Number of runs of a test.", 0)]
    seconds: Annotated[
        float, Given(CALL_SECONDS, "Processor time of one call; six times as long by the clock.", 0.1)
    ]


KNOWN: dict[str, tuple[Any, Given]] = {
    name: get_args(hint) for name, hint in get_type_hints(Options, include_extras=True).items()
}
"""Option -> its type, and what is given."""

EXCLUDED = {
    "float32": ("statistical", "iterations", "padding", "instances"),
    "statistical": ("iterations", "padding", "invariant"),
}
"""Option -> those that it goes without."""

EXCLUDED_BY_KIND = {
    "selection rule": ("iterations", "statistical", "padding", "invariant", "float32"),
    "generation loop": ("padding", "invariant", "float32"),
    "tree function": ("padding", "invariant"),
    "foreign program": ("iterations",),
}
"""Kind of target -> the options that it goes without."""


@dataclass(frozen=True)
class Plan:
    """All that an audit does; the other numbers are those of `Options`.

    The exact law on each of the `chosen` instances, of a text over so many iterations, is compared with the
    target's; then the joint law of the requests of each of the batches. If it is `statistical`,
    random runs on a few instances are tested.
    """

    chosen: tuple[Any, ...]
    batches: tuple[Batch, ...]
    statistical: bool
    float32: bool
    vocab: int
    depth: int
    iterations: int
    edges: bool
    padding: bool
    invariant: bool
    smallest: bool
    runs: int
    seconds: float


WORDS = {int: "a whole number", float: "a number", bool: "True or False", str: "a text"}


def checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with the defaults of those that are not given.

    Raises BadInput for a value of another kind or out of bounds, and for options that exclude each other.

    >>> checked({"vocab": 4})["vocab"], checked({})["depth"]
    (4, 2)
    """
    if unknown := sorted(options.keys() - KNOWN.keys()):
        raise TypeError(f"examine() got an unexpected keyword argument {unknown[0]!r}")
    found: dict[str, Any] = {name: known.default for name, (_, known) in KNOWN.items()} | {**options}
    for name, value in found.items():
        _must_be(name, value)
    given = {name for name in found if _is_given(name, found)}
    for name, others in EXCLUDED.items():
        for other in others:
            if {name, other} <= given:
                raise BadInput(f"{other} goes without {name}")
    if found["statistical"] and not found["runs"]:
        raise BadInput("statistical needs runs")
    return found


def plan_of(target: Target, options: Mapping[str, Any]) -> Plan:
    """The plan for a target; BadInput for options that it does not go with, or that exclude each other."""
    asked = checked(options)
    for name in EXCLUDED_BY_KIND.get(target.adapter, ()):
        if _is_given(name, asked):
            raise BadInput(f"a {target.adapter} goes without {name}")
    chosen, batches = (), ()
    if asked["statistical"]:
        must_be_small(asked["vocab"], asked["depth"])
    elif not asked["float32"]:
        given, size = asked["instances"], (asked["vocab"], asked["depth"])
        rule = {"rule": target.rule} if isinstance(target, Selection) else {}
        chosen = target.instances(*size, asked["iterations"]) if given is None else given
        chosen = tuple(replace(each, **rule) if given else each for each in chosen)
        if isinstance(target, ByRoles) and target.requests > 1 and not _is_given("iterations", asked):
            sizes = [(each.vocab, each.draft.depth) for each in given or ()] or [size]
            batches = tuple(target.batches(*map(max, zip(*sizes, strict=True))))
    named = {each.name: asked[each.name] for each in fields(Plan) if each.name in asked}
    return Plan(chosen, batches, **named)


def _is_given(name: str, asked: Mapping[str, Any]) -> bool:
    return asked[name] != KNOWN[name][1].default


def _must_be(name: str, value: Any) -> None:
    # BadInput unless the value is of the option's kind, and within its bounds.
    kind, known = KNOWN[name]
    kinds = get_args(kind) or (kind,)
    if value is None and type(None) in kinds:
        return
    if name == "instances":
        if not isinstance(value, Sequence) or isinstance(value, str | bytes) or not value:
            raise BadInput(f"instances: must be a list of instances, not {quoted(value)}")
        for each in value:
            if not isinstance(each, Instance | Batch):
                raise BadInput(f"instances: {quoted(each)} is no instance")
            for one in each.requests if isinstance(each, Batch) else (each,):
                rows = one.target[()], one.proposal[()]
                if not all(isinstance(number, fmpq) for row in rows for number in row):
                    raise BadInput("instances: rows must be exact, not floats")
        return
    wider = {int: Integral, float: Real}
    fits = isinstance(value, tuple(wider.get(each, each) for each in kinds))
    if not fits or (isinstance(value, bool) and bool not in kinds):
        raise BadInput(f"{name}: must be {WORDS[kinds[0]]}, not {quoted(value)}")
    if isinstance(value, Real) and not known.least <= float(value) <= known.most:
        upper = "" if known.most == inf else f" and at most {known.most}"
        raise BadInput(f"{name} {value}: must be at least {known.least}{upper}")
