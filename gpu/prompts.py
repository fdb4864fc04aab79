"""Prompts for measurements: from a file, or text held out from the training of `gpu train`."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

from draftproof.gpu.models import Model
from draftproof.gpu.train.data import names, readable, standard_library
from draftproof.theory.errors import BadInput


def prompts(file: Path | None, target: Model, count: int, tokens: int = 32) -> list[list[int]]:
    """Token ids of up to `count` prompts; BadInput if there are none.

    Each line of a file is a prompt, or a JSON object with a "prompt" or with "turns" (as in Spec-Bench), of
    which the first is used. Without a file: the first `tokens` tokens of the standard library's last files in
    the order of `gpu train`, which holds them out from training.
    """
    if file is not None:
        return [target.tokenizer.encode(text) for text in _read(file)[:count]]
    folder = standard_library().resolve()
    texts = islice(readable(folder, reversed(names(folder))), 4 * count)
    encoded = (target.tokenizer.encode(text[: 16 * tokens])[:tokens] for text in texts)
    found = [ids for ids in encoded if len(ids) == tokens][:count]
    if not found:
        raise BadInput("no sources of the standard library were found here: give --prompts FILE")
    return found


def _read(file: Path) -> list[str]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise BadInput(f"{file}: {reason}") from None
    found = [_prompt(f"{file}, line {number}", line) for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise BadInput(f"{file}: contains no prompt")
    return found


def _prompt(where: str, line: str) -> str:
    if not line.lstrip().startswith("{"):
        return line
    try:
        given: Any = json.loads(line)
    except ValueError:
        return line
    text = given.get("prompt") or next(iter(given.get("turns") or ()), None)
    if not isinstance(text, str) or not text:
        raise BadInput(f'{where}: neither a "prompt" nor "turns"')
    return text
