"""Prompts for runs: from a file of texts or questions, or held-out sources of Python's standard library."""

import hashlib
import json
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from draftproof.gpu.network.models import Model
from draftproof.gpu.sampling.device import refused
from draftproof.simulators.support.files import text_of
from draftproof.theory.errors import BadInput

PACKAGES = {"site-packages", "dist-packages", ".git"}


class Prompt(NamedTuple):
    """A text, and the token ids that are continued."""

    text: str
    ids: list[int]


def prompts(
    file: Path | None, target: Model, count: int, tokens: int = 32, chat: bool = False
) -> list[Prompt]:
    """Up to `count` prompts; BadInput if there are none. `chat` is as in `asked`.

    Without a file: the first `tokens` tokens of the standard library's last files in the order of `names`,
    which the training of the pair that ships held out.
    """
    if file is not None:
        return asked(questions(file)[:count], target, chat)
    if chat:
        raise BadInput("--chat is for runs with --prompts FILE")
    folder = standard_library().resolve()
    held_out = islice(readable(folder, reversed(names(folder))), 4 * count)
    encoded = (target.tokenizer.encode(text[: 16 * tokens])[:tokens] for text in held_out)
    found = [ids for ids in encoded if len(ids) == tokens][:count]
    if not found:
        raise BadInput("no sources of the standard library were found here: give --prompts FILE")
    return [Prompt(target.tokenizer.decode(ids), ids) for ids in found]


def standard_library() -> Path:
    """The folder of this Python's standard library."""
    return Path(sysconfig.get_paths()["stdlib"])


def names(folder: Path) -> list[str]:
    """The Python sources of a folder but for installed packages, ordered by a hash of their paths."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder")
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if path.is_file())
    kept = (name for name in found if not PACKAGES & set(name.split("/")))
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


def questions(file: Path) -> list[str]:
    """The questions of a file: each line is a text, or a JSON object with a "prompt" (a text, or its turns)
    or with "turns", as in MT-bench's and Spec-Bench's question.jsonl, of which the first is asked. BadInput
    for a file without any.
    """
    lines = text_of(file).split("\n")  # a JSON string may hold other line ends
    numbered = ((f"{file}, line {number}", line) for number, line in enumerate(lines, 1))
    found = [_question(*each) for each in numbered if each[1].strip()]
    if not found:
        raise BadInput(f"{file}: contains no prompt")
    return found


def _question(where: str, line: str) -> str:
    if not line.lstrip().startswith("{"):
        return line
    try:
        given: Any = json.loads(line)
    except ValueError:
        return line
    turns = given.get("prompt") or given.get("turns")
    turns = [turns] if isinstance(turns, str) and given.get("prompt") else turns
    if not isinstance(turns, list) or not turns or not all(isinstance(each, str) and each for each in turns):
        raise BadInput(f'{where}: neither a "prompt" nor "turns"')
    return turns[0]


def asked(given: Sequence[str], target: Model, chat: bool = False) -> list[Prompt]:
    """The texts as prompts, with `chat` as the tokenizer's own chat template writes them for a first answer.
    BadInput if the tokenizer has no chat template or it refuses a text.

    >>> from draftproof.gpu.drafters.choose import SHIPPED
    >>> from draftproof.gpu.network.models import load
    >>> [prompt.ids for prompt in asked(["import os"], load(SHIPPED / "target", "cpu"))]
    [[619, 621]]
    """
    if not chat:
        return [Prompt(text, target.tokenizer.encode(text)) for text in given]
    if not getattr(target.tokenizer, "chat_template", None):
        raise BadInput(f"--chat: the tokenizer of {target.name} has no chat template")
    found = []
    for text in given:
        said = [{"role": "user", "content": text}]
        with refused(f"--chat: the chat template of {target.name} fails"):
            written = target.tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
        found.append(Prompt(text, target.tokenizer.encode(written, add_special_tokens=False)))
    return found
