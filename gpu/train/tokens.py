"""The tokenizer of a pair, and texts as token ids."""

from collections.abc import Iterator

import numpy as np
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from transformers import PreTrainedTokenizerFast

END = "<|endoftext|>"
PIECE = 1_000_000
"""Characters of a long text that are tokenised at once; several pieces go to several cores."""
ENOUGH = 32_000_000
"""Characters, about, that a tokenizer is made from; more of them change it little."""


def byte_pairs(texts: list[str], vocab: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer of `vocab` tokens; token 0 ends a text."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevelDecoder()
    alphabet = sorted(ByteLevel.alphabet())
    trainer = BpeTrainer(
        vocab_size=vocab, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    stride = max(1, sum(map(len, texts)) // ENOUGH)
    pieces = [piece for text in texts for piece in _pieces(text)]
    tokenizer.train_from_iterator(pieces[::stride], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=END, eos_token=END, clean_up_tokenization_spaces=False
    )


def encoded(texts: list[str], tokenizer: PreTrainedTokenizerFast) -> np.ndarray:
    """All texts as one row of ids, each ended by the end-of-text token."""
    end = np.array([tokenizer.eos_token_id], dtype=np.int32)
    rows = []
    for group in _groups(texts):
        pieces = [piece for piece, _ in group]
        found = tokenizer.backend_tokenizer.encode_batch_fast(pieces, add_special_tokens=False)
        for each, (_, last) in zip(found, group, strict=True):
            rows += [np.array(each.ids, dtype=np.int32), end[: int(last)]]
    return np.concatenate(rows)


def _pieces(text: str) -> Iterator[str]:
    for at in range(0, len(text), PIECE):
        yield text[at : at + PIECE]


def _groups(texts: list[str]) -> Iterator[list[tuple[str, bool]]]:
    """Pieces with whether they end their text, some 16 million characters at a time.

    A token takes hundreds of bytes until its id is taken out.
    """
    group, size = [], 0
    for text in texts:
        for number, piece in enumerate(_pieces(text), 1):
            group.append((piece, number * PIECE >= len(text)))
            size += len(piece)
            if size >= 16 * PIECE:
                yield group
                group, size = [], 0
    if group:
        yield group
