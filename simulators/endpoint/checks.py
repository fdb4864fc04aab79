"""Checks of single settings: those with a law of their own by bets, the others without chance."""

import json
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from math import inf, log
from typing import Any, TypeAlias

import jsonschema
import numpy as np

from draftproof.simulators.endpoint.betting import FEW, Bets, Context
from draftproof.simulators.endpoint.client import Refused, Spent
from draftproof.simulators.endpoint.laws import PLAIN, Setting, apart, normalised, ratio
from draftproof.simulators.endpoint.report import VERDICTS, Result
from draftproof.simulators.endpoint.server import Place, Row, Sample, Server
from draftproof.simulators.support.anytime import Wealth
from draftproof.theory.errors import BadInput

SETTINGS = {
    "temperature": Setting(temperature=0.6),
    "top_p": Setting(top_p=0.6),
    "top_k": Setting(top_k=4),
    "min_p": Setting(min_p=0.2),
    "presence_penalty": Setting(presence_penalty=2.0),
    "frequency_penalty": Setting(frequency_penalty=2.0),
    "repetition_penalty": Setting(repetition_penalty=2.0),
}
"""What is asked for in turn; each test is named after what it asks for."""

MARGIN = 0.5
"""At temperature 0 a token that is so much less likely than the best one, in nats, is wrong."""

TOLERANCE = 0.02
"""Total variation of two rows of log-probabilities of the same text that rounding explains."""

LEAST = 1e-300
"""Stands for a probability that is too small for a float."""

AGAIN = 8
"""Rows that are asked for again, alone, before they are said to be wrong."""

SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}, "n": {"enum": [1, 2]}}}
_FORM = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True}}
_SCHEMA_TOKENS = 48

Found: TypeAlias = tuple[str, str, int]
"""What a check without chance found: the verdict, its meaning, and how many tokens or texts were judged."""

NOT_FORCED: Found = "not judged", "later tokens cannot be given back to this server (teacher forcing)", 0


