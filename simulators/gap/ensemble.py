"""Many instances: means of E[tau] and of its shares of the optima, and what happens as one thing varies."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from draftproof.simulators.check import must_fit
from draftproof.simulators.gap.measure import applicable, measure
from draftproof.simulators.gap.recipe import Recipe
from draftproof.simulators.gap.summary import Summary, summarise
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import Shape, every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS

STANDARD: tuple[Scheme, ...] = (Chain(3), Tree(every(2, 2)), Paths(2, 2))
"""The drafts of the table without an instance."""


@dataclass(frozen=True)
class Point:
    """One setting of what is varied: its place on the axis, the mean total variation between rows of p and
    of q above the draft's depth, and what the verifiers and optima reached there on average."""

    at: float | str
    distance: float
    summaries: list[Summary]


@dataclass(frozen=True)
class Series:
    """What varies, on which axis, on what, and what was found."""

    what: str
    axis: str
    fixed: str
    points: list[Point]


@dataclass(frozen=True)
class Vary:
    """One thing to vary: its axis, the draft and vocabulary it is varied on, the recipe at each place."""

    axis: str
    draft: Scheme
    vocab: int
    places: Sequence[float | str]
    recipe: Callable[[Recipe, Any], Recipe]
    fixes: str = ""


SHAPES: dict[str, Shape] = {
    "one path": ((((),),),),
    "3 + 1": ((((),),), ()),
    "2 + 2": (((),), ((),)),
    "fork": (((), ()), ()),
    "2 + 1 + 1": (((),), (), ()),
}
"""Name -> shape, each of four drafted tokens; numbers are lengths of paths from the root."""


VARIED: dict[str, Vary] = {
    "temperature": Vary(
        "temperature of p and q (logits are divided by it)",
        Tree(every(2, 2)),
        3,
        (0.25, 0.5, 0.75, 1, 1.5, 2, 3),
        lambda recipe, at: replace(recipe, temperature=at),
    ),
    "distance": Vary(
        "mean total variation between rows of p and q (0 to 1)",
        Tree(every(2, 2)),
        3,
        (0, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1),
        lambda recipe, at: replace(recipe, far=at),
    ),
    "vocab": Vary(
        "vocabulary (tokens)",
        Paths(2, 2),
        3,
        (2, 3, 4, 5),
        lambda recipe, at: replace(recipe, vocab=at),
        fixes="vocab",
    ),
    "depth": Vary(
        "depth of the draft (tokens)",
        Chain(1),
        3,
        (1, 2, 3, 4),
        lambda recipe, at: replace(recipe, draft=Chain(at)),
        fixes="draft",
    ),
    "paths": Vary(
        "number of independent paths",
        Paths(1, 2),
        3,
        (1, 2, 3),
        lambda recipe, at: replace(recipe, draft=Paths(at, 2)),
        fixes="draft",
    ),
    "shape": Vary(
        "shape of the tree (four drafted tokens)",
        Tree(SHAPES["2 + 2"]),
        3,
        tuple(SHAPES),
        lambda recipe, at: replace(recipe, draft=Tree(SHAPES[at])),
        fixes="draft",
    ),
}
"""What can be varied."""

SHOWN = {
    "chain": ("token", "block", "greedy-block", "hsd-released"),
    "paths": ("rrs", "traversal", "multipath-block", "optimal-transport", "lifted", "layered"),
    "tree without replacement": ("rrs", "traversal", "optimal-transport", "lifted", "layered"),
    "tree with replacement": ("specinfer", "k-seq", "traversal", "optimal-transport", "lifted", "layered"),
}
"""Verifiers that a figure shows if none are named; on other drafts all that apply."""


def vary(
    what: str,
    count: int,
    draft: Scheme | None = None,
    vocab: int | None = None,
    verifiers: Sequence[Verifier] = (),
    advance: Callable[[], object] = lambda: None,
) -> Series:
    """The means over `count` instances at each place; `advance` hears of every instance done.

    Raises BadInput when draft or vocabulary is given although it is what varies, and for a verifier
    that is not made for the draft.
    """
    chosen = VARIED[what]
    for name, given in (("draft", draft), ("vocab", vocab)):
        if given is not None and chosen.fixes == name:
            raise BadInput(f"--vary {what} sets --{name} itself")
    start = Recipe(draft or chosen.draft, vocab or chosen.vocab)
    points = []
    for place in chosen.places:
        recipe = chosen.recipe(start, place)
        gaps = []
        for seed in range(count):
            instance = recipe.instance(seed)
            gaps.append(measure(instance, pick(instance, verifiers)))
            advance()
        apart = fmean(distance(gap.instance) for gap in gaps)
        points.append(
            Point(round(apart, 6) if what == "distance" else place, round(apart, 6), summarise(gaps))
        )
    fixed = [f"{count} random instances a point"]
    label = start.draft.label
    fixed += [label] if chosen.fixes == "draft" else [f"{label}, {described(start.draft)}"]
    fixed += [] if chosen.fixes == "vocab" else [f"V = {start.vocab}"]
    return Series(what, chosen.axis, ", ".join(fixed), points)


def described(draft: Scheme) -> str:
    """Depth of a draft, and how many paths or tokens it has, in a few words."""
    wide = f"{draft.count} of " if isinstance(draft, Paths) else ""
    return f"{wide}depth {draft.depth}"


def pick(instance: Instance, verifiers: Sequence[Verifier]) -> Sequence[Verifier]:
    """The named verifiers, or those that are shown by default."""
    for verifier in verifiers:
        must_fit(verifier, [instance.draft])
    names = SHOWN.get(instance.draft.label)
    return verifiers or ([VERIFIERS[name] for name in names] if names else applicable(instance))


def distance(instance: Instance) -> float:
    """The mean total variation between the rows of p and of q above the draft's depth."""
    rows = [(instance.target[prefix], q) for prefix, q in instance.proposal.given()]
    return fmean(float(sum(abs(a - b) for a, b in zip(p, q, strict=True))) / 2 for p, q in rows)
