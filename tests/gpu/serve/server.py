"""A small OpenAI-compatible server of the speculative engine, with any verifier and any draft.

It understands what `draftproof endpoint` asks, but for JSON schemas, and decodes one request at a time.
"""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import SystemRandom
from threading import Lock, Thread
from typing import Any

import torch
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.output import Transcript
from draftproof.gpu.network.models import Model
from draftproof.gpu.network.reader import padded
from draftproof.gpu.network.session import Structure
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import Verifier
from draftproof.theory.errors import BadInput
from tests.gpu.parameters import processors

MOST_CHOICES = 512
SEEDS = SystemRandom()
"""Seeds of requests that bring none."""


@dataclass(frozen=True)
class Text:
    """One decoded text: `tokens` include the end token, `text` does not."""

    prompt: list[int]
    tokens: list[int]
    text: str
    finish: str


@dataclass(frozen=True)
class Server:
    """A target with its drafter, draft and verifier; plain decoding if `drafter` is None. `heat`, if given,
    is the drafter's temperature. All choices of a request are decoded as one batch.
    """

    target: Model
    drafter: Drafter | None
    verifier: Verifier
    structure: Structure
    heat: float | None = None

    def answer(self, body: Any, chat: bool) -> dict[str, Any]:
        """The JSON answer to the body of a request; BadInput if it cannot be served."""
        if not isinstance(body, dict):
            raise BadInput("the body is not a JSON object")
        for key in ("stream", "response_format"):
            if body.get(key):
                raise BadInput(f"{key} is not served here")
        given = [self._chat(body)] if chat else self._prompts(body.get("prompt"))
        texts = self._decoded(body, [each for each in given for _ in range(int(body.get("n") or 1))])
        shown = body.get("logprobs")
        if chat and shown:
            shown = body.get("top_logprobs", 0)
        rows = self._rows(texts) if shown is not None and shown is not False else [None] * len(texts)
        form = self._said if chat else self._completed
        made = sum(len(each.tokens) for each in texts)
        usage = {"prompt_tokens": sum(map(len, given)), "completion_tokens": made}
        return {
            "object": "chat.completion" if chat else "text_completion",
            "model": "shipped",
            "choices": [
                {"index": n, "finish_reason": text.finish} | form(text, row, body, int(shown or 0))
                for n, (text, row) in enumerate(zip(texts, rows, strict=True))
            ],
            "usage": usage | {"total_tokens": sum(usage.values())},
        }

    def _prompts(self, given: Any) -> list[list[int]]:
        if isinstance(given, str):
            return [self.target.tokenizer.encode(given)]
        if isinstance(given, list) and given:
            if all(type(each) is int and 0 <= each < self.target.known for each in given):
                return [given]
            return [ids for each in given for ids in self._prompts(each)]
        raise BadInput("prompt is no text, no list of token ids, nor a list of these")

    def _chat(self, body: Mapping[str, Any]) -> list[int]:
        said = "".join(f"{each['role']}: {each['content']}\n" for each in body["messages"])
        return self.target.tokenizer.encode(said + "assistant: ")

    def _decoded(self, body: Mapping[str, Any], prompts: list[list[int]]) -> list[Text]:
        if not 0 < len(prompts) <= MOST_CHOICES:
            raise BadInput(f"n must be from 1 to {MOST_CHOICES}")
        sampling = _sampling(body)
        stop = body.get("stop") or []
        stop = [stop] if isinstance(stop, str) else stop
        first = SEEDS.getrandbits(63) if body.get("seed") is None else body["seed"]
        length = body.get("max_completion_tokens") or body.get("max_tokens") or 16
        steps = generate(
            self.target,
            self.drafter,
            prompts,
            verifier=self.verifier,
            structure=self.structure if self.drafter else None,
            sampling=sampling,
            draft_sampling=sampling if self.heat is None else replace(sampling, temperature=self.heat),
            max_new_tokens=length,
            stop=stop,
            ignore_end=bool(body.get("ignore_eos")),
            seed=[first * MOST_CHOICES + row for row in range(len(prompts))],
        )
        made = Transcript(self.target.tokenizer.decode, [""] * len(prompts), stop)
        for step in steps:
            made.keep(step)
        whys = ["length" if why == "length" else "stop" for why in made.finished]
        texts = map(made.text, range(len(prompts)))
        return [Text(*each) for each in zip(prompts, made.ids, texts, whys, strict=True)]

    @torch.inference_mode()
    def _rows(self, texts: list[Text]) -> list[torch.Tensor]:
        """The target's log-probabilities [T, V] at the tokens of each text, from plain passes, no draft:
        before temperature, filters and penalties.
        """
        rows: list[torch.Tensor] = []
        for few in (texts[at : at + 64] for at in range(0, len(texts), 64)):
            ids = padded([[*each.prompt, *each.tokens] for each in few], self.target.device)
            logits = self.target.network(input_ids=ids, use_cache=False).logits
            for each, row in zip(few, logits[..., : self.target.vocab].float(), strict=True):
                start = len(each.prompt) - 1
                rows.append(torch.log_softmax(row[start : start + len(each.tokens)], -1))
        return rows

    def _completed(self, text: Text, rows: Any, body: Mapping[str, Any], shown: int) -> dict[str, Any]:
        odds = None
        if rows is not None:
            at = list(zip(text.tokens, rows, strict=True))
            top = [{**self._top(row, shown), token: float(row[token])} for token, row in at]
            odds = {
                "tokens": [self._spelled(token, body) for token in text.tokens],
                "token_logprobs": [float(row[token]) for token, row in at],
                "top_logprobs": [{self._spelled(x, body): each for x, each in row.items()} for row in top],
            }
        ids = {"token_ids": text.tokens, "prompt_token_ids": text.prompt}
        return {"text": text.text, "logprobs": odds} | (ids if body.get("return_token_ids") else {})

    def _said(self, text: Text, rows: Any, body: Mapping[str, Any], shown: int) -> dict[str, Any]:
        def entry(token: int, odds: float) -> dict[str, Any]:
            return {"token": self._spelled(token, body), "logprob": odds}

        odds = None
        if rows is not None:
            at = zip(text.tokens, rows, strict=True)
            tops = [[entry(*each) for each in self._top(row, shown).items()] for row in rows]
            every = [entry(token, float(row[token])) for token, row in at]
            odds = {"content": [{**each, "top_logprobs": top} for each, top in zip(every, tops, strict=True)]}
        return {"message": {"role": "assistant", "content": text.text}, "logprobs": odds}

    def _top(self, row: torch.Tensor, count: int) -> dict[int, float]:
        best = row.topk(min(count, self.target.known))
        return dict(zip(best.indices.tolist(), best.values.tolist(), strict=True))

    def _spelled(self, token: int, body: Mapping[str, Any]) -> str:
        as_id = body.get("return_tokens_as_token_ids")
        return f"token_id:{token}" if as_id else self.target.tokenizer.decode([token])


