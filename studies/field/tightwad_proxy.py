"""tightwad 0.5.4: rounds of its proxy at temperature 1; a server lists the likeliest token beside its own."""

import math
from types import SimpleNamespace

import torch
from clones import importable

parts = ("applications", "middleware", "requests", "responses", "routing", "types")
importable("tightwad", absent=("httpx", "yaml", "starlette", *(f"starlette.{part}" for part in parts)))
from tightwad.proxy import SpeculativeProxy
from tightwad.speculation import DraftToken


class Server:
    """The target's server, as llama.cpp answers `logprobs: true`."""

    def __init__(self, model, text):
        self.model, self.text = model, text

    async def post(self, url, json):
        content, text = [], [*self.text]
        for _ in range(json["max_tokens"]):
            row = self.model.row(text).softmax(-1)
            token, best = int(torch.multinomial(row, 1)), int(row.argmax())
            top = {"id": best, "logprob": math.log(row[best])}
            content.append({"id": token, "logprob": math.log(row[token]), "top_logprobs": [top]})
            text.append(token)
        answer = {"choices": [{"logprobs": {"content": content}}]}
        return SimpleNamespace(raise_for_status=lambda: None, json=lambda: answer)


def generate(target, draft, prompt, length, gamma):
    text = []
    while len(text) < length:
        drafts = []
        for _ in range(gamma):
            row = draft.row([*text, *(each.token_id for each in drafts)]).softmax(-1)
            token = int(torch.multinomial(row, 1))
            drafts.append(DraftToken(token, math.log(row[token])))
        proxy = SimpleNamespace(target_client=Server(target, text))
        found = finished(SpeculativeProxy.verify_with_logprobs(proxy, "", drafts, 1.0))
        last = found.resample_token or found.bonus_token
        text += [each.token_id for each in (*found.accepted_tokens, *([last] if last else []))]
    return text


def finished(coroutine):
    """The result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
