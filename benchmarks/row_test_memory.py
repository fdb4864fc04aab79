"""python -m benchmarks.row_test_memory: the memory that loading a checkpoint and its row test take.

A Llama of 32 layers with random weights in bfloat16, 0.5 GB, as an 8B one has them; its weights are mapped
from their file, so what is allocated beside them counts.
"""

import tempfile
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Thread
from time import sleep

import click
import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from draftproof.gpu.checks.row_test import checked
from draftproof.gpu.drafters.choose import SHIPPED
from draftproof.gpu.network.models import load

SIZE = {"hidden_size": 768, "intermediate_size": 2688, "num_attention_heads": 6, "num_key_value_heads": 2}


def allocated() -> int:
    """Bytes of this process that are no mapped file."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Anonymous"))


def watch(ended: Event, peak: list[int]) -> None:
    """Keeps the largest number of bytes."""
    while not ended.is_set():
        peak[0] = max(peak[0], allocated())
        sleep(0.01)


def make(folder: Path, layers: int) -> None:
    """Saves a checkpoint; in a process of its own, whose memory is not reused."""
    config = LlamaConfig(vocab_size=1024, num_hidden_layers=layers, **SIZE)
    LlamaForCausalLM(config).bfloat16().save_pretrained(folder)
    AutoTokenizer.from_pretrained(SHIPPED / "target").save_pretrained(folder)


@click.command()
@click.option("--layers", default=32, show_default=True)
def main(layers: int) -> None:
    """Prints the peak as a multiple of the weights' bytes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        maker = get_context("spawn").Process(target=make, args=(folder, layers))
        maker.start()
        maker.join()
        ended, before = Event(), allocated()
        peak = [before]
        watcher = Thread(target=watch, args=(ended, peak))
        watcher.start()
        try:
            model = checked(load(folder, "cpu", torch.bfloat16))
        finally:
            ended.set()
            watcher.join()
        weights = sum(each.nbytes for each in model.network.parameters())
        click.echo(
            f"{weights / 1e9:.2f} GB of weights; at most {1 + (peak[0] - before) / weights:.3f} of them"
        )


if __name__ == "__main__":
    main()
