"""The file that `--plot` names."""

from pathlib import Path
from typing import Any

from draftproof.simulators.support import figures
from draftproof.theory.errors import BadInput


def required(path: Path) -> Any:
    """matplotlib's Figure; BadInput if it is not installed or cannot write to that path."""
    Figure = figures.required()
    from matplotlib.backend_bases import FigureCanvasBase

    if path.suffix[1:] not in FigureCanvasBase.get_supported_filetypes():
        raise BadInput(f"--plot {path}: the name must end in .svg, .png or .pdf")
    if not path.parent.is_dir():
        raise BadInput(f"--plot {path}: no such folder")
    return Figure


def look(index: int) -> dict[str, str]:
    """Colour and marker of a line, different for the first hundred."""
    return {"color": f"C{index % 10}", "marker": "osD^vxP*<>"[(index + index // 10) % 10]}


def save(figure: Any, path: Path, title: str) -> None:
    """Adds a title and one legend for all panels, and writes the file."""
    figure.suptitle(title, fontsize=9)
    legends = [axis.get_legend_handles_labels() for axis in figure.axes]
    shown = {text: handle for handles, texts in legends for handle, text in zip(handles, texts, strict=True)}
    figure.legend(shown.values(), shown.keys(), loc="outside right upper", fontsize=8)
    try:
        figure.savefig(path, **({"metadata": {"Date": None}} if path.suffix == ".svg" else {"dpi": 150}))
    except OSError as error:
        raise BadInput(f"--plot {path}: {(error.strerror or str(error)).lower()}") from None
