"""Figures by matplotlib, the optional extra `plot`: the same numbers give the same file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from draftproof.simulators.files import replacing
from draftproof.theory.errors import BadInput


def required() -> Any:
    """matplotlib's Figure; raises BadInput that says how to install it."""
    try:
        import matplotlib
    except ImportError:
        raise BadInput("figures need matplotlib: pip install 'draftproof[plot]'") from None
    matplotlib.rcParams.update({"svg.hashsalt": "draftproof", "svg.fonttype": "none", "font.size": 9})
    from matplotlib.figure import Figure

    return Figure


def curves(
    axes: Any, at: Sequence[Any], series: Mapping[str, Sequence[Any]], looks: Mapping[str, dict[str, Any]]
) -> None:
    """One line a series over a light grid; `looks` has matplotlib's options of each by its name."""
    for name, values in series.items():
        axes.plot(at, values, label=name, linewidth=1.3, **looks[name])
    axes.grid(color="0.9", linewidth=0.6)


def write(figure: Any, stem: Path, dpi: int) -> list[Path]:
    """Writes `stem`.svg and `stem`.png; the paths. Raises BadInput where that cannot be done."""
    paths = [stem.with_name(f"{stem.name}.{ending}") for ending in ("svg", "png")]
    for path in paths:
        with replacing(path) as part:
            options = {"metadata": {"Date": None}} if path.suffix == ".svg" else {"dpi": dpi}
            figure.savefig(part, format=path.suffix[1:], **options)
    return paths
