"""Which drafted tree and verifier accept the most on your models' rows: `record` them, then `measure`.

python -m studies.tree_designs record --tree 2x3 --tree 32 --out rows.npz
python -m studies.tree_designs measure rows.npz

`record` lets the target continue prompts; at every eighth new position each design draws its trees, and the
rows of both models at their nodes are kept: float32 `target` and `proposal` [n, V], `sequence` [n] (the
prompt), `parent` [n] (the parent's row, -1 at a root), `token` [n] (that leads from it), and `trees`.
`draftproof gap --rows` reads the rows at roots.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from draftproof import commands
from draftproof.simulators import screen
from draftproof.simulators.commands.entry import enter
from draftproof.simulators.support.files import replacing
from draftproof.theory.errors import BadInput
from studies.tree_designs.designs import Measured, Trees, drawn, measured, named

EVERY = 8
"""One position of so many is recorded."""


@click.group("tree_designs")
def main() -> None:
    """Which drafted tree and verifier accept the most on your models' rows."""


@main.command()
@click.option("--model", default="shipped", show_default=True, help="The target: shipped, or a folder.")
@click.option("--drafter", help="Likewise [default: trained with the target].")
@click.option("--tree", "trees", multiple=True, required=True, help="2x3, eagle, nested lists, or a number.")
@click.option("--count", type=click.IntRange(1), default=50, show_default=True, help="Prompts.")
@click.option("--tokens", type=click.IntRange(1), default=64, show_default=True, help="New tokens of each.")
@click.option("--temperature", type=click.FloatRange(min=0), default=1.0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def record(trees: Sequence[str], out: Path, **options: Any) -> int:
    """Write both models' rows at the nodes of drafted trees."""
    trees = tuple(dict.fromkeys(trees))
    sizes = [named(tree)[1] for tree in trees]
    found = list(_rows(trees, max(sizes), **options))
    arrays = {name: np.concatenate([each[name] for each in found]) for name in found[0]}
    with replacing(out) as part, part.open("wb") as file:
        np.savez(file, **arrays, trees=np.array(trees))
    click.echo(f"{out}: {len(arrays['target']):,} rows")
    return 0


def _rows(
    trees: Sequence[str],
    longest: int,
    model: str,
    drafter: str | None,
    count: int,
    tokens: int,
    temperature: float,
) -> Iterator[dict[str, np.ndarray]]:
    from draftproof.gpu.drafters.choose import pair
    from draftproof.gpu.drafters.drafter import ModelDrafter
    from draftproof.gpu.engine.loop import generate
    from draftproof.gpu.engine.output import texts
    from draftproof.gpu.engine.prompts import prompts
    from draftproof.gpu.sampling.rows import Sampling
    from draftproof.gpu.verify import named as verifier
    from studies.tree_designs.nodes import Nodes

    target, drafting = pair(model, drafter, "cpu", None)
    if not isinstance(drafting, ModelDrafter):
        raise BadInput("--drafter must be a model: rows of its own are recorded")
    sampling, places, rows = Sampling(temperature), 0, 0
    for number, prompt in enumerate(each.ids for each in prompts(None, target, count)):
        if len(prompt) + tokens + longest > min(target.context, drafting.model.context):
            raise BadInput(f"prompt {number + 1}: its text with the longest path exceeds the models' context")
        asked: dict[str, Any] = {"verifier": verifier("token"), "structure": None, "sampling": sampling}
        steps = generate(target, None, [prompt], max_new_tokens=tokens, seed=number, **asked)
        text = [*prompt, *texts(steps, 1)[0]]
        for place in range(len(prompt) - 1, len(text) - 1, EVERY):
            nodes = Nodes(target, drafting.model, text[: place + 1], sampling)
            for _ in drawn(trees, nodes, places):
                pass
            yield {**nodes.arrays(rows), "sequence": np.full(len(nodes.seen), number)}
            places, rows = places + 1, rows + len(nodes.seen)


@main.command()
@click.argument("rows", type=click.Path(path_type=Path))
@click.option("--count", type=click.IntRange(1), help="Texts, evenly spaced [default: all].")
@click.option("--json", "as_json", is_flag=True)
def measure(rows: Path, count: int | None, as_json: bool) -> int:
    """E[tau] of every tree, design and verifier; intervals are clustered by prompt."""
    found = measured(Trees(rows), count)
    if as_json:
        lines = [{**vars(each), "design": each.design.tree, **_about(each)} for each in found]
        click.echo(json.dumps(lines))
    else:
        screen.console().print(table(found))
    return 0


def _about(each: Measured) -> dict[str, str]:
    return {"siblings": each.design.siblings, "verifier": each.design.verifier}


def table(found: Sequence[Measured]) -> Any:
    """A line for each tree and design; the difference is to the first line of a tree on the same texts."""
    heads = "tree", "drawn as", "siblings", "verifier", r"E\[tau]", "+-", "difference", "+-"
    made = screen.table(r"E\[tau] of trees with equally many tokens", "llllrrrr", *heads)
    for tree in dict.fromkeys(each.tree for each in found):
        made.add_section()
        for each in (one for one in found if one.tree == tree):
            halves = each.half_width, each.difference_half_width
            low, high = ("" if half is None else f"{half:.3f}" for half in halves)
            about = tree, each.design.tree, each.design.siblings, each.design.verifier
            made.add_row(*about, f"{each.mean:.3f}", low, f"{each.difference:+.3f}", high)
    return made


if __name__ == "__main__":
    import sys

    commands()  # an error is one line, as for draftproof's own commands
    sys.exit(enter(main))
