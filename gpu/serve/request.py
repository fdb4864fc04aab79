"""What a request asks for: prompts, sampling and the form of the answer, checked."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from draftproof.gpu.network.grammar import Grammar, texts
from draftproof.gpu.network.models import Model
from draftproof.gpu.sampling.processors import processors
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.sampling.schema import automaton
from draftproof.theory.errors import BadInput, quoted

MOST_CHOICES, MOST_LOGPROBS = 512, 1024


@dataclass(frozen=True)
class Request:
    """A checked request. `choices` texts are decoded for each of the `prompts` (token ids). `logprobs` is how
    many log-probabilities each position shows; None shows none.
    """

    prompts: list[list[int]]
    choices: int
    max_tokens: int
    sampling: Sampling
    stop: list[str]
    seed: int | None
    logprobs: int | None
    ignore_eos: bool
    as_ids: bool
    with_ids: bool


def parsed(given: Any, target: Model, chat: bool) -> Request:
    """The request in a JSON body, of `/v1/completions` or, if `chat`, of `/v1/chat/completions`. Raises
    BadInput, which names the key, for anything that cannot be served.
    """
    if not isinstance(given, dict):
        raise BadInput("the body is not a JSON object")
    if given.get("stream"):
        raise BadInput("stream: answers are not streamed here")
    if chat:
        shown = _number(given, "top_logprobs", 0, 0, MOST_LOGPROBS) if given.get("logprobs") else None
    else:
        shown = None if given.get("logprobs") is None else _number(given, "logprobs", 0, 0, MOST_LOGPROBS)
    stop = given.get("stop") or []
    stop = [stop] if isinstance(stop, str) else stop
    if not isinstance(stop, list) or not all(isinstance(each, str) and each for each in stop):
        raise BadInput("stop must be a string or a list of strings")
    length = "max_completion_tokens" if "max_completion_tokens" in given else "max_tokens"
    return Request(
        prompts=[_chat(given, target)] if chat else _prompts(given.get("prompt"), target),
        choices=_number(given, "n", 1, 1, MOST_CHOICES),
        max_tokens=_number(given, length, 16, 1, target.context),
        sampling=_sampling(given, target),
        stop=stop,
        seed=None if given.get("seed") is None else _number(given, "seed", 0, 0, 2**63 - 1),
        logprobs=shown,
        ignore_eos=bool(given.get("ignore_eos")),
        as_ids=bool(given.get("return_tokens_as_token_ids")),
        with_ids=bool(given.get("return_token_ids")),
    )


def _sampling(given: Mapping[str, Any], target: Model) -> Sampling:
    schema = _schema(given.get("response_format"))
    grammar = None
    if schema is not None:
        grammar = Grammar.of(automaton(schema)).over_tokens(texts(target), target.ends)
    try:
        biases = {int(token): float(bias) for token, bias in (given.get("logit_bias") or {}).items()}
    except (ValueError, TypeError, AttributeError):
        raise BadInput("logit_bias must be an object: token id -> number") from None
    return Sampling(
        temperature=_number(given, "temperature", 1.0, 0, float("inf")),
        top_k=max(0, _number(given, "top_k", 0, -1, 2**31)),
        top_p=_number(given, "top_p", 1.0, 0, 1),
        min_p=_number(given, "min_p", 0.0, 0, 1),
        processors=processors(
            repetition_penalty=_number(given, "repetition_penalty", 1.0, 0, float("inf")),
            presence_penalty=_number(given, "presence_penalty", 0.0, -1e6, 1e6),
            frequency_penalty=_number(given, "frequency_penalty", 0.0, -1e6, 1e6),
            logit_bias=biases,
            grammar=grammar,
        ),
    )


def _schema(form: Any) -> Any:
    if form is None or form == {"type": "text"}:
        return None
    try:
        return form["json_schema"]["schema"]
    except (KeyError, TypeError):
        raise BadInput("response_format must have a json_schema with a schema") from None


def _prompts(given: Any, target: Model) -> list[list[int]]:
    if isinstance(given, str):
        return [target.tokenizer.encode(given)]
    if isinstance(given, list) and given:
        if all(type(each) is int and 0 <= each < target.known for each in given):
            return [given]
        return [ids for each in given for ids in _prompts(each, target)]
    raise BadInput(
        f"prompt: {quoted(json.dumps(given)[:40])} is no text, no list of token ids, nor one of these"
    )


def _chat(given: Mapping[str, Any], target: Model) -> list[int]:
    messages = given.get("messages")
    try:
        said = [(str(each["role"]), str(each["content"])) for each in messages or ()]
    except (KeyError, TypeError):
        said = []
    if not said:
        raise BadInput("messages must be a list of objects with role and content")
    if getattr(target.tokenizer, "chat_template", None):
        return list(
            target.tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
        )
    return target.tokenizer.encode("".join(f"{role}: {content}\n" for role, content in said) + "assistant: ")


def _number(given: Mapping[str, Any], key: str, default: Any, low: float, high: float) -> Any:
    number = given.get(key)
    if number is None:
        return default
    whole = isinstance(default, int)
    if isinstance(number, bool) or not isinstance(number, int if whole else (int, float)):
        raise BadInput(f"{key} must be a {'whole ' * whole}number")
    if not low <= number <= high:
        raise BadInput(f"{key} must be from {low:g} to {high:g}, not {number:g}")
    return number
