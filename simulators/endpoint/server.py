"""A server as the tests see it: texts for a prompt, with rows of log-probabilities where it has them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from draftproof.simulators.endpoint.client import Client, Refused, Unanswered
from draftproof.simulators.endpoint.laws import PLAIN, Law, Setting, is_row, law
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


@dataclass(frozen=True)
class Sample:
    """One generated text: its `tokens` as the server spells them (or pieces of the text if it does not), the
    `rows` of log-probabilities that they were drawn from, and ids where the server tells them. `read`: the
    number of tokens of the request's prompt.
    """

    text: str
    finish: str
    tokens: tuple[str, ...]
    rows: tuple[Mapping[str, float], ...] | None
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

    def met(self, token: str) -> bool:
        """Whether a token may be in the prompt or among those given back."""
        spelled = "".join(self.before)
        if not token.startswith("token_id:"):
            return token in self.prompt + spelled
        ids = self.sample.prompt_ids
        return ids is None or int(token[9:]) in ids or token in self.before


class Server:
    """A model of a server, asked by completions or by chat. Counts the `tokens` that it generated and the
    `prompt_tokens` that it read. `listed` is the number of log-probabilities of a row; None if it has none.
    """

    def __init__(self, client: Client, model: str | None = None, chat: bool = False, name: str = "tested"):
        self.client, self.chat, self.name = client, chat, name
        self.tokens = self.prompt_tokens = 0
        self.listed: int | None = None
        self.extensions: dict[str, Any] = dict(EXTENSIONS)
        self.model = model or self._only_model()
        self._negotiate()

    def ask(
        self,
        prompt: str | list[int] | list[list[int]],
        setting: Setting = PLAIN,
        *,
        count: int = 1,
        length: int = 1,
        **more: Any,
    ) -> list[Sample]:
        """`count` texts of `length` tokens for each prompt; more parameters as OpenAI's API names them. A
        server that gives fewer texts for a prompt than it is asked for is asked again.
        """
        found: list[Sample] = []
        while len(found) < count:
            found += self._texts(*self._request(prompt, count - len(found), length, {**setting.body, **more}))
        return found

    def asked(self, prompts: Sequence[str], **more: Any) -> list[Sample]:
        """The texts for each of several prompts, as `ask` gives them."""
        return [each for prompt in prompts for each in self.ask(prompt, **more)]

    def _texts(self, path: str, body: dict[str, Any]) -> list[Sample]:
        """The texts of one answer; there is at least one."""
        answer = self.client.send(path, body)
        try:
            usage = answer.get("usage") or {}
            made, read = usage.get("completion_tokens"), usage.get("prompt_tokens")
            read = read if isinstance(read, int) else 0
            choices = sorted(answer["choices"], key=lambda choice: choice.get("index") or 0)
            found = [self._sample(choice, read) for choice in choices]
            if not found:
                raise IndexError
        except (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError):
            raise Unanswered(
                f"{self.client.name}: an answer without choices as OpenAI's API has them"
            ) from None
        self.tokens += made if isinstance(made, int) else sum(len(each.tokens) for each in found)
        self.prompt_tokens += read
        return found

    def rows(self, places: Sequence[Place]) -> list[Mapping[str, float] | None]:
        """The rows at these places, by new requests for one token (teacher forcing). None where the tokens
        cannot be given back to the server.
        """
        if self.chat:
            return [None] * len(places)
        ids = [
            [*each.sample.prompt_ids, *each.sample.ids[: each.at]]
            for each in places
            if each.sample.ids is not None and each.sample.prompt_ids is not None
        ]
        if len(ids) < len(places):
            return list(self.client.map(self._row, places))
        few = [ids[at : at + TOGETHER] for at in range(0, len(ids), TOGETHER)]
        return [
            each.rows[0] if each.rows else None
            for found in self.client.map(self._each, few)
            for each in found
        ]

    def _each(self, prompts: list[list[int]]) -> list[Sample]:
        """One token after each of the prompts, by one request if the server takes several prompts."""
        try:
            found = self.ask(prompts)
        except Refused:
            found = []
        return found if len(found) == len(prompts) else [self.ask(each)[0] for each in prompts]

    def _row(self, place: Place) -> Mapping[str, float] | None:
        """The row at a place after its text, if the server reads as many tokens in it as it wrote."""
        if any(each.startswith("token_id:") for each in place.before):
            return None
        [found] = self.ask(place.prompt + "".join(place.before))
        return found.rows[0] if found.rows and found.read == place.sample.read + place.at else None

    def law(
        self,
        row: Mapping[str, float],
        setting: Setting = PLAIN,
        before: Sequence[str] = (),
        met: Callable[[str], bool] | None = None,
    ) -> Law:
        """The law that a row of this server means (`laws.law`)."""
        return law(row, setting, before, self.listed or 1, "return_token_ids" in self.extensions, met)

    def _only_model(self) -> str:
        try:
            listed = self.client.send("/models").get("data")
        except Unanswered as fault:
            raise BadInput(f"{fault}; if the server has no such list, give --model") from None
        try:
            return str(listed[0]["id"])  # type: ignore[index]
        except (KeyError, TypeError, IndexError):
            raise BadInput(f"{self.client.name}/models lists no model: give --model") from None

    def _negotiate(self) -> None:
        """Finds which extensions and how many log-probabilities the server grants."""
        said = Refused("")
        for extensions in (self.extensions, {"ignore_eos": True, **NEUTRAL}, NEUTRAL, {}):
            for listed in (*LISTED, None):
                self.extensions, self.listed = extensions, listed
                try:
                    sample = self.ask("The", count=1, length=1)[0]
                except Refused as error:
                    said = error
                    continue
                if not sample.rows:
                    self.listed = None
                if "return_token_ids" in extensions and sample.prompt_ids is None:
                    break  # without ids of the prompt, tokens are given back as text
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

    def _sample(self, choice: dict[str, Any], read: int) -> Sample:
        text = str((choice.get("message") or {}).get("content") or "") if self.chat else str(choice["text"])
        shown = choice.get("logprobs") or {}
        tokens: tuple[str, ...] = tuple(PIECES.findall(text))
        rows: tuple[Mapping[str, float], ...] | None = None
        if shown.get("content"):
            entries = shown["content"]
            tokens = tuple(str(each["token"]) for each in entries)
            rows = tuple({x["token"]: float(x["logprob"]) for x in each["top_logprobs"]} for each in entries)
        elif shown.get("top_logprobs"):
            tokens = tuple(map(str, shown["tokens"]))
            rows = tuple({x: float(value) for x, value in row.items()} for row in shown["top_logprobs"])
        if rows is not None and (len(rows) != len(tokens) or not all(map(is_row, rows))):
            rows = None
        ids, prompt_ids = choice.get("token_ids"), choice.get("prompt_token_ids")
        return Sample(
            text,
            str(choice.get("finish_reason")),
            tokens,
            rows,
            tuple(ids) if ids and len(ids) == len(tokens) else None,
            tuple(prompt_ids) if prompt_ids else None,
            read,
        )
