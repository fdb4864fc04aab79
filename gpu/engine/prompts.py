"""Prompts for runs: from a file of texts or questions, or held-out sources of Python's standard library."""

import hashlib
import json
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.output import texts
from draftproof.gpu.network.models import Model
from draftproof.gpu.sampling.device import refused
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import named
from draftproof.simulators.support.files import text_of
from draftproof.theory.errors import BadInput

PACKAGES = {"site-packages", "dist-packages", ".git"}


@dataclass(frozen=True)
class Question:
    """What a user says, turn by turn."""

    turns: tuple[str, ...]


@dataclass(frozen=True)
class Prompt:
    """The text of one turn, and the token ids of it with what was said before; `question` numbers the
    questions from 0.
    """

    text: str
    ids: list[int]
    question: int = 0


def prompts(
    file: Path | None, target: Model, count: int, tokens: int = 32, chat: bool = False, answer: int = 0
) -> list[Prompt]:
    """The prompts of up to `count` questions; BadInput if there are none.

    Without a file: the first `tokens` tokens of the standard library's last files in the order of `names`,
    which the training of the pair that ships held out. For the other settings see `asked`.
    """
    if file is not None:
        return asked(questions(file)[:count], target, chat, answer)
    if chat:
        raise BadInput("--chat is for runs with --prompts FILE")
    folder = standard_library().resolve()
    held_out = islice(readable(folder, reversed(names(folder))), 4 * count)
    encoded = (target.tokenizer.encode(text[: 16 * tokens])[:tokens] for text in held_out)
    found = [ids for ids in encoded if len(ids) == tokens][:count]
    if not found:
        raise BadInput("no sources of the standard library were found here: give --prompts FILE")
    return [Prompt(target.tokenizer.decode(ids), ids, number) for number, ids in enumerate(found)]


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


def questions(file: Path) -> list[Question]:
    """The questions of a file: each line is a text, or a JSON object with a "prompt" (a text, or its turns)
    or with "turns", as in MT-bench's and Spec-Bench's question.jsonl. BadInput for a file without any.
    """
    lines = text_of(file).split("\n")  # a JSON string may hold other line ends
    numbered = ((f"{file}, line {number}", line) for number, line in enumerate(lines, 1))
    found = [_question(*each) for each in numbered if each[1].strip()]
    if not found:
        raise BadInput(f"{file}: contains no prompt")
    return found


def _question(where: str, line: str) -> Question:
    if not line.lstrip().startswith("{"):
        return Question((line,))
    try:
        given: Any = json.loads(line)
    except ValueError:
        return Question((line,))
    turns = given.get("prompt") or given.get("turns")
    turns = [turns] if isinstance(turns, str) and given.get("prompt") else turns
    if not isinstance(turns, list) or not turns or not all(isinstance(each, str) and each for each in turns):
        raise BadInput(f'{where}: neither a "prompt" nor "turns"')
    return Question(tuple(turns))


def asked(given: Sequence[Question], target: Model, chat: bool = False, answer: int = 0) -> list[Prompt]:
    """One prompt for each turn of each question. With `chat` turns are written by the tokenizer's own chat
    template, else as they are. A later turn follows the earlier ones and the target's own greedy answers to
    them, of up to `answer` tokens, so that each method is asked the same; with `answer` 0 only first turns
    are asked. BadInput if the tokenizer has no chat template.

    >>> from draftproof.gpu.drafters.choose import SHIPPED
    >>> from draftproof.gpu.network.models import load
    >>> given = [Question(("import os", "import sys"))]
    >>> [prompt.text for prompt in asked(given, load(SHIPPED / "target", "cpu"), answer=4)]
    ['import os', 'import sys']
    """
    return [
        Prompt(turn, ids, number)
        for number, question in enumerate(given)
        for turn, ids in _turns(question.turns if answer else question.turns[:1], target, chat, answer)
    ]


def _turns(turns: Sequence[str], target: Model, chat: bool, answer: int) -> Iterator[tuple[str, list[int]]]:
    said: list[Mapping[str, str]] = []
    for number, turn in enumerate(turns, 1):
        said.append({"role": "user", "content": turn})
        ids = templated(target, said) if chat else _plain(target, said)
        yield turn, ids
        if number < len(turns):
            steps = generate(
                target,
                None,
                [ids],
                verifier=named("token"),
                structure=None,
                sampling=Sampling(0.0),
                max_new_tokens=answer,
            )
            ((*words,),) = texts(steps, 1)
            if words and words[-1] in target.ends:
                words.pop()
            said.append({"role": "assistant", "content": target.tokenizer.decode(words)})


def _plain(target: Model, said: Sequence[Mapping[str, str]]) -> list[int]:
    return target.tokenizer.encode("\n".join(each["content"] for each in said))


def templated(target: Model, said: Sequence[Mapping[str, str]]) -> list[int]:
    """The token ids of a conversation up to the next answer, by the tokenizer's own chat template; BadInput
    if it has none or refuses these messages.
    """
    if not getattr(target.tokenizer, "chat_template", None):
        raise BadInput(f"--chat: the tokenizer of {target.name} has no chat template")
    with refused(f"--chat: the chat template of {target.name} fails"):
        text = target.tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
    return target.tokenizer.encode(text, add_special_tokens=False)
