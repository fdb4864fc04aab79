"""Causal language models loaded by transformers, and the check that two of them can decode together."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from huggingface_hub.utils import logging as hub
from torch import Tensor
from torch.nn.functional import pad
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, GenerationConfig
from transformers.utils import logging

from draftproof.gpu.network.reader import ORIGINAL, Reader, ropes
from draftproof.gpu.network.whole import WholeReader
from draftproof.gpu.sampling.device import refused, usable
from draftproof.theory.errors import BadInput, quoted


@dataclass(frozen=True)
class Model:
    """A causal language model of transformers (`network`) with its tokenizer.

    `vocab` is the number of the network's outputs; the last `padding` of them stand for no token and are
    -inf. `context` is the largest number of tokens in a text. `why`: why trees are not read, if
    they are not. `rows`: what the row test found; None if it was not run.
    """

    name: str
    network: Any
    tokenizer: Any
    vocab: int
    context: int
    padding: int = 0
    why: str | None = None
    rows: str | None = None

    @property
    def only_chains(self) -> bool:
        """Whether drafts must be chains, and each pass reads whole texts."""
        return self.why is not None

    @property
    def known(self) -> int:
        """The number of ids that stand for a token."""
        return self.vocab - self.padding

    def reader(self, batch: int, capacity: int) -> Reader | WholeReader:
        """An empty reader of so many texts, each of at most `capacity` tokens with its draft."""
        if self.only_chains:
            return WholeReader(self.network, batch)
        return Reader(self.network, batch, capacity, self.context)

    @property
    def device(self) -> torch.device:
        """Where the network computes."""
        return self.network.device

    @property
    def ends(self) -> frozenset[int]:
        """The ids that end a text, from the generation settings and the tokenizer."""
        given = getattr(self.network.generation_config, "eos_token_id", None)
        ids = given if isinstance(given, list) else [given, self.tokenizer.eos_token_id]
        return frozenset(each for each in ids if each is not None)


def load(
    name: str | Path,
    device: torch.device | str | None = None,
    dtype: torch.dtype | None = None,
    width: int | None = None,
) -> Model:
    """The model in a folder, or one that transformers can fetch by name; BadInput if it cannot be loaded, or
    if weights are missing or left over.

    Default `device`: the GPU if there is one. Default `dtype`: float32 on a CPU, elsewhere the type of the
    saved weights. Rows get `width` outputs, by default as many as the network has. Of the checkpoint's
    generation settings only the special tokens are kept. For a folder nothing is fetched over the network.
    """
    device = usable(device)
    local = Path(name).exists()
    if local and not (Path(name) / "config.json").is_file():
        raise BadInput(f"{name}: no model is here (no config.json)")
    if not local and str(name).startswith((".", "/", "~")):
        raise BadInput(f"{name}: no such folder")
    kind = dtype or (torch.float32 if device.type == "cpu" else "auto")
    given: dict[str, Any] = {"local_files_only": local}
    with refused(f"{name}: transformers cannot load this model"), quiet():
        try:
            config = AutoConfig.from_pretrained(name, **given)
        except OSError:
            if local:
                raise
            raise BadInput(f"{name}: no such folder, and no such model can be downloaded") from None
        if reason := _refused(config):
            raise BadInput(f"{name}: {reason}")
        tokenizer = AutoTokenizer.from_pretrained(name, **given)
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            name, dtype=kind, output_loading_info=True, **given
        )
        network, found = loaded
        network = network.to(device).eval().requires_grad_(False)
    extra = [key for key in found["unexpected_keys"] if not of_mtp(key, network.config)]
    if problem := lacking(found["missing_keys"], extra):
        raise BadInput(f"{name}: {problem}")
    special = ("bos_token_id", "eos_token_id", "pad_token_id")
    kept = {each: getattr(network.generation_config, each, None) for each in special}
    network.generation_config = GenerationConfig(**kept)
    vocab = 1 + max(tokenizer.get_vocab().values(), default=-1)
    head = network.get_output_embeddings()
    outputs = network.config.get_text_config().vocab_size if head is None else head.weight.shape[0]
    if outputs < vocab:
        raise BadInput(f"{name}: the model has {outputs} outputs, its tokenizer {vocab} tokens")
    wide = width or outputs
    if wide < vocab:
        raise BadInput(f"{name}: {vocab} tokens do not fit into rows of {wide}")
    if (outputs, vocab) != (wide, wide):
        network.register_forward_hook(partial(_shut, vocab, wide))
    return Model(str(name), network, tokenizer, wide, context_of(network.config), wide - vocab)


def lacking(missing: Iterable[str], unknown: Iterable[str]) -> str | None:
    """What is wrong with a checkpoint of which keys are missing or unknown, in one line.

    >>> lacking(["fc.weight"], [])
    'the checkpoint lacks weights: fc.weight'
    """
    given = (("lacks", sorted(missing)), ("has unknown", sorted(unknown)))
    found = [f"{what} weights: {keys_of(keys)}" for what, keys in given if keys]
    return f"the checkpoint {' and '.join(found)}" if found else None


def keys_of(names: Sequence[str]) -> str:
    """The first three of some names, and how many more there are."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def of_mtp(key: str, config: Any) -> bool:
    """Whether a checkpoint's key is of its MTP layers, which the network itself does not have: `mtp.`, or
    layers after the last one.
    """
    found = re.match(r"(?:model\.)?(?:language_model\.)?layers\.(\d+)\.", key)
    layers = config.get_text_config(decoder=True).num_hidden_layers
    return key.startswith("mtp.") or (found is not None and int(found[1]) >= layers)


