"""The text that models are trained on: a folder of files, in an order that depends on their names alone."""

import hashlib
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from transformers import PreTrainedTokenizerFast

from theory.errors import BadInput

END = "<|endoftext|>"
HELD_OUT = 0.02
"""The share of the tokens, at the end, that no model is trained on."""


def standard_library() -> Path:
    """Where this Python keeps its own sources."""
    return Path(sysconfig.get_paths()["stdlib"])


def names(folder: Path) -> list[str]:
    """The files of a folder in the order of a hash of their paths; of the standard library its own."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder")
    paths = folder.rglob("*.py" if folder == standard_library() else "*")
    found = (path.relative_to(folder).as_posix() for path in paths if path.is_file())
    kept = (name for name in found if not {"site-packages", "dist-packages", ".git"} & set(name.split("/")))
    return sorted(kept, key=lambda name: hashlib.sha256(name.encode()).digest())


def readable(folder: Path, files: Iterable[str]) -> Iterator[str]:
    """The texts of those files that are UTF-8 and hold any."""
    for name in files:
        try:
            text = (folder / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if text.strip() and "\0" not in text:
            yield text


def documents(folder: Path, megabytes: int) -> list[str]:
    """The texts of a folder, in the order of a hash of their paths, `megabytes` of them at most.

    Of the standard library only the Python sources, without installed packages. Files that are not
    UTF-8 text are left out.
    """
    texts, room = [], megabytes * 1_000_000
    for text in readable(folder, names(folder)):
        texts.append(text[:room])
        room -= len(text)
        if room <= 0:
            break
    if sum(map(len, texts)) < 10_000:
        raise BadInput(f"{folder}: too little text to train on (10,000 characters at least)")
    return texts


def byte_pairs(texts: list[str], vocab: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer of `vocab` tokens; token 0 ends a text."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevelDecoder()
    alphabet = sorted(ByteLevel.alphabet())
    trainer = BpeTrainer(
        vocab_size=vocab, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=END, eos_token=END, clean_up_tokenization_spaces=False
    )


def encoded(texts: list[str], tokenizer: PreTrainedTokenizerFast) -> np.ndarray:
    """All texts as one row of ids, each ended by the end-of-text token."""
    end = tokenizer.eos_token_id
    pieces = tokenizer.backend_tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    return np.concatenate([np.array([*piece.ids, end], dtype=np.int32) for piece in pieces])
