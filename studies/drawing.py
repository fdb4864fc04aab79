"""Figures by matplotlib: the same numbers give the same file."""

from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any

from draftproof.simulators.support.files import replacing, unusable
from draftproof.theory.errors import BadInput

COLOURS = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c564b", "#56b4e9", "#333333"
LINES = "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1))
MARKERS = "osD^vxP*<>+1"
"""Line styles, used in turn. No two of 60 lines share style and marker, so a figure needs no colour."""


DARK = """@media (prefers-color-scheme: dark) {
  [style*="fill: #ffffff"] { fill: #14181d !important }
  [style*="stroke: #000000"], [style*="stroke: #333333"] { stroke: #e6e9ee !important }
  [style*="stroke: #e6e6e6"] { stroke: #38424d !important }
  text { fill: #e6e9ee !important }
}"""
"""How an SVG looks on a dark page."""


def required() -> Any:
    """matplotlib's Figure; raises BadInput that says how to install it."""
    try:
        import matplotlib
    except ImportError:
        raise BadInput("figures need matplotlib: pip install matplotlib") from None
    matplotlib.rcParams.update({"svg.hashsalt": "draftproof", "svg.fonttype": "none", "font.size": 9})
    from matplotlib.figure import Figure

    return Figure


def curves(
    axes: Any,
    at: Sequence[Any],
    series: Mapping[str, Sequence[Any]],
    x: str,
    y: str,
    errors: Mapping[str, Sequence[Any]] | None = None,
) -> None:
    """Draws one line per series (None for a missing value) over a grid, and labels the axes; with `errors`
    bars of that half-width at the points.
    """
    ordered = not any(isinstance(place, str) for place in at)  # words have no order, so markers only
    for n, (name, values) in enumerate(series.items()):
        bars = (errors or {}).get(name, ())
        axes.errorbar(
            at,
            [nan if value is None else value for value in values],
            yerr=[bar or 0 for bar in bars] if any(bars) else None,
            capsize=2.5,
            elinewidth=0.9,
            label=name,
            color=COLOURS[n % len(COLOURS)],
            linestyle=LINES[n % len(LINES)] if ordered else "",
            marker=MARKERS[n % len(MARKERS)],
            markersize=4 if ordered else 6,
            fillstyle="full" if ordered else "none",
            linewidth=1.3,
        )
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(color="0.9", linewidth=0.6)


def write(figure: Any, stem: Path, dpi: int) -> list[Path]:
    """Writes `stem`.svg and `stem`.png into a folder, made if there is none; returns their paths. Raises
    BadInput if they cannot be written.
    """
    try:
        stem.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unusable(stem.parent, error) from None
    paths = [stem.with_name(f"{stem.name}.{ending}") for ending in ("svg", "png")]
    for path, options in zip(paths, ({"metadata": {"Date": None}}, {"dpi": dpi}), strict=True):
        with replacing(path) as part:
            figure.savefig(part, format=path.suffix[1:], **options)
            if path.suffix == ".svg":
                drawn = part.read_text(encoding="utf-8")
                part.write_text(
                    drawn.replace("<defs>", f"<style>{DARK}</style>\n <defs>", 1), encoding="utf-8"
                )
    return paths
