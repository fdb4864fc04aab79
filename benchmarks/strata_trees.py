"""E[tau] of stratified trees on a real pair, beside other drafts and verifiers of the same shape.

    python -m benchmarks.strata_trees --prompts 40

The target continues each prompt by itself. At places of each continuation every design draws one tree of the
shape, or the likeliest tree of as many tokens; E[tau] is the mean over the batched verifier's coins, given
that tree. Intervals are clustered by prompt; a difference is to the first line, on the same contexts.
"""

import argparse
import json
import time

import numpy as np
import torch
from benchmarks.budgets import contexts
from torch import Tensor

from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.drafters.drafter import ModelDrafter
from draftproof.gpu.models import Model
from draftproof.gpu.rows import Sampling
from draftproof.gpu.structures import Draft, Level, Session, structure
from draftproof.gpu.validate.joint import logits_after
from draftproof.gpu.verify import Drafts, named
from draftproof.gpu.verify.verifier import level_law, stop_law
from draftproof.simulators.study.recorded import half_width

SHAPES = {"binary, depth 3": "2x3", "4 x 2": "4x2", "eagle's": "eagle"}
DESIGNS = (
    ("strata", "lifted-priority"),
    ("strata", "priority"),
    ("tree+", "lifted-priority"),
    ("tree", "traversal"),
    ("tree", "rrs"),
    ("tree+", "traversal"),
    ("top-k", "nss"),
)


class Reading(Session):
    """A drafter's rows after one text, each read by a pass over the whole text."""

    def __init__(self, model: Model, text: list[int]) -> None:
        self.model, self.text, self.words = model, text, [()]
        self.recorder = lambda _, function, **given: function(**given)  # type: ignore[assignment]

    def root(self) -> Tensor:
        return logits_after(self.model, self.text, [()], self.model.vocab).float()

    def extend(self, tokens: Tensor, level: Level) -> Tensor:
        above = level.above[0].tolist()
        self.words = [(*self.words[i], x) for i, x in zip(above, tokens[0].tolist(), strict=True)]
        return logits_after(self.model, self.text, self.words, self.model.vocab)[None].float()


def expected(draft: Draft, verifier: str, target: Model, text: list[int], sampling: Sampling) -> float:
    """E[tau] given the draft."""
    words: list[tuple[int, ...]] = [()]
    tokens = draft.tokens[0].clamp(min=0).tolist()
    for up, x in zip(draft.tree.parents[0, 1:].tolist(), tokens, strict=True):
        words.append((*words[up], x))
    rows = torch.empty(1, len(words), target.vocab)
    for length in sorted(set(map(len, words))):
        at = [i for i, word in enumerate(words) if len(word) == length]
        rows[0, at] = sampling.rows(logits_after(target, text, [words[i] for i in at], target.vocab)).float()
    drafts = Drafts(draft.tree, rows, draft.proposal, draft.tokens, strata=draft.strata)
    rule = named(verifier)
    law = level_law(draft.tree, stop_law(rule, draft.tree, rule.rates(drafts).accept, drafts.drawn))[0]
    return float(law @ torch.arange(len(law), dtype=law.dtype))


@torch.inference_mode()
def measured(target: Model, drafter: Model, count: int, temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """E[tau] [contexts, shapes, designs], and the prompt of each context."""
    sampling, found, cluster = Sampling(temperature), [], []
    for number, text in contexts(target, count, sampling):
        values = []
        for shape in SHAPES.values():
            size, row = structure(f"tree:{shape}").size, []
            depth = structure(f"tree:{shape}").depth
            u = torch.rand(1, size - 1, generator=torch.Generator().manual_seed(len(found)))
            for kind, verifier in DESIGNS:
                spelling = f"top-k:{size - 1}x{depth}x{size - 1}" if kind == "top-k" else f"{kind}:{shape}"
                draft = structure(spelling).grow(Reading(drafter, text), sampling, u)
                row.append(expected(draft, verifier, target, text, sampling))
            values.append(row)
        found.append(values)
        cluster.append(number)
    return np.array(found), np.array(cluster)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prompts", type=int, default=40)
    parser.add_argument("--temperatures", type=float, nargs="+", default=[0.25, 0.6, 1.0])
    options = parser.parse_args()
    torch.set_num_threads(1)
    target, drafter = pair("shipped", None, "cpu", None)
    assert isinstance(drafter, ModelDrafter)
    tables = []
    for temperature in options.temperatures:
        start = time.process_time()
        values, cluster = measured(target, drafter.model, options.prompts, temperature)
        means, halves = values.mean(axis=0), half_width(values, cluster)
        off = half_width(values - values[:, :, :1], cluster)
        assert halves is not None, "one prompt has no interval"
        assert off is not None
        rows = []
        for d, names in enumerate(DESIGNS):
            cells: list[object] = []
            for s in range(len(SHAPES)):
                less = means[s, d] - means[s, 0]
                cells += [
                    f"{means[s, d]:.2f} ± {halves[s, d]:.2f}",
                    f"{less:+.2f} ± {off[s, d]:.2f}" if d else None,
                ]
            rows.append([*names, *cells])
        heads = [head for shape in SHAPES for head in (shape, "difference")]
        seconds = f"{len(values)} contexts of {options.prompts} prompts, {time.process_time() - start:.0f} s"
        tables.append(
            {
                "caption": f"T = {temperature}: E[tau], {seconds}",
                "columns": ["siblings", "verifier", *heads],
                "rows": rows,
            }
        )
    print(json.dumps({"tables": tables}, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
