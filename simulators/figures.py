"""matplotlib, the optional extra `plot`, set up so that the same numbers give the same file."""

from typing import Any

from draftproof.theory.errors import BadInput


def required() -> Any:
    """matplotlib's Figure, or BadInput that says how to get it."""
    try:
        import matplotlib
    except ImportError:
        raise BadInput("figures need matplotlib: pip install 'draftproof[plot]'") from None
    matplotlib.rcParams.update({"svg.hashsalt": "draftproof", "svg.fonttype": "none", "font.size": 9})
    from matplotlib.figure import Figure

    return Figure
