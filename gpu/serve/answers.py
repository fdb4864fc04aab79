"""From a request to its answer: one run of the engine, and plain passes for log-probabilities."""

import time
from dataclasses import dataclass, field, replace
from itertools import repeat
from random import Random, SystemRandom
from typing import Any

import torch
from torch import Tensor

from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.engine.loop import generate, misfit
from draftproof.gpu.engine.transcript import Transcript
from draftproof.gpu.network.models import Model
from draftproof.gpu.network.passes import padded
from draftproof.gpu.network.session import Structure
from draftproof.gpu.serve.request import Request, parsed
from draftproof.gpu.verify import Verifier
from draftproof.theory.errors import BadInput

MOST = 2**20
"""More than a request has rows: the seeds of two requests never meet."""


@dataclass(frozen=True)
class Text:
    """One decoded text: `tokens` include the end token, `text` does not."""

    prompt: list[int]
    tokens: list[int]
    text: str
    finish: str


@dataclass
class Engine:
    """A target with its drafter, draft and verifier; plain decoding if `drafter` is None. Raises BadInput if
    they do not fit each other.

    `name` is what the model is called; `temperature`, if given, is the drafter's. All choices of a request
    are decoded as one batch. `random` seeds requests that bring no seed.
    """

    name: str
    target: Model
    drafter: Drafter | None
    verifier: Verifier
    structure: Structure
    temperature: float | None = None
    random: Random = field(default_factory=SystemRandom)

    def __post_init__(self) -> None:
        drafter = self.drafter
        if drafter is not None and (why := misfit(self.verifier, self.structure, drafter, self.target)):
            raise BadInput(why)

    def answer(self, body: Any, chat: bool) -> dict[str, Any]:
        """The JSON answer to a body; BadInput if it cannot be served."""
        request = parsed(body, self.target, chat)
        texts = self.decode(request)
        rows = repeat(None) if request.logprobs is None else self._rows(texts)
        form = self._chat if chat else self._completion
        choices = [
            form(n, text, row, request) for n, (text, row) in enumerate(zip(texts, rows, strict=False))
        ]
        read, made = sum(map(len, request.prompts)), sum(len(each.tokens) for each in texts)
        return {
            "id": f"cmpl-{time.time_ns():x}",
            "object": "chat.completion" if chat else "text_completion",
            "created": int(time.time()),
            "model": self.name,
            "choices": choices,
            "usage": {"prompt_tokens": read, "completion_tokens": made, "total_tokens": read + made},
        }

    def decode(self, request: Request) -> list[Text]:
        """The texts that a request asks for, prompt by prompt."""
        prompts = [prompt for prompt in request.prompts for _ in range(request.choices)]
        count = len(prompts)
        first = self.random.getrandbits(63) if request.seed is None else request.seed
        drafts = request.sampling
        if self.temperature is not None:
            drafts = replace(drafts, temperature=self.temperature)
        steps = generate(
            self.target,
            self.drafter,
            prompts,
            verifier=self.verifier,
            structure=self.structure if self.drafter else None,
            sampling=request.sampling,
            draft_sampling=drafts,
            max_new_tokens=request.max_tokens,
            stop=request.stop,
            ignore_end=request.ignore_eos,
            seed=[first * MOST + row for row in range(count)],
            keep_rows=False,
        )
        made = Transcript(self.target.tokenizer.decode, [""] * count, request.stop)
        for step in steps:
            made.keep(step)
        whys = ["length" if why == "length" else "stop" for why in made.finished]
        texts = map(made.text, range(count))
        return [Text(*each) for each in zip(prompts, made.ids, texts, whys, strict=True)]

    @torch.inference_mode()
    def _rows(self, texts: list[Text]) -> list[Tensor]:
        """The target's log-probabilities [T, V] at the tokens of each text, from plain passes without a
        draft: before temperature, filters and penalties.
        """
        rows: list[Tensor] = []
        for few in (texts[at : at + 64] for at in range(0, len(texts), 64)):
            ids = padded([[*each.prompt, *each.tokens] for each in few], self.target.device)
            logits = self.target.network(input_ids=ids, use_cache=False).logits
            for each, row in zip(few, logits[..., : self.target.vocab].float(), strict=True):
                start = len(each.prompt) - 1
                rows.append(torch.log_softmax(row[start : start + len(each.tokens)], -1))
        return rows

    def _completion(self, index: int, text: Text, rows: Tensor | None, request: Request) -> dict[str, Any]:
        shown = None
        if rows is not None:
            at = list(zip(text.tokens, rows, strict=True))
            shown = {
                "tokens": [self._spell(token, request) for token in text.tokens],
                "token_logprobs": [float(row[token]) for token, row in at],
                "top_logprobs": [
                    {self._spell(x, request): value for x, value in self._top(token, row, request)}
                    for token, row in at
                ],
                "text_offset": [],
            }
        ids = {"token_ids": text.tokens, "prompt_token_ids": text.prompt} if request.with_ids else {}
        return {"index": index, "text": text.text, "finish_reason": text.finish, "logprobs": shown, **ids}

    def _chat(self, index: int, text: Text, rows: Tensor | None, request: Request) -> dict[str, Any]:
        shown = None
        if rows is not None:

            def entry(token: int, value: float) -> dict[str, Any]:
                spelled = self._spell(token, request)
                return {"token": spelled, "logprob": value, "bytes": list(spelled.encode())}

            shown = {
                "content": [
                    {
                        **entry(token, float(row[token])),
                        "top_logprobs": [entry(x, value) for x, value in self._top(None, row, request)],
                    }
                    for token, row in zip(text.tokens, rows, strict=True)
                ]
            }
        message = {"role": "assistant", "content": text.text}
        return {"index": index, "message": message, "finish_reason": text.finish, "logprobs": shown}

    def _top(self, token: int | None, row: Tensor, request: Request) -> list[tuple[int, float]]:
        """The likeliest tokens of a row, and the emitted one."""
        best = row.topk(min(request.logprobs or 0, self.target.known))
        found = dict(zip(best.indices.tolist(), best.values.tolist(), strict=True))
        if token is not None:
            found[token] = float(row[token])
        return list(found.items())

    def _spell(self, token: int, request: Request) -> str:
        return f"token_id:{token}" if request.as_ids else self.target.tokenizer.decode([token])
