"""What packing the target's passes saves when a selection keeps drafts of different lengths.

    python benchmarks/packed.py --batch 8 --batch 32

The same batch is decoded with packed passes and with passes that are padded to the longest kept draft, in
turn on one thread: by the pair that ships, and by its drafter with a larger target of random weights, which
accepts hardly anything, so that only the time of its passes counts. The budget is 3/2 tokens a text. Times
are processor time; positions are those that the target's passes compute after the prompts.
"""

import argparse
import json
import time
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM

from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.selection import Selection
from draftproof.gpu.models import Model
from draftproof.gpu.passes import Reader, Unpacked
from draftproof.gpu.prompts import prompts
from draftproof.gpu.structures import structure
from draftproof.gpu.verify import named

TOKENS, GAMMA, RULE = 16, 4, "tetris-repaired"


def padded(reader: Reader, counts: Sequence[int], ids: Tensor, **inputs: Any) -> Unpacked:
    """The same pass with one row for each text, as long as the longest."""
    output = reader.run(max(counts), 0, input_ids=ids, **inputs)
    return Unpacked(output.logits, output.hidden_states)


WAYS = {"padded": padded, "packed": Reader.packed}


def larger(shipped: Model) -> Model:
    """Eight layers of width 512 with the shipped pair's vocabulary."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=shipped.vocab,
        hidden_size=512,
        intermediate_size=1536,
        num_hidden_layers=8,
        num_attention_heads=8,
        num_key_value_heads=4,
        max_position_embeddings=shipped.context,
    )
    network = LlamaForCausalLM(config).eval().requires_grad_(False)
    return Model("larger", network, shipped.tokenizer, shipped.vocab, shipped.context)


def measured(repeats: int, target: Model, *given: Any, **options: Any) -> dict[str, list[float]]:
    """By way: the positions, the least processor time of the target's passes and of the whole run."""
    best: dict[str, list[float]] = {}
    forward = target.network.forward
    for way in [*WAYS] * repeats:
        passes: list[tuple[int, float]] = []

        def counted(*args: Any, input_ids: Tensor, passes: list = passes, **rest: Any) -> Any:
            start = time.process_time()
            output = forward(*args, input_ids=input_ids, **rest)
            passes.append((input_ids.numel(), time.process_time() - start))
            return output

        target.network.forward = counted
        Reader.packed = WAYS[way]  # type: ignore[method-assign]
        start = time.process_time()
        list(generate(target, *given, **options))
        whole = time.process_time() - start
        target.network.forward = forward
        found = [*map(float, map(sum, zip(*passes[1:], strict=True))), whole]
        best[way] = [*map(min, zip(best.get(way, found), found, strict=True))]
    return best


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--batch", type=int, action="append", help="[default: 8 and 32]")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    shipped, drafter = pair("shipped", None, "cpu", None)
    rows = []
    for name, target in {"shipped": shipped, "larger": larger(shipped)}.items():
        for batch in options.batch or [8, 32]:
            found = measured(
                options.repeats,
                target,
                drafter,
                [each.ids for each in prompts(None, shipped, batch)],
                verifier=named("block"),
                structure=structure(f"chain:{GAMMA}"),
                selection=Selection.of(RULE, batch * 3 // 2),
                max_new_tokens=TOKENS,
                ignore_end=True,
            )
            one, two = found.values()
            shares = [round(after / before, 2) for before, after in zip(one, two, strict=True)]
            times = (round(1e3 * each[1]) for each in (one, two))
            rows.append([name, batch, int(one[0]), int(two[0]), shares[0], *times, *shares[1:]])
    table = {
        "caption": f"texts of {TOKENS} tokens, chain:{GAMMA}, {RULE}, a budget of 3/2 tokens a text",
        "columns": ["target", "texts", "positions, padded", "packed", "ratio", "passes, ms, padded", "packed",
                    "ratio", "ratio of the whole run"],
        "rows": rows,
    }  # fmt: skip
    print(json.dumps({"tables": [table]}, indent=2))


if __name__ == "__main__":
    main()
