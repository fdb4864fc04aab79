"""The notebooks of the pages: a fresh run shows what is stored, and what is stored is on the page."""

import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOKS = sorted(path.name for path in DOCS.rglob("*.ipynb"))
spec = importlib.util.spec_from_file_location("notebook", DOCS / "notebook.py")
notebook = importlib.util.module_from_spec(spec)
spec.loader.exec_module(notebook)


def texts(document):
    outputs = [output for cell in document["cells"] for output in cell.get("outputs", [])]
    return [
        each.get("text") or [each["data"].get(kind) for kind in ("text/plain", "text/html")]
        for each in outputs
    ]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_fresh_run_shows_what_is_stored(name):
    pytest.importorskip("matplotlib")
    pytest.importorskip("polars")
    stored = json.loads((DOCS / name).read_text(encoding="utf-8"))
    again = notebook.executed(json.loads(json.dumps(stored)))
    assert texts(again) == texts(stored)
    drawn = [
        each for cell in again["cells"] for out in cell.get("outputs", []) for each in out.get("data", {})
    ]
    assert "image/svg+xml" in drawn
    assert "text/html" in drawn
    [cell] = [cell for cell in stored["cells"] if "accept(fmpq(1, 4))" in "".join(cell["source"])]
    cell["source"] = "".join(cell["source"]).replace("normalise(excess(p, q))", "p")
    assert "NOT lossless" in str(texts(notebook.executed(stored)))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_page_has_the_cells_and_what_they_show(name):
    page = SimpleNamespace(file=SimpleNamespace(src_uri=name.replace(".ipynb", ".md")))
    text = notebook.on_page_markdown("# Title", page=page)
    assert text.startswith("# Title")
    assert "```python\n" in text
    assert "<table>" in text
    assert "<svg" in text
    other = SimpleNamespace(file=SimpleNamespace(src_uri="api.md"))
    assert notebook.on_page_markdown("x", page=other) == "x"