def shut(logits: Tensor, known: int, width: int) -> Tensor:
    """Logits [..., width], of which those after the first `known` are -inf."""
    return pad(logits[..., :known], (0, width - known), value=-torch.inf)


def _shut(known: int, width: int, _: Any, __: Any, output: Any) -> Any:
    output.logits = shut(output.logits, known, width)
    return output


def context_of(config: Any) -> int:
    """The largest number of tokens in a text. Beyond the length of its first training, a network with rope
    type `longrope` turns the positions of the whole text in another way, so that no cache is right.
    """
    text = config.get_text_config(decoder=True)
    given = [getattr(text, "max_position_embeddings", None)]
    given += [
        rope.get(ORIGINAL, getattr(text, ORIGINAL, None))
        for rope in ropes(text)
        if rope["rope_type"] == "longrope"
    ]
    return min([each for each in given if each and each > 0], default=1 << 20)


def check_pair(target: Model, drafter: Model) -> None:
    """Raises BadInput unless both tokenizers give every token the same id."""
    ours, theirs = target.tokenizer.get_vocab(), drafter.tokenizer.get_vocab()
    if ours == theirs:
        return
    if len(ours) != len(theirs):
        difference = f"has {len(theirs)} tokens and {target.name} {len(ours)}"
    else:
        token = min((each for each in ours if theirs.get(each) != ours[each]), key=ours.__getitem__)
        difference = f"gives token {quoted(token)} the id {theirs.get(token)}, {target.name} {ours[token]}"
    raise BadInput(f"{drafter.name} {difference}: a drafter must share the target's tokenizer")


def _refused(config: Any) -> str | None:
    if getattr(config, "is_encoder_decoder", False):
        return "not a causal language model"
    quantised = getattr(config, "quantization_config", None)
    if quantised is not None:
        method = quantised.get("quant_method") if isinstance(quantised, dict) else type(quantised).__name__
        return f"quantised weights ({method}) are not supported; take the checkpoint they were made from"
    return None


@contextmanager
def quiet() -> Iterator[None]:
    """Silences transformers' progress bars and notices, and messages about repeated downloads."""
    with ExitStack() as afterwards:
        for each in (logging, hub):
            afterwards.callback(each.set_verbosity, each.get_verbosity())
            each.set_verbosity_error()
        if logging.is_progress_bar_enabled():
            afterwards.callback(logging.enable_progress_bar)
        logging.disable_progress_bar()
        yield
