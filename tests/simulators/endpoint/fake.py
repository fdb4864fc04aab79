"""A server in this process, whose law is a table, with faults to choose from."""

import json
from functools import cache

import httpx2 as httpx
import numpy as np

from draftproof.simulators.endpoint.client import Client
from draftproof.simulators.endpoint.laws import PLAIN, Setting

VOCAB = 12
NAMES = tuple("abcdefghijkl")


@cache
def row(last: int) -> np.ndarray:
    """The log-probabilities of the next token, which depend on the last one only."""
    logits = np.random.default_rng(last).normal(size=VOCAB) * 1.5
    return logits - np.log(np.exp(logits).sum())


def under(setting: dict, last: int, before: list[int], met: set[int] | None = None) -> np.ndarray:
    """The law of the next token under the parameters of a request, in the plainest way; `met` are the tokens
    that a repetition penalty is for.
    """
    logits = row(last).copy()
    logits[setting.get("banned", [])] = -np.inf
    for x in met or {}:
        penalty = setting.get("repetition_penalty", 1)
        logits[x] = min(logits[x] * penalty, logits[x] / penalty)
    for x in range(VOCAB):
        count = before.count(x)
        logits[x] -= setting.get("presence_penalty", 0) * (count > 0)
        logits[x] -= setting.get("frequency_penalty", 0) * count
    heat = setting.get("temperature", 1)
    if heat == 0:
        return (np.arange(VOCAB) == logits.argmax()).astype(float)
    p = np.exp(logits / heat - (logits / heat).max())
    p /= p.sum()
    order = np.argsort(-p, kind="stable")
    keep = np.ones(VOCAB, dtype=bool)
    if setting.get("top_k", -1) > 0:
        keep[order[setting["top_k"] :]] = False
    p = p * keep / (p * keep).sum()
    mass = np.cumsum(p[order])
    cut = int(np.searchsorted(mass, setting.get("top_p", 1) - 1e-12)) + 1
    keep[order[cut:]] = False
    keep &= p >= setting.get("min_p", 0) * p.max()
    return p * keep / (p * keep).sum()


