"""A second opinion on a server that shares no code with draftproof: teacher-forced counts, z by position.

Texts are drawn at temperature 1 from a prompt of token ids. At every position the model's own row after the
text so far, by transformers on the same weights, says how likely the likeliest token was; z compares how
often it came with that, over all texts: for a server that samples from the model it is standard normal.
"""

import json
from collections.abc import Sequence
from urllib.request import Request, urlopen

PROMPTS = ([11, 300, 42, 7], [500, 12, 90, 333])
LENGTH = 5


def drawn(url: str, prompt: Sequence[int], texts: int, together: int) -> list[list[int]]:
    """`texts` texts of LENGTH tokens, `together` in each request."""
    found: list[list[int]] = []
    for seed in range(texts // together):
        asked = {
            "model": "shipped",
            "prompt": list(prompt),
            "n": together,
            "max_tokens": LENGTH,
            "temperature": 1.0,
            "ignore_eos": True,
            "return_token_ids": True,
            "seed": 1_000 * seed,  # choice i of a request has the seed + i
        }
        headers = {"Content-Type": "application/json"}
        sent = Request(f"{url}/completions", json.dumps(asked).encode(), headers)
        with urlopen(sent, timeout=120) as answer:
            found += [each["token_ids"] for each in json.load(answer)["choices"]]
    return found


def z_values(folder: str, texts: dict[tuple[int, ...], list[list[int]]]) -> list[float]:
    """The z of each position, over the texts of all prompts."""
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    excess, variance = torch.zeros(LENGTH), torch.zeros(LENGTH)
    for prompt, few in texts.items():
        ids = torch.tensor([[*prompt, *each] for each in few])
        with torch.no_grad():
            rows = model(ids).logits[:, len(prompt) - 1 : -1].softmax(-1)
        likely, token = rows.max(-1)
        excess += ((ids[:, len(prompt) :] == token).float() - likely).sum(0)
        variance += (likely * (1 - likely)).sum(0)
    return (excess / variance.sqrt()).tolist()