def _sampling(body: Mapping[str, Any]) -> Sampling:
    filters = {"temperature": 1.0, "top_p": 1.0, "min_p": 0.0}
    penalties = "repetition_penalty", "presence_penalty", "frequency_penalty"
    biases = {int(token): float(bias) for token, bias in (body.get("logit_bias") or {}).items()}
    return Sampling(
        top_k=max(0, body.get("top_k") or 0),
        processors=processors(
            logit_bias=biases, **{name: body[name] for name in penalties if body.get(name) is not None}
        ),
        **{name: body[name] if body.get(name) is not None else usual for name, usual in filters.items()},
    )


def app(server: Server) -> Starlette:
    """The application. A body that cannot be served gets status 400 and one line."""
    lock = Lock()

    def locked(body: Any, chat: bool) -> dict[str, Any]:
        with lock:
            return server.answer(body, chat)

    async def served(request: Request) -> JSONResponse:
        try:
            body = json.loads(await request.body())
            return JSONResponse(await run_in_threadpool(locked, body, "chat" in request.url.path))
        except (BadInput, ValueError) as error:
            return JSONResponse({"error": {"message": str(error)}}, status_code=400)

    async def models(request: Request) -> JSONResponse:
        return JSONResponse({"object": "list", "data": [{"id": "shipped", "object": "model"}]})

    asked = (Route(f"/v1/{path}", served, methods=["POST"]) for path in ("completions", "chat/completions"))
    return Starlette(routes=[*asked, Route("/v1/models", models)])


@contextmanager
def local(made: Server) -> Iterator[str]:
    """Serves from a thread of this process, at a free port of this machine: its URL."""
    server = uvicorn.Server(uvicorn.Config(app(made), port=0, log_level="error"))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