class Fake:
    """Answers as an OpenAI-compatible server. `fault` is one of those named in `answer` and `draw`; `strict`
    servers refuse what OpenAI's API does not have; `bias` is the share of a mass that a lossy step moves.
    """

    def __init__(
        self, fault: str = "", seed: int = 0, strict: bool = False, bias: float = 0.05, shown: int = 80
    ):
        self.fault, self.strict, self.bias, self.shown = fault, strict, bias, shown
        self.rng = np.random.default_rng(seed)
        self.seen: list[dict] = []
        self.headers: list[str | None] = []

    def transport(self) -> httpx.MockTransport:
        """What a client is given in place of a network."""
        return httpx.MockTransport(self)

    def client(self, **options) -> Client:
        """A client of this server alone, that never waits."""
        options = {"concurrency": 1, "wait": lambda seconds: None, **options}
        return Client("http://fake", transport=self.transport(), **options)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.headers.append(request.headers.get("Authorization"))
        if request.url.path.endswith("/models"):
            return httpx.Response(200, json={"data": [{"id": "table"}]})
        body = json.loads(request.content)
        self.seen.append(body)
        unknown = set(body) - {
            "model",
            "prompt",
            "messages",
            "n",
            "max_tokens",
            "temperature",
            "top_p",
            "logprobs",
        }
        unknown -= {"top_logprobs", "stop", "presence_penalty", "frequency_penalty"}
        if (self.strict and unknown) or "response_format" in body or (body.get("logprobs") or 0) > self.shown:
            return httpx.Response(400, json={"error": {"message": "unknown parameter"}})
        return httpx.Response(200, json=self.answer(body))

    def answer(self, body: dict) -> dict:
        """The answer to a body."""
        if self.fault.startswith("ignores ") and body.get("temperature"):
            name = self.fault.removeprefix("ignores ")
            body = {**body, name: getattr(PLAIN, name)}
        if self.fault == "warm zero" and body.get("temperature") == 0:
            body = {**body, "temperature": 1}
        rng = np.random.default_rng(7) if self.fault == "repeats" else self.rng
        prompt = body["prompt"]
        several = isinstance(prompt, list) and isinstance(prompt[0], list)
        choices, read, made = [], 0, 0
        for each in prompt if several else [prompt]:
            ids = each if isinstance(each, list) else self.ids(each)
            count, length = body.get("n", 1), body.get("max_tokens", 16)
            texts = [self.draw(rng, body, ids, length) for _ in range(count)]
            if self.fault == "copies" and count > 1:
                texts = texts[:1] * count
            choices += [self.choice(body, ids, text) for text in texts]
            read, made = read + len(ids), made + sum(map(len, texts))
        choices = [{"index": n, **each} for n, each in enumerate(choices)]
        usage = {"prompt_tokens": read, "completion_tokens": made}
        return {"choices": choices[::-1], "usage": usage}  # the order is that of "index"

    def ids(self, prompt: str) -> list[int]:
        """The tokens of a prompt: its letters, and one token for all others."""
        ids = [NAMES.index(each) for each in prompt if each in NAMES]
        return [sum(map(ord, prompt)) % VOCAB, *ids] if len(ids) < len(prompt) else ids

    def draw(self, rng, body: dict, prompt: list[int], length: int) -> list[int]:
        """One text."""
        tokens: list[int] = []
        last = prompt[-1]
        while len(tokens) < length + (self.fault == "overruns" and length > 1):
            met = {*prompt, *tokens}
            if self.fault == "penalises drafts":  # also those that were rejected
                met |= {*np.argsort(-row(last))[:3].tolist()}
            law = under(body, last, tokens, met)
            if "greedy" in self.fault:
                law = (np.arange(VOCAB) == law.argmax()).astype(float)
            lossy = self.fault == "lossy" or (self.fault == "lossy alone" and body.get("n", 1) == 1)
            if lossy and len(tokens) % 3 == 1:  # in the middle of a block
                law = law.copy()
                law[law.argmax()] -= self.bias
                law += self.bias / VOCAB
                law = law.clip(0) / law.clip(0).sum()
            last = int(rng.choice(VOCAB, p=law))
            tokens.append(last)
            if any(stop in "".join(NAMES[x] for x in tokens) for stop in body.get("stop") or ()):
                break
        return tokens

    def choice(self, body: dict, ids: list[int], tokens: list[int]) -> dict:
        """One text as the API shows it."""
        spell = "token_id:{}".format if body.get("return_tokens_as_token_ids") else NAMES.__getitem__
        text, finish = "".join(NAMES[x] for x in tokens), "length"
        for stop in body.get("stop") or ():
            if stop in text and self.fault != "goes on":
                text, finish = text[: text.index(stop)], "stop"
        shown = None
        if body.get("logprobs"):
            rows = [row(last) for last in [ids[-1], *tokens][: len(tokens)]]
            if self.fault == "other rows" and len(tokens) > 1:
                rows = [rows[0], *(each * 1.2 - np.log(np.exp(each * 1.2).sum()) for each in rows[1:])]
            if self.fault == "rounds" and len(tokens) == 1:  # as bfloat16 does, now up and now down
                rows = [np.floor(each * 8 + self.rng.uniform(size=VOCAB)) / 8 - 0.1 for each in rows]
            top = [
                {spell(int(x)): float(each[x]) for x in np.argsort(-each)[: body["logprobs"]]}
                for each in rows
            ]
            top = [{**each, spell(x): float(lp[x])} for each, x, lp in zip(top, tokens, rows, strict=True)]
            shown = {"tokens": [spell(x) for x in tokens], "top_logprobs": top, "token_logprobs": []}
        if "no rows" in self.fault:
            shown = None
        if "spaces" in self.fault:  # some tokens are many
            text = text.replace("a", " " * 40).replace("b", "\n" * 40)
        known = {"token_ids": tokens, "prompt_token_ids": ids} if body.get("return_token_ids") else {}
        return {"text": text, "finish_reason": finish, "logprobs": shown, **known}


def exact(setting: Setting, last: int, before: list[int]) -> np.ndarray:
    """The law of a setting."""
    return under({**vars(PLAIN), **vars(setting)}, last, before)
