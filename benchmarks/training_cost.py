"""Floating-point operations of `draftproof gpu train`, counted on tensors without numbers.

    python benchmarks/training_cost.py [--preset gpu]

Nothing is trained. Matrix products, forwards and backwards, at the true shapes; attention counts whole
windows, of which the causal kernels compute about half.
"""

import argparse
from functools import partial

import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import LlamaForCausalLM

from draftproof.gpu.drafters.features import new_head
from draftproof.gpu.train.loop import drafter_loss, rollout_loss, text_loss
from draftproof.gpu.train.recipe import CAUSAL, PRESETS, Preset, Shape


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--preset", choices=PRESETS, default="gpu")
    sizes = PRESETS[parser.parse_args().preset]
    with torch.device("meta"):
        target, drafter = llama(sizes, sizes.target), llama(sizes, sizes.drafter)
        head = new_head(target)
        batch = torch.zeros(sizes.batch, sizes.context, dtype=torch.long)
    counted = [cost(partial(text_loss, target, batch))]
    target.requires_grad_(False)
    counted.append(cost(partial(drafter_loss, drafter, target, batch)))
    counted.append(cost(partial(rollout_loss, head, target, batch, sizes.rollouts)))
    whole = [each * steps / 1e15 for each, steps in zip(counted, sizes.steps, strict=True)]
    named = zip(("target", "drafter", "features"), whole, strict=True)
    print(", ".join(f"{name} {each:.3g}" for name, each in named), f"PFLOP; {sum(whole):.3g} in all")


def llama(sizes: Preset, shape: Shape) -> LlamaForCausalLM:
    """A network of a preset's, without numbers."""
    network = LlamaForCausalLM(shape.config(sizes.vocab, sizes.context, 0))
    network.set_attn_implementation(CAUSAL)
    return network


def cost(loss: partial) -> int:
    """Operations of a loss and its gradients."""
    with FlopCounterMode(display=False) as counter:
        loss().backward()
    return counter.get_total_flops()


if __name__ == "__main__":
    main()
