"""A server as the tests see it: texts for a prompt, with rows of log-probabilities where it has them."""

import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from draftproof.simulators.endpoint.client import Client, Refused, Unanswered
from draftproof.simulators.endpoint.laws import CLOSE, PLAIN, SPECIAL, Law, Setting, is_row, law
from draftproof.theory.errors import BadInput

NEUTRAL = {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
"""Else some servers take a model's own generation settings, or filters of their own."""

EXTENSIONS = {"ignore_eos": True, "return_token_ids": True, "return_tokens_as_token_ids": True, **NEUTRAL}
"""vLLM's: end tokens do not end a text; ids of all tokens; unambiguous spellings in log-probabilities."""

LISTED = 80, 20, 5
"""Numbers of log-probabilities that are asked for, until the server grants one."""

TOGETHER = 32
"""Prompts of a request that gives texts back."""

PIECES = re.compile(r"\s?\w+|\s|.", re.DOTALL)

Row = Mapping[str, float]


@dataclass(frozen=True)
class Sample:
    """One generated text: its `tokens` as the server spells them (or pieces of the text if it does not), the
    `rows` of log-probabilities that they were drawn from (None where there is none), and ids where the server
    tells them. `read`: the number of tokens of the request's prompt.
    """

    text: str
    finish: str
    tokens: tuple[str, ...]
    rows: tuple[Row | None, ...] | None
    ids: tuple[int, ...] | None = None
    prompt_ids: tuple[int, ...] | None = None
    read: int = 0

    def in_pieces(self) -> "Sample":
        """The same with pieces of the text for tokens."""
        return Sample(self.text, self.finish, tuple(PIECES.findall(self.text)), None)


@dataclass(frozen=True)
class Place:
    """A prompt, a text after it, and how many of its tokens are given back to the server."""

    prompt: str
    sample: Sample
    at: int

    @property
    def before(self) -> tuple[str, ...]:
        """The tokens that are given back."""
        return self.sample.tokens[: self.at]

    def read(self, token: str) -> bool:
        """Whether a token may be in the prompt."""
        if not token.startswith("token_id:"):
            return token in self.prompt
        ids = self.sample.prompt_ids
        return ids is None or token in map("token_id:{}".format, ids)

    def met(self, token: str) -> bool:
        """Whether a token may be in the prompt or among those given back."""
        return self.read(token) or token in self.before or token in "".join(self.before)


class Server:
    """A model of a server, asked by completions or by chat. `listed` is the number of log-probabilities of a
    row; None if it has none. `most`: how many texts a request may ask for; `prompt_tokens` that were read;
    `close`: by how much log-probabilities of two passes may differ.
    """

    def __init__(self, client: Client, model: str | None = None, chat: bool = False, most: int = 32):
        self.client, self.chat, self.most = client, chat, most
        self.prompt_tokens, self.close = 0, CLOSE
        self.listed: int | None = None
        self.asking = True  # what the server grants
        self.spelled: dict[Any, str] = {}
        self.extensions: dict[str, Any] = dict(EXTENSIONS)
        self.prompt_ids: dict[str, tuple[int, ...] | None] = {}
        self.forced: dict[tuple[str, tuple[str, ...]], Row | None] = {}
        self.model = model or self._only_model()
        self._negotiate()
        self.asking = False

    def ask(
        self,
        prompt: str | list[int] | list[list[int]],
        setting: Setting = PLAIN,
        *,
        count: int = 1,
        length: int = 1,
        **more: Any,
    ) -> list[Sample]:
        """`count` texts of `length` tokens for each prompt; more parameters as OpenAI's API names them.

        A server that refuses to give so many texts, or gives fewer, is asked several times, from then on.
        """
        found: list[Sample] = []
        while len(found) < count:
            size = min(count - len(found), self.most)
            try:
                few = self._texts(prompt, size, length, {**setting.body, **more})
            except Refused as refusal:
                if size == 1:
                    raise
                said = [int(each) for each in re.findall(r"\b\d{1,4}\b", str(refusal))]
                self.most = max([each for each in said if 1 < each < size], default=size // 2)
                continue
            found += few
            self.most = min(self.most, len(few)) if len(few) < size else self.most
        return found

    def asked(self, prompts: Sequence[str], **more: Any) -> list[Sample]:
        """The texts for each of several prompts, as `ask` gives them."""
        return [each for prompt in prompts for each in self.ask(prompt, **more)]

    def _texts(self, prompt: Any, count: int, length: int, more: dict[str, Any]) -> list[Sample]:
        """The texts of one answer; there is at least one."""
        path, body = self._request(prompt, count, length, more)
        several = len(prompt) if isinstance(prompt, list) and isinstance(prompt[0], list) else 1
        answer = self.client.send(path, body, several * count * length)
        try:
            usage = answer.get("usage") or {}
            made, read = (usage.get(each, 0) or 0 for each in ("completion_tokens", "prompt_tokens"))
            choices = sorted(answer["choices"], key=lambda choice: choice.get("index") or 0)
            found = [self._sample(choice, read, prompt) for choice in choices]
            right = 0 < len(found) <= several * count and type(made) is type(read) is int
            told = (each.tokens for each in found if each.rows is not None)  # else they are pieces of texts
            right = right and all(len(tokens) <= 2 * length + 16 for tokens in told)
            if not right or not (0 <= made <= 10 * several * count * length and 0 <= read < 10**7):
                raise ValueError
        except (KeyError, TypeError, AttributeError, ValueError, LookupError, OverflowError, RecursionError):
            said = "an answer without choices and usage as OpenAI's API has them"
            raise Unanswered(f"{self.client.name}: {said}") from None
        self.prompt_tokens += read
        return found

    def with_rows(self, prompt: str, samples: Sequence[Sample]) -> list[Sample]:
        """The texts with the rows that their answer does not have, by teacher forcing, as far as possible."""
        missing = [
            Place(prompt, each, t)
            for each in samples
            for t in range(len(each.tokens))
            if each.rows is not None and each.rows[t] is None
        ]
        found = iter(self.rows(missing))
        return [
            each if each.rows is None else replace(each, rows=tuple(row or next(found) for row in each.rows))
            for each in samples
        ]

    def rows(self, places: Sequence[Place]) -> list[Row | None]:
        """The rows at these places, by new requests for one token (teacher forcing); None where the tokens
        cannot be given back to the server. Each is asked for once.
        """
        if self.chat:
            return [None] * len(places)
        keys = [(each.prompt, each.before) for each in places]
        new = {key: each for key, each in zip(keys, places, strict=True) if key not in self.forced}
        by_id = {key: each for key, each in new.items() if each.sample.ids and each.sample.prompt_ids}
        spelled = {key: each for key, each in new.items() if key not in by_id}
        ids = [[*(x.sample.prompt_ids or ()), *(x.sample.ids or ())[: x.at]] for x in by_id.values()]
        few = [ids[at : at + TOGETHER] for at in range(0, len(ids), TOGETHER)]
        rows = [found.rows for each in self.client.map(self._each, few) for found in each]
        self.forced |= zip(by_id, (each[0] if each else None for each in rows), strict=True)
        self.forced |= zip(spelled, self.client.map(self._row, spelled.values()), strict=True)
        return [self.forced[key] for key in keys]

    def again(self, places: Sequence[Place]) -> list[Row | None]:
        """The rows, asked for anew: without the cache of prompts, where llama.cpp's parameter is known."""
        self.forced.clear()
        anew = copy(self)
        anew.extensions = {**self.extensions, "cache_prompt": False}
        try:
            return anew.rows(places)
        except Refused:
            return self.rows(places)

    def _each(self, prompts: list[list[int]]) -> list[Sample]:
        """One token after each of the prompts, by one request if the server takes several prompts."""
        try:
            found = self.ask(prompts)
        except Refused:
            found = []
        return found if len(found) == len(prompts) else [self.ask(each)[0] for each in prompts]

    def _row(self, place: Place) -> Row | None:
        """The row at a place after its text, if the server reads as many tokens in it as it wrote."""
        if any(each.startswith("token_id:") for each in place.before):
            return None
        [found] = self.ask(place.prompt + "".join(place.before))
        return found.rows[0] if found.rows and found.read == place.sample.read + place.at else None

    def law(
        self, row: Row, setting: Setting = PLAIN, before: Sequence[str] = (), place: Place | None = None
    ) -> Law:
        """The law that a row of this server means (`laws.law`). Whether a penalty is also for the tokens of
        the prompt, interfaces do not say; what a repetition penalty does depends on the sign of a logit.
        """
        unsure = place and (place.met if setting.repetition_penalty != 1 else place.read)
        ends_shown = "return_token_ids" in self.extensions
        return law(row, setting, before, self.listed or 1, ends_shown, unsure, self.close)

    def _only_model(self) -> str:
        why = ""
        try:
            found = self.client.send("/models").get("data")[0]["id"]  # type: ignore[index]
            if isinstance(found, str):
                return found
        except (Unanswered, Refused) as fault:
            why = f" ({str(fault).lstrip(': ')})"
        except (KeyError, TypeError, IndexError):
            pass
        raise BadInput(f"{self.client.name}/models lists no model{why}: give --model")

    def _negotiate(self) -> None:
        """Finds which extensions and how many log-probabilities and texts the server grants."""
        said = Refused("")
        for extensions in (self.extensions, {"ignore_eos": True, **NEUTRAL}, NEUTRAL, {}):
            for listed in (*LISTED, None):
                self.extensions, self.listed = extensions, listed
                try:
                    sample = self.ask("The", length=8)[0]
                except Refused as error:
                    said = error
                    continue
                if not (sample.rows and sample.rows[0]):
                    self.listed = None
                if "return_token_ids" in extensions and sample.prompt_ids is None:
                    break  # without ids of the prompt, tokens are given back as text
                self.ask("The", count=self.most)
                return
        if not said.args[0]:
            return
        raise BadInput(f"{self.client.name}: it refuses a request for one token{said}")

    def _request(
        self, prompt: Any, count: int, length: int, more: dict[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        body = {"model": self.model, "n": count, "max_tokens": length, **self.extensions, **more}
        if self.chat:
            shown = {} if self.listed is None else {"logprobs": True, "top_logprobs": self.listed}
            return "/chat/completions", {"messages": [{"role": "user", "content": prompt}], **body, **shown}
        shown = {} if self.listed is None else {"logprobs": self.listed}
        return "/completions", {"prompt": prompt, **body, **shown}

    def _sample(self, choice: dict[str, Any], read: int, prompt: Any) -> Sample:
        text = str((choice.get("message") or {}).get("content") or "") if self.chat else str(choice["text"])
        shown = choice.get("logprobs") or {}
        spelled, rows, listed = _listed(shown)
        if self.asking and rows and not _spells(shown, text):
            raise Refused(": log-probabilities name other tokens than those of the text")
        whole = self._whole(shown.get("content") or [])
        spelled, rows, listed = spelled and spelled[:whole], rows and rows[:whole], listed[:whole]
        tokens = tuple(PIECES.findall(text)) if spelled is None else spelled
        ids, prompt_ids = choice.get("token_ids") or listed, choice.get("prompt_token_ids")
        known = _ids(ids) if ids and len(ids) == len(tokens) else None
        if known and not prompt_ids and "return_token_ids" not in self.extensions:
            prompt_ids = self._read(prompt, read) if isinstance(prompt, str) else prompt
        finish = str(choice.get("finish_reason"))
        return Sample(text, finish, tokens, rows, known, _ids(prompt_ids or ()) or None, read)

    def _whole(self, entries: list[dict[str, Any]]) -> int | None:
        """How many tokens of a text are surely listed. llama.cpp leaves out one that ends within a character,
        and spells the next one with it: not as in other rows, where that is spelled "" or by its own bytes.
        """
        tops = (each for entry in entries for each in entry["top_logprobs"] or ())
        self.spelled |= {each["id"]: each["token"] for each in tops if "id" in each}
        for n, each in enumerate(entries):
            own = self.spelled.get(each.get("id"))
            if "id" in each and (
                each["token"] != own if own is not None else not str(each["token"]).isascii()
            ):
                return n
        return None

    def _read(self, prompt: str, read: int) -> tuple[int, ...] | None:
        """The ids of a prompt, if the server has vLLM's or llama.cpp's `/tokenize`, and reads that many."""
        if prompt not in self.prompt_ids:
            asked = {"model": self.model, "prompt": prompt, "content": prompt, "add_special": True}
            try:
                found = self.client.send("/tokenize", asked, root=True).get("tokens")
            except (Refused, BadInput, Unanswered):
                found = None
            ids = _ids(found) if isinstance(found, list) else None
            self.prompt_ids[prompt] = ids if ids and len(ids) == read else None
        return self.prompt_ids[prompt]


def _listed(shown: dict[str, Any]) -> tuple[tuple[str, ...] | None, tuple[Row | None, ...] | None, list[Any]]:
    """Tokens, rows and ids of log-probabilities in either of OpenAI's forms; no rows if a value cannot be."""
    entries: list[Any] = shown.get("content") or []
    if entries:
        tokens = tuple(map(_name, entries))
        rows = [{_name(x): float(x["logprob"]) for x in each["top_logprobs"] or ()} for each in entries]
    elif shown.get("top_logprobs"):
        tokens = tuple(map(str, shown["tokens"]))
        rows = [{x: float(y) for x, y in (row or {}).items()} for row in shown["top_logprobs"]]
    else:
        return None, None, []
    good = len(rows) == len(tokens) and all(is_row(row) for row in rows if row)
    return tokens, tuple(row or None for row in rows) if good else None, [each.get("id") for each in entries]


def _spells(shown: dict[str, Any], text: str) -> bool:
    """Whether a text has the tokens that log-probabilities name: the letters of either come in the other, in
    their order. (Special tokens are no part of a text; llama.cpp leaves out tokens before a stop string.)
    """
    named = [str(each["token"]) for each in shown.get("content") or ()] or [str(x) for x in shown["tokens"]]
    both = ["".join(x for x in each if "!" <= x <= "~") for each in ("".join(named), text)]
    few, many = sorted(both, key=len)
    letters = iter(many)
    return "token_id:" in both[0] or all(each in letters for each in few)


def _ids(given: Sequence[Any]) -> tuple[int, ...] | None:
    """Ids of tokens; None if they cannot be."""
    return tuple(given) if all(type(each) is int and 0 <= each < 2**31 for each in given) else None


def _name(entry: Mapping[str, Any]) -> str:
    """A token of a list of log-probabilities, by its id if there is one: spellings may be ambiguous. One that
    looks special, or is spelled "" as special ones may be, keeps that look.
    """
    token, number = str(entry["token"]), entry.get("id")
    if type(number) is not int or SPECIAL.fullmatch(token):
        return token
    return f"token_id:{number}" if token else f"<{number}>"
