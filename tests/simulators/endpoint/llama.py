"""A server in this process with the habits of llama.cpp's: what it does otherwise than vLLM."""

import json

import httpx2 as httpx
import numpy as np

from tests.simulators.endpoint.fake import NAMES, Fake, row

END = 11
"""The end token. It is spelled "", its share is in the rows, and it cannot come out under `ignore_eos`."""
PART = 3


class Llama(Fake):
    """`drafts`: tokens of a draft; those that are accepted have no rows. `parts`: the token `PART` is a part
    of a character, so that it is left out of what is listed, and the next one is spelled with it.
    """

    SLOTS = 4
    parts = False

    def __init__(self, fault: str = "", seed: int = 0, drafts: int = 0, bias: float = 0.05):
        super().__init__(fault, seed, bias=bias)
        self.drafts = drafts

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/models":
            return super().__call__(request)
        body = json.loads(request.content)
        if request.url.path == "/tokenize":
            return httpx.Response(200, json={"tokens": self.ids(body["content"])})
        self.seen.append(body)
        if not 1 <= body["n"] <= self.SLOTS:
            said = f"Field 'n': Value must be between 1 <= value <= {self.SLOTS}, but got {body['n']}"
            return httpx.Response(400, json={"error": {"code": 400, "message": said}})
        if request.url.path == "/v1/chat/completions":  # schemas are kept there, and ignored elsewhere
            choice = {"message": {"content": "{  }"}, "finish_reason": "stop"}
            return httpx.Response(200, json={"choices": [choice] * body["n"]})
        found = self.answer({**body, "banned": [END] * bool(body.get("ignore_eos"))})
        found["usage"]["completion_tokens"] = body["max_tokens"]  # of one choice, however many there are
        return httpx.Response(200, json=found)

    def draw(self, rng, body: dict, prompt: list[int], length: int) -> list[int]:
        """One text; penalties are also for the tokens of the prompt."""
        tokens = super().draw(rng, body, prompt, length)
        return tokens[: tokens.index(END)] if END in tokens else tokens

    def choice(self, body: dict, ids: list[int], tokens: list[int]) -> dict:
        """One text, with ids in its log-probabilities."""
        plain = {name: body[name] for name in ("stop",) if name in body}
        text = super().choice(plain, ids, tokens)
        finish = text["finish_reason"] if len(tokens) == body["max_tokens"] else "stop"
        if not body.get("logprobs"):
            return {**text, "finish_reason": finish}
        entries: list[dict] = []
        for t, token in enumerate(tokens):
            if self.parts and token == PART:
                continue
            at = row([ids[-1], *tokens][t])
            best = np.argsort(-at)[: body["logprobs"]]
            shown = not self.drafts or t % (self.drafts + 1) == 0
            top = [self.entry(int(x), float(at[x])) for x in best] if shown else []
            entry = self.entry(token, float(at[token]) if shown else 0.0)
            if self.parts and t and tokens[t - 1] == PART:
                entry["token"] = "\N{LATIN SMALL LETTER E WITH ACUTE}" + entry["token"]
            entries.append({**entry, "top_logprobs": top})
        return {**text, "finish_reason": finish, "logprobs": {"content": entries}}

    def entry(self, token: int, value: float) -> dict:
        """A token with its log-probability."""
        hidden = token == END or (self.parts and token == PART)
        return {"id": token, "token": "" if hidden else NAMES[token], "bytes": [], "logprob": value}
