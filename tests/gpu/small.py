"""Small models with random weights: fast, sharp enough that greedy choices never tie."""

from functools import cache

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from draftproof.gpu.drafters.block_diffusion import BlockDrafter, Variant
from draftproof.gpu.drafters.drafter import Drafter, ModelDrafter, NgramDrafter
from draftproof.gpu.drafters.eagle3 import Eagle3Head, FeatureDrafter
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.output import Step
from draftproof.gpu.network.models import Model
from draftproof.gpu.verify import named
from studies.train_pair import new_block

VOCAB, CONTEXT, END = 40, 96, 0
PROMPTS = ([5], [3, 4, 5, 6, 7, 8], [9, 1, 2])


class Numbers:
    """A tokenizer whose text is the ids."""

    eos_token_id = END

    def decode(self, ids):
        return " ".join(map(str, ids))


def network(hidden: int, layers: int, seed: int, vocab: int = VOCAB) -> LlamaForCausalLM:
    """A Llama with random weights."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocab,
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=False,
        initializer_range=0.3,
        bos_token_id=END,
        eos_token_id=END,
        pad_token_id=None,
    )
    return LlamaForCausalLM(config).eval().requires_grad_(False)


@cache
def target() -> Model:
    """Four layers."""
    return Model("target", network(32, 4, 0), Numbers(), VOCAB, CONTEXT)


@cache
def near() -> Model:
    """The target with a little noise on its weights: a drafter that is right now and then."""
    net = network(32, 4, 0)
    torch.manual_seed(1)
    for weight in net.parameters():
        weight += 0.03 * torch.randn_like(weight)
    return Model("near", net, Numbers(), VOCAB, CONTEXT)


def new_head(of: Model, masks: tuple[int, int] | None = None) -> Eagle3Head:
    """An EAGLE-3 head with random weights for a target, over all of its outputs; with `masks` P-EAGLE's."""
    given, names = of.network.config, ("num_attention_heads", "num_key_value_heads", "hidden_size")
    sizes = {name: getattr(given, name) for name in (*names, "intermediate_size", "max_position_embeddings")}
    config = LlamaConfig(num_hidden_layers=1, bos_token_id=None, eos_token_id=None, **sizes)
    depth, hidden, every = given.num_hidden_layers, given.hidden_size, torch.arange(of.vocab)
    head = Eagle3Head(config, hidden, (1, depth // 2, depth), every, of.vocab, frozenset(), masks)
    return head.eval().requires_grad_(False)


@cache
def drafter(name: str) -> Drafter:
    """One of each kind."""
    torch.manual_seed(2)

    def block(*variant) -> Drafter:
        network = new_block(target().network, 5, 2, Variant(*variant)).eval().requires_grad_(False)
        for weight in network.parameters():  # rows that depend on the context
            weight += 0.2 * torch.randn_like(weight)
        return BlockDrafter(network, target())

    made = {
        "block": block,
        "dspark": lambda: block(4, True),
        "near": lambda: ModelDrafter(near()),
        "same": lambda: ModelDrafter(target()),
        "features": lambda: FeatureDrafter(new_head(target()), target()),
        "ngram": lambda: NgramDrafter(target()),
    }
    return made[name]()


def steps_of(
    verifier: str, spelling: str | None, which: str | None, prompts=PROMPTS, **options
) -> list[Step]:
    """All steps of a run of the target, with a drafter of that name or by itself."""
    steps = generate(
        target(),
        drafter(which) if which else None,
        prompts,
        verifier=named(verifier),
        structure=structure(spelling) if which else None,
        **options,
    )
    return list(steps)
