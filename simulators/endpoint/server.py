"""A server as the tests see it: texts for a prompt, with rows of log-probabilities where it has them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from draftproof.simulators.endpoint.client import Client, Refused, Unanswered
from draftproof.simulators.endpoint.laws import PLAIN, Law, Setting, law
from draftproof.theory.errors import BadInput

NEUTRAL = {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
"""Else some servers take a model's own generation settings, or filters of their own."""

EXTENSIONS = {"ignore_eos": True, "return_token_ids": True, "return_tokens_as_token_ids": True, **NEUTRAL}
"""vLLM's: end tokens do not end a text; ids of all tokens; unambiguous spellings in log-probabilities."""

LISTED = 80, 20, 5
"""Numbers of log-probabilities that are asked for, until the server grants one."""

PIECES = re.compile(r"\s?\w+|\s|.", re.DOTALL)


@dataclass(frozen=True)
class Sample:
    """One generated text: its `tokens` as the server spells them (or pieces of the text if it does not), the
    `rows` of log-probabilities that they were drawn from, and ids where the server tells them.
    """

    text: str
    finish: str
    tokens: tuple[str, ...]
    rows: tuple[Mapping[str, float], ...] | None
    ids: tuple[int, ...] | None = None
    prompt_ids: tuple[int, ...] | None = None

    def in_pieces(self) -> "Sample":
        """The same with pieces of the text for tokens."""
        return Sample(self.text, self.finish, tuple(PIECES.findall(self.text)), None)


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
        prompt: str | list[int],
        setting: Setting = PLAIN,
        *,
        count: int = 1,
        length: int = 1,
        **more: Any,
    ) -> list[Sample]:
        """`count` texts of `length` tokens; more parameters as OpenAI's API names them."""
        answer = self.client.post(*self._request(prompt, count, length, {**setting.body, **more}))
        try:
            found = [self._sample(choice) for choice in answer["choices"]]
            usage = answer.get("usage") or {}
            made, read = usage.get("completion_tokens"), usage.get("prompt_tokens")
        except (KeyError, TypeError, AttributeError, ValueError, IndexError):
            raise Unanswered(
                f"{self.client.name}: an answer without choices as OpenAI's API has them"
            ) from None
        self.tokens += made if isinstance(made, int) else sum(len(each.tokens) for each in found)
        self.prompt_tokens += read if isinstance(read, int) else 0
        return found

    def row(self, prompt: str, sample: Sample, at: int) -> Mapping[str, float] | None:
        """The row after the prompt and the first `at` tokens of its text, by a new request for one token.
        None if these tokens cannot be given back to the server.
        """
        if self.chat:
            return None
        ahead: str | list[int] = prompt + "".join(sample.tokens[:at])
        if sample.ids is not None and sample.prompt_ids is not None:
            ahead = [*sample.prompt_ids, *sample.ids[:at]]
        elif "token_id:" in "".join(sample.tokens):
            return None
        before = self.prompt_tokens
        answers = self.ask(ahead)
        if isinstance(ahead, str) and at:
            alone = self.prompt_tokens - before
            before = self.prompt_tokens
            self.ask(prompt)
            if alone != self.prompt_tokens - before + at:
                return None  # the text is tokenised in another way
        return answers[0].rows[0] if answers and answers[0].rows else None

    def law(self, row: Mapping[str, float], setting: Setting = PLAIN, before: Sequence[str] = ()) -> Law:
        """The law that a row of this server means (`laws.law`)."""
        return law(row, setting, before, self.listed or 1, "return_token_ids" in self.extensions)

    def _only_model(self) -> str:
        listed = self.client.get("/models").get("data")
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
                except IndexError:
                    raise BadInput(f"{self.client.name}: an answer without choices") from None
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

    def _sample(self, choice: dict[str, Any]) -> Sample:
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
        if rows is not None and (len(rows) != len(tokens) or not all(rows)):
            rows = None
        ids, prompt_ids = choice.get("token_ids"), choice.get("prompt_token_ids")
        return Sample(
            text,
            str(choice.get("finish_reason")),
            tokens,
            rows,
            tuple(ids) if ids and len(ids) == len(tokens) else None,
            tuple(prompt_ids) if prompt_ids else None,
        )
