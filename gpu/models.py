"""Causal language models as transformers loads them, and whether two of them can decode together."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from huggingface_hub.utils import logging as hub
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

from draftproof.gpu.device import usable
from draftproof.theory.errors import BadInput, quoted


@dataclass(frozen=True)
class Model:
    """A causal language model of transformers' (`network`) with its tokenizer.

    `vocab` is the number of ids the tokenizer knows: a head with more outputs is padded, and those
    are left out of every row. `context` is the largest number of tokens in a text.
    """

    name: str
    network: Any
    tokenizer: Any
    vocab: int
    context: int

    @property
    def device(self) -> torch.device:
        """Where the network computes."""
        return self.network.device

    @property
    def ends(self) -> frozenset[int]:
        """The ids that end a text, from the generation settings and the tokenizer."""
        said = getattr(self.network.generation_config, "eos_token_id", None)
        ids = said if isinstance(said, list) else [said, self.tokenizer.eos_token_id]
        return frozenset(each for each in ids if each is not None)


def load(
    name: str | Path, device: torch.device | str | None = None, dtype: torch.dtype | None = None
) -> Model:
    """The model in a folder, or of that name where transformers can fetch it; BadInput where neither works.

    Without a `device` it is the GPU where there is one. Without a `dtype` it is float32 on a CPU and
    the one the weights were saved in elsewhere. A folder is read without any network.
    """
    device = usable(device)
    local = Path(name).exists()
    if local and not (Path(name) / "config.json").is_file():
        raise BadInput(f"{name}: no model is here (no config.json)")
    if not local and str(name).startswith((".", "/", "~")):
        raise BadInput(f"{name}: no such folder")
    kind = dtype or (torch.float32 if device.type == "cpu" else "auto")
    try:
        with quiet():
            config = AutoConfig.from_pretrained(name, local_files_only=local)
            _can_be_cached(str(name), config)
            tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=local)
            network: Any = AutoModelForCausalLM.from_pretrained(name, dtype=kind, local_files_only=local)
        network = network.to(device).eval().requires_grad_(False)
    except BadInput:
        raise
    except (OSError, ValueError, KeyError, ImportError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise BadInput(f"{name}: transformers cannot load this model: {said[0]}") from None
    vocab = 1 + max(tokenizer.get_vocab().values(), default=-1)
    outputs = network.get_output_embeddings().weight.shape[0]
    if outputs < vocab:
        raise BadInput(f"{name}: the model has {outputs} outputs, its tokenizer {vocab} tokens")
    return Model(str(name), network, tokenizer, vocab, context_of(network.config))


def context_of(config: Any) -> int:
    """The largest number of tokens that every layer sees whole: a sliding window bounds it too.

    >>> from transformers import MistralConfig
    >>> context_of(MistralConfig(max_position_embeddings=8192, sliding_window=4096))
    4096
    """
    text = config.get_text_config(decoder=True)
    positions = getattr(text, "max_position_embeddings", None) or 1 << 20
    window = getattr(text, "sliding_window", None)
    kinds = getattr(text, "layer_types", None) or ["sliding_attention"]
    return min(positions, window) if window and "sliding_attention" in kinds else positions


def check_pair(target: Model, drafter: Model) -> None:
    """Raises BadInput unless both tokenizers give every token the same id."""
    ours, theirs = target.tokenizer.get_vocab(), drafter.tokenizer.get_vocab()
    if ours == theirs:
        return
    if len(ours) != len(theirs):
        raise BadInput(
            f"{drafter.name} has {len(theirs)} tokens and {target.name} {len(ours)}: "
            "a drafter must share the target's tokenizer"
        )
    token = min((each for each in ours if theirs.get(each) != ours[each]), key=ours.__getitem__)
    raise BadInput(
        f"{drafter.name} gives token {quoted(token)} the id {theirs.get(token)}, {target.name} "
        f"{ours[token]}: a drafter must share the target's tokenizer"
    )


def _can_be_cached(name: str, config: Any) -> None:
    text = config.get_text_config(decoder=True)
    other = {each for each in getattr(text, "layer_types", None) or [] if each != "full_attention"}
    if other - {"sliding_attention"}:
        raise BadInput(f"{name}: layers of type {', '.join(sorted(other))} cannot take back rejected tokens")
    if getattr(config, "is_encoder_decoder", False):
        raise BadInput(f"{name}: not a causal language model")


@contextmanager
def quiet() -> Iterator[None]:
    """Keeps transformers' progress bars and notices off the screen, and every retry of a download."""
    level, loud = logging.get_verbosity(), hub.get_verbosity()
    shown = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    hub.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        hub.set_verbosity(loud)
        if shown:
            logging.enable_progress_bar()
