"""Means over random instances as functions of one setting; their figure and its numbers.

python -m studies.ensembles depth --count 40 --out docs/images
"""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import click

from draftproof.simulators import screen
from draftproof.simulators.instances.randoms import Logits, Randoms
from draftproof.simulators.laws.check import must_fit
from draftproof.simulators.study.gap import ABOVE, REACHED, Gap, applicable, described, measure, ratio
from draftproof.simulators.support.files import replacing
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import Shape, every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS
from studies import drawing

BINARY = Tree(every(2, 2))
SHAPES: dict[str, Shape] = {
    "one path": ((((),),),),
    "3 + 1": ((((),),), ()),
    "2 + 2": (((),), ((),)),
    "fork": (((), ()), ()),
    "2 + 1 + 1": (((),), (), ()),
}
"""Name -> shape, each of four drafted tokens; numbers are lengths of paths from the root."""


@dataclass(frozen=True)
class Summary:
    """One verifier, or one optimum, over many instances.

    `mean` is the mean E[tau]; `stateless` and `full` are its ratios to the means of the optima; `least` is
    the smallest ratio to the stateless optimum, `reached` the number of instances where that is 1.
    `error` and `stateless_error` are half the widths of 95 % intervals of `mean` and `stateless`.
    """

    name: str
    instances: int
    mean: float
    stateless: float
    least: float
    reached: int
    full: float
    note: str = ""
    error: float = 0.0
    stateless_error: float = 0.0


def half_width(values: Sequence[float]) -> float:
    """Half the width of a 95 % interval of the mean, by the normal approximation; 0 of one value.

    >>> round(half_width([0.0, 1.0] * 50), 3)
    0.098
    """
    return 1.96 * stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def summarise(gaps: Sequence[Gap]) -> list[Summary]:
    """The optima, then the verifiers, the largest mean first."""
    best = [float(gap.stateless.upper) for gap in gaps]
    full = [float(gap.full.value) for gap in gaps]

    def row(name: str, values: list[float], note: str = "") -> Summary:
        ratios = [ratio(value, most) for value, most in zip(values, best, strict=True)]
        of_best, of_full = (ratio(sum(values), sum(most)) for most in (best, full))
        reached = sum(each >= 1 - REACHED for each in ratios)
        mean, optimum = fmean(values), fmean(best)
        apart = [value - of_best * most for value, most in zip(values, best, strict=True)]
        errors = half_width(values), half_width(apart) / optimum if optimum else 0.0
        return Summary(name, len(gaps), mean, of_best, min(ratios), reached, of_full, note, *errors)

    rows = []
    for name in gaps[0].expected_accepted:
        notes = [gap.note(name) for gap in gaps]
        values = [float(gap.expected_accepted[name]) for gap in gaps]
        rows.append(row(name, values, ABOVE if ABOVE in notes else notes[0]))
    rows.sort(key=lambda each: -each.mean)
    return [row("full information", full, "optimum"), row("stateless", best, "optimum"), *rows]


@dataclass(frozen=True)
class Point:
    """One setting: its value, the mean total variation between rows of p and of q above the draft's depth,
    and the means of verifiers and optima."""

    at: float | str
    distance: float
    summaries: list[Summary]


@dataclass(frozen=True)
class Series:
    """The setting that varies, its axis label, a line on the fixed settings, and one point per value."""

    what: str
    axis: str
    fixed: str
    points: list[Point]


@dataclass(frozen=True)
class Vary:
    """A setting that can vary: its axis label, the draft (unless the draft varies), the field of `Randoms`,
    and position on the axis -> value of that field."""

    axis: str
    draft: Scheme
    field: str
    values: Mapping[Any, Any]


_TEMPERATURES = {at: Logits(temperature=at) for at in (0.25, 0.5, 0.75, 1, 1.5, 2, 3)}
_DISTANCES = {at: Logits(far=at) for at in (0, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1)}
_DEPTHS = {depth: Chain(depth) for depth in (1, 2, 3, 4)}
_COUNTS = {count: Paths(count, 2) for count in (1, 2, 3)}
_TREES = {name: Tree(shape) for name, shape in SHAPES.items()}

VARIED: dict[str, Vary] = {
    "temperature": Vary("temperature of p and q (logits are divided by it)", BINARY, "law", _TEMPERATURES),
    "distance": Vary("mean total variation between rows of p and q (0 to 1)", BINARY, "law", _DISTANCES),
    "vocab": Vary("vocabulary (tokens)", Paths(2, 2), "vocab", {size: size for size in (2, 3, 4, 5)}),
    "depth": Vary("depth of the draft (tokens)", _DEPTHS[1], "draft", _DEPTHS),
    "paths": Vary("number of independent paths", _COUNTS[1], "draft", _COUNTS),
    "shape": Vary("shape of the tree (four drafted tokens)", _TREES["2 + 2"], "draft", _TREES),
}
"""The settings that can vary."""

SHOWN = {
    "chain": ("token", "block", "greedy-block", "hsd-released"),
    "paths": ("rrs", "traversal", "multipath-block", "optimal-transport", "lifted", "layered"),
    "tree without replacement": ("rrs", "traversal", "optimal-transport", "lifted", "layered"),
    "tree with replacement": ("specinfer", "k-seq", "traversal", "optimal-transport", "lifted", "layered"),
}
"""The verifiers shown by default; on other kinds of draft, all that apply."""


