"""Runs the notebooks of these pages, keeps what their cells show, and puts them into the site.

python docs/notebook.py appendix.ipynb
"""

import ast
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page that only names a notebook, with the notebook's cells and what they show."""
    name = Path(page.file.src_uri).with_suffix(".ipynb")
    if not (DOCS / name).is_file():
        return markdown
    parts = [markdown]
    for cell in json.loads((DOCS / name).read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        parts += map(shown, cell.get("outputs", []))
    return "\n\n".join(parts)


def shown(output: dict[str, Any]) -> str:
    """What a cell gave, as HTML or text."""
    data = output.get("data", {"text/plain": output.get("text", [])})
    rich = data.get("text/html") or data.get("image/svg+xml")
    if rich:
        return f'<div class="notebook" markdown="0">{"".join(rich)}</div>'
    return f"```text\n{''.join(data['text/plain']).rstrip()}\n```"


def run(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """The outputs of a cell: what it prints, then its last expression, as Jupyter shows both."""
    tree, printed, value = ast.parse(source), io.StringIO(), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(True)}
        if page := getattr(value, "_repr_html_", lambda: None)():
            data["text/html"] = page.splitlines(True)
        if hasattr(value, "savefig"):
            drawn = io.StringIO()
            value.savefig(drawn, format="svg", metadata={"Date": None})
            data["text/plain"] = ["<Figure>"]
            data["image/svg+xml"] = drawn.getvalue()[drawn.getvalue().index("<svg") :].splitlines(True)
        outputs.append(
            {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}
        )
    return outputs


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the outputs of a fresh run of all its cells."""
    names: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = run("".join(cell["source"]), names)
    return notebook


if __name__ == "__main__":
    path = DOCS / sys.argv[1]
    path.write_text(json.dumps(executed(json.loads(path.read_text(encoding="utf-8"))), indent=1) + "\n")