def of_setting(
    name: str, server: Server, prompts: Sequence[str], tokens: int, length: int, error: float
) -> Result:
    """Draws texts with one of `SETTINGS`, and bets against the law that plain rows and the setting give.

    One bet is that the setting is ignored, another on any other law. The rows come from teacher forcing:
    requests at temperature 1, without filters and penalties. Before it rejects, they are asked for again.
    """
    setting = SETTINGS[name]
    texts = max(1, tokens // (length * len(prompts)))
    places = [
        (n, Place(prompt, each, t))
        for n, prompt in enumerate(prompts)
        for each in server.ask(prompt, setting, count=texts, length=length)
        for t in range(len(each.tokens))
    ]
    rows = server.rows([place for _, place in places])
    bets, ignored = _bets(server, setting, places, rows, error / 2)
    if not bets.runs:
        return Result(name, *(("not judged", "rows leave open what it does", 0) if any(rows) else NOT_FORCED))
    if bets.rejected or ignored.rejected:
        again = server.again([place for _, place in places])
        bets, ignored = _bets(server, setting, places, again, error / 2)
    rejected = bets.rejected or ignored.rejected
    said = f"{name} does not act on the law as it should" if rejected else ""
    said += ": it is as if it had not been asked for" if ignored.rejected else ""
    witness = "a token came out that the setting forbids" if bets.most == inf else None
    log_e = max(bets.most, ignored.most) - log(2)
    return Result(name, VERDICTS[rejected], said, bets.runs, error, log_e, witness=witness)


def _bets(
    server: Server,
    setting: Setting,
    places: Sequence[tuple[int, Place]],
    rows: Sequence[Row | None],
    error: float,
) -> tuple[Bets, Wealth]:
    """The bets on the tokens at these places, on any other law and on the plain one."""
    bets, ignored = Bets(error, FEW), Wealth(error)
    for (n, each), found in zip(places, rows, strict=True):
        if found is None:
            continue
        token, own = each.sample.tokens[each.at], server.law(found, setting, each.before, each)
        place = own.place(token)
        if place is not None:
            bets.update(Context(n, each.before, ()), own, place)
        if place is not None and place >= 0 and not own.rest:
            plain = normalised(np.array([found[each] for each in own.tokens]))
            ignored.bet(log(max(plain[place], LEAST) / own.upper[place]))
    return bets, ignored


def log_probabilities(server: Server, prompts: Sequence[str], samples: Sequence[Sequence[Sample]]) -> Found:
    """Are the rows that come with a speculated text those of plain requests (teacher forcing)? Where they are
    not, plain requests are sent again, alone: their own rounding may depend on what is decoded beside them.
    How much the rows differ is kept in mind for the filters.
    """
    some = [
        (Place(prompt, each, t), row)
        for prompt, few in zip(prompts, samples, strict=True)
        for each in few[:4]
        for t, row in enumerate(each.rows or ())
        if row
    ]
    plain = server.rows([place for place, _ in some])
    both = [(place, row, forced) for (place, row), forced in zip(some, plain, strict=True) if forced]
    laws = [(server.law(row), server.law(forced)) for _, row, forced in both]
    gaps = [apart(*each) for each in laws]
    server.close = max(server.close, *(2 * ratio(*each) for each in laws), 0.0)
    worst, noise = max(gaps, default=0.0), 0.0
    for n in np.argsort(gaps)[::-1][:AGAIN] if worst > TOLERANCE else ():
        place, _, forced = both[n]
        [again] = server.again([place])
        noise = max(noise, apart(server.law(forced), server.law(again)) if again else 0.0)
    if worst > TOLERANCE + 2 * noise:
        said = f"of a speculated text are off those of plain requests, by a total variation of {worst:.2g}"
        return VERDICTS[True], f"those {said}", len(gaps)
    among = f", {noise:.1g} among plain requests themselves" if noise else ""
    said = f"largest total variation {worst:.1g}{among}"
    return (VERDICTS[False], said, len(gaps)) if gaps else NOT_FORCED


def temperature_0(server: Server, prompts: Sequence[str]) -> Found:
    """At temperature 0 every token is a likeliest one."""
    judged, wrong = 0, 0
    for prompt in prompts:
        [sample] = server.ask(prompt, replace(PLAIN, temperature=0.0), length=16)
        places = [Place(prompt, sample, t) for t in range(len(sample.tokens))]
        told, below = _below(sample, server.rows(places))
        judged, wrong = judged + told, wrong + (below and _below(sample, server.again(places))[1])
    return _found(wrong, f"{wrong} tokens are not the likeliest ones", judged) if judged else NOT_FORCED


def _below(sample: Sample, rows: Sequence[Row | None]) -> tuple[int, int]:
    """How many tokens have a row, and how many are far below its likeliest one."""
    both = [(x, row) for x, row in zip(sample.tokens, rows, strict=True) if row is not None]
    return len(both), sum(row.get(x, -inf) < max(row.values()) - MARGIN for x, row in both)


def stop(server: Server, prompts: Sequence[str]) -> Found:
    """A text ends before a stop string, also where that is in the middle of an accepted block."""
    texts = [each.text for each in server.asked(prompts, count=8, length=12)]
    counts = {
        x: sum(x in text for text in texts) for x in {*"".join(texts)} if x != "\N{REPLACEMENT CHARACTER}"
    }
    if not counts:
        return "not judged", "the texts are empty", 0
    string = max(sorted(counts), key=counts.__getitem__)
    found = server.asked(prompts, count=8, length=12, stop=[string])
    over = [each.text for each in found if string in each.text]
    if not over and not any(each.finish == "stop" for each in found):
        return "not judged", "no text met the stop string", 0
    how = "end with" if all(text.endswith(string) for text in over) else "go on after"
    return _found(len(over), f"{len(over)} texts {how} a stop string, which is no part of a text", len(found))


def max_tokens(server: Server, prompts: Sequence[str]) -> Found:
    """No text is longer than asked for, although blocks of several tokens are accepted."""
    found = [
        len(each.tokens) > length
        for length in (1, 2, 3, 5)
        for each in server.asked(prompts, count=4, length=length)
        if each.rows is not None
    ]
    if not found:
        return "not judged", "the server does not say what a text's tokens are", 0
    return _found(sum(found), f"{sum(found)} texts are longer than max_tokens", len(found))


def json_schema(server: Server, prompts: Sequence[str]) -> Found:
    """Finished texts under a JSON schema keep it. They are asked for by chat: OpenAI's completions have no
    schemas, and some servers ignore them there.
    """
    talk = copy(server)
    talk.chat, talk.listed = True, None
    form = {"response_format": _FORM, "ignore_eos": False}
    try:
        found = talk.asked(prompts, count=4, length=_SCHEMA_TOKENS, **form)
    except BadInput as error:
        raise Refused(f": {error}") from None
    done = [each.text for each in found if each.finish == "stop" and each.text]
    if not done:
        return "not judged", "no text was finished", 0
    wrong = sum(not _keeps(text) for text in done)
    return _found(wrong, f"{wrong} finished texts do not keep the schema", len(done))


CHECKS: dict[str, Callable[[Server, Sequence[str]], Found]] = {
    "temperature 0": temperature_0,
    "stop": stop,
    "max_tokens": max_tokens,
    "json_schema": json_schema,
}


def checked(name: str, check: Callable[..., Result | Found], *given: Any) -> Result:
    """The result of a check; it is not judged if the server refuses it, or if tokens run out."""
    try:
        found = check(*given)
    except Refused as refusal:
        found = "skipped", f"the server refuses it{refusal}", 0
    except Spent:
        found = "not judged", "its tokens or the time are spent", 0
    return found if isinstance(found, Result) else Result(name, *found)


def _found(wrong: int, said: str, runs: int) -> Found:
    return VERDICTS[wrong > 0], said if wrong else "", runs


def _keeps(text: str) -> bool:
    """Whether a text is JSON that keeps `SCHEMA`, which is what was sent to the server."""
    try:
        jsonschema.validate(json.loads(text), SCHEMA)
    except (ValueError, RecursionError, jsonschema.ValidationError):
        return False
    return True