def vary(
    what: str,
    count: int,
    draft: Scheme | None = None,
    vocab: int | None = None,
    verifiers: Sequence[Verifier] = (),
    progress: Callable[[], object] = lambda: None,
) -> Series:
    """The means over `count` instances at each value; `progress` is called after every instance.

    Raises BadInput if the draft or vocabulary is given although it varies, and for a verifier that is not
    made for the draft.
    """
    chosen = VARIED[what]
    for option, given in (("draft", draft), ("vocab", vocab)):
        if given is not None and chosen.field == option:
            raise BadInput(f"{what} sets the {option} itself")
    start = Randoms(draft or chosen.draft, vocab or 3, count, law=Logits())
    points = []
    for place, value in chosen.values.items():
        gaps = []
        for instance in replace(start, **{chosen.field: value}):
            gaps.append(measure(instance, pick(instance, verifiers)))
            progress()
        apart = round(fmean(distance(gap.instance) for gap in gaps), 6)
        points.append(Point(apart if what == "distance" else place, apart, summarise(gaps)))
    fixed = [f"{count} random instances a point", start.draft.label]
    fixed += [] if chosen.field == "draft" else [described(start.draft)]
    fixed += [] if chosen.field == "vocab" else [f"V = {start.vocab}"]
    return Series(what, chosen.axis, ", ".join(fixed), points)


def pick(instance: Instance, verifiers: Sequence[Verifier]) -> Sequence[Verifier]:
    """The given verifiers, or the default ones."""
    for verifier in verifiers:
        must_fit(verifier, [instance.draft])
    names = SHOWN.get(instance.draft.label)
    return verifiers or ([VERIFIERS[name] for name in names] if names else applicable(instance))


def distance(instance: Instance) -> float:
    """The mean total variation between the rows of p and of q above the draft's depth."""
    rows = [(instance.target[prefix], q) for prefix, q in instance.proposal.given()]
    return fmean(float(sum(abs(a - b) for a, b in zip(p, q, strict=True))) / 2 for p, q in rows)


def write_figure(series: Series, folder: Path) -> list[Path]:
    """Writes gap-WHAT.svg, .png, .json and .csv into a folder; BadInput if they cannot be written."""
    figure, stem = _drawn(series), folder / f"gap-{series.what}"
    paths = drawing.write(figure, stem, dpi=150)
    numbers, table, about = stem.with_suffix(".json"), stem.with_suffix(".csv"), document(series)
    with replacing(numbers) as part:
        part.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    with replacing(table) as part, part.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerow([series.what, "distance", *(field.name for field in fields(Summary))])
        for point in about["points"]:
            for name, means in point["verifiers"].items():
                csv.writer(out).writerow([point["at"], point["distance"], name, *means.values()])
    return [*paths, numbers, table]


def _drawn(series: Series) -> Any:
    # E[tau] on the left, its ratio to the stateless optimum on the right.
    figure = drawing.required()(figsize=(9.5, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    at = [point.at for point in series.points]
    points = [{row.name: row for row in point.summaries} for point in series.points]
    names = dict.fromkeys(name for point in reversed(points) for name in point)  # optima first
    found = {name: [point.get(name) for point in points] for name in names}
    means = {name: [row and row.mean for row in rows] for name, rows in found.items()}
    ratios = {name: [row and 100 * row.stateless for row in rows] for name, rows in found.items()}
    errors = {name: [row and row.error for row in rows] for name, rows in found.items()}
    of_best = {name: [row and 100 * row.stateless_error for row in rows] for name, rows in found.items()}
    drawing.curves(left, at, means, series.axis, "E[tau] (accepted tokens an iteration)", errors)
    drawing.curves(right, at, ratios, series.axis, "share of the stateless optimum (%)", of_best)
    if all(isinstance(place, int) for place in at):
        left.set_xticks(at)
        right.set_xticks(at)
    figure.suptitle(f"{series.fixed}; bars: 95 % intervals", fontsize=9)
    figure.legend(*left.get_legend_handles_labels(), loc="outside right center", frameon=False)
    return figure


def document(series: Series) -> dict[str, Any]:
    """The numbers as one JSON document; means are floats of exact values."""
    points = []
    for point in series.points:
        rows = {row.name: {k: v for k, v in asdict(row).items() if k != "name"} for row in point.summaries}
        points.append({"at": point.at, "distance": point.distance, "verifiers": rows})
    return {"vary": series.what, "axis": series.axis, "fixed": series.fixed, "points": points}


@click.command()
@click.argument("what", type=click.Choice(list(VARIED)))
@click.option("--count", default=40, show_default=True, help="Random instances at each point.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True)
def main(what: str, count: int, out: Path) -> None:
    """Writes the figure and the numbers of what varies into a folder."""
    drawing.required()  # a missing matplotlib is reported before the work
    with screen.progress() as bar:
        task = bar.add_task(what, total=count * len(VARIED[what].values))
        series = vary(what, count, progress=lambda: bar.advance(task))
    click.echo(f"{series.fixed}; written: {', '.join(map(str, write_figure(series, out)))}")


if __name__ == "__main__":
    main()
