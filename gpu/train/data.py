"""Training text and held-out text, and their token ids."""

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

from draftproof.theory.errors import BadInput

HELD_OUT = 0.02  # smallest fraction of the characters that is held out from training
PACKAGES = {"site-packages", "dist-packages"}
END = "<|endoftext|>"
PIECE = 1_000_000
"""Long texts are tokenised in pieces of this many characters; several pieces use several cores."""
TOKENIZER_TEXT = 32_000_000  # characters that a tokenizer is trained on; more would change it little


def standard_library() -> Path:
    """The folder of this Python's standard library."""
    return Path(sysconfig.get_paths()["stdlib"])


def installed() -> list[Path]:
    """The folders of installed packages."""
    return sorted({Path(sysconfig.get_paths()[name]) for name in ("purelib", "platlib")})


def names(folder: Path) -> list[str]:
    """The files of a folder, ordered by a hash of their paths; in Python's own folders only sources."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder")
    sources = {each.resolve() for each in (standard_library(), *installed())}
    paths = folder.rglob("*.py" if folder.resolve() in sources else "*")
    found = (path.relative_to(folder).as_posix() for path in paths if path.is_file())
    kept = (name for name in found if not (PACKAGES | {".git"}) & set(name.split("/")))
    return sorted(kept, key=lambda name: hashlib.sha256(name.encode()).digest())


def readable(folder: Path, files: Iterable[str]) -> Iterator[str]:
    """The texts of the files that are UTF-8 and not blank."""
    for name in files:
        try:
            text = (folder / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if text.strip() and "\0" not in text:
            yield text


def documents(folder: Path | None, megabytes: int) -> list[str]:
    """Distinct texts of a folder in the order of `names`, at most `megabytes` million characters.

    Without a folder: the standard library, preceded by sources of installed packages if it is too short.
    Raises BadInput below 10,000 characters.
    """
    limit = megabytes * 1_000_000
    own = folder or standard_library()
    texts = _distinct(readable(own, names(own)), limit)
    limit -= sum(map(len, texts))
    if folder is None and limit > 0:
        more = (text for each in installed() if each.is_dir() for text in readable(each, names(each)))
        known = set(texts)
        texts = _distinct((text for text in more if text not in known), limit) + texts
    if sum(map(len, texts)) < 10_000:
        raise BadInput(f"{own}: too little text to train on (at least 10,000 characters are needed)")
    return texts


def _distinct(found: Iterable[str], limit: int) -> list[str]:
    """The first texts, without repetitions, up to `limit` characters."""
    texts: dict[str, None] = {}
    for text in found:
        if text not in texts:
            texts[text[:limit]] = None
            limit -= len(text)
        if limit <= 0:
            break
    return list(texts)


def kept_apart(texts: list[str]) -> tuple[list[str], list[str]]:
    """(training texts, held-out texts): the last texts are held out, at least `HELD_OUT` of the characters.

    If whole texts would make up more than a fifth of all characters, only the end of the first one is held
    out.
    """
    total = sum(map(len, texts))
    count, held = 0, 0
    while held < HELD_OUT * total:
        count += 1
        held += len(texts[-count])
    if 5 * held <= total:
        return texts[:-count], texts[-count:]
    long, cut = texts[-count], held - round(HELD_OUT * total)
    return [*texts[:-count], long[:cut]], [long[cut:], *texts[len(texts) - count + 1 :]]


def byte_pairs(texts: list[str], vocab: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer of `vocab` tokens; token 0 ends a text."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevelDecoder()
    alphabet = sorted(ByteLevel.alphabet())
    trainer = BpeTrainer(
        vocab_size=vocab, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    stride = max(1, sum(map(len, texts)) // TOKENIZER_TEXT)
    pieces = [piece for group in _groups(texts) for piece, _ in group]
    tokenizer.train_from_iterator(pieces[::stride], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=END, eos_token=END, clean_up_tokenization_spaces=False
    )


def encoded(texts: list[str], tokenizer: PreTrainedTokenizerFast) -> np.ndarray:
    """All texts as one row of ids, each followed by the end-of-text token."""
    end = np.array([tokenizer.eos_token_id], dtype=np.int32)
    rows = []
    for group in _groups(texts):
        pieces = [piece for piece, _ in group]
        found = tokenizer.backend_tokenizer.encode_batch_fast(pieces, add_special_tokens=False)
        for each, (_, last) in zip(found, group, strict=True):
            rows += [np.array(each.ids, dtype=np.int32), end[: int(last)]]
    return np.concatenate(rows)


def _groups(texts: list[str]) -> Iterator[list[tuple[str, bool]]]:
    """(piece, whether it ends its text), in groups of 16 million characters to bound memory."""
    group, size = [], 0
    for text in texts:
        for at in range(0, len(text), PIECE):
            group.append((text[at : at + PIECE], at + PIECE >= len(text)))
            size += len(group[-1][0])
            if size >= 16 * PIECE:
                yield group
                group, size = [], 0
    yield group
