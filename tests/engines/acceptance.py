"""python -m tests.engines.acceptance vllm --environment DIR: `endpoint --acceptance` of a real server.

Texts are drawn with the drafter of the shipped pair. They are judged by its rows in four ways, of which one
is the server's: greedy drafts, sampled ones, and ones from the 10 likeliest tokens.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.request import Request, urlopen

import click

from tests.engines import llama_cpp, vllm
from tests.engines.engine import Engine, Setting, serving
from tests.engines.independent import PROMPTS

TOKENS, TEXTS = 64, 60  # of each prompt
DRAFTS = "draft_temperature = 0", "draft_temperature = 0.7", "", "draft_top_k = 10"


def of_vllm(url: str, prompt: list[int], seed: int) -> dict:
    """A response of vLLM, sampled at T = 1."""
    asked = {
        "model": "shipped",
        "prompt": prompt,
        "max_tokens": TOKENS,
        "return_token_ids": True,
        "seed": seed,
    }
    return sent(f"{url}/completions", asked | {"ignore_eos": True, "temperature": 1.0})


def of_llama(url: str, prompt: list[int], seed: int) -> dict:
    """A response of llama.cpp, sampled at T = 1."""
    asked = {"prompt": prompt, "n_predict": TOKENS, "return_tokens": True, "seed": seed, "temperature": 1.0}
    plain = {"samplers": ["temperature"], "ignore_eos": True, "cache_prompt": False}
    return sent(f"{url.removesuffix('/v1')}/completion", asked | plain)


def sent(url: str, asked: dict) -> dict:
    """The answer to a request."""
    request = Request(url, json.dumps(asked).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=300) as answer:
        return json.load(answer)


REPORTED = "--per-request-spec-decode-metrics", "detailed"
SAMPLED = vllm.speculative(3, **vllm.MODEL, draft_sample_method="probabilistic")
PLACES = {each.name: each for each in llama_cpp.ENGINE.settings}
SERVERS: dict[str, tuple[Engine, Setting, Callable]] = {
    "vllm": (vllm.ENGINE, Setting("greedy", (*vllm.DRAFTER, *REPORTED), "", vllm.mended), of_vllm),
    "vllm-sampled": (vllm.ENGINE, Setting("sampled", (*SAMPLED, *REPORTED), "", vllm.mended), of_vllm),
    "llama_cpp": (llama_cpp.ENGINE, PLACES["drafter, greedy drafts"], of_llama),
    "llama_cpp-sampled": (llama_cpp.ENGINE, PLACES["drafter, sampled drafts"], of_llama),
}


@click.command()
@click.argument("name", type=click.Choice(list(SERVERS)))
@click.option("--environment", type=click.Path(path_type=Path), required=True)
@click.option("--keep", type=click.Path(path_type=Path), help="Where the responses are kept.")
@click.option("--port", default=8133, show_default=True)
def main(name: str, environment: Path, keep: Path | None, port: int) -> None:
    """Draws, records and judges."""
    engine, setting, ask = SERVERS[name]
    with tempfile.TemporaryDirectory() as folder:
        where = keep or Path(folder) / "served.jsonl"
        if not where.exists():
            with (
                serving(engine, setting, environment, port, Path(folder) / "log") as url,
                where.open("w") as file,
            ):
                for seed in range(TEXTS):
                    for prompt in PROMPTS:
                        given = ask(url, list(prompt), 1_000 * seed + prompt[-1])
                        print(json.dumps(given | {"prompt_token_ids": list(prompt)}), file=file)
        rates, draft, settings = (Path(folder) / name for name in ("rates.jsonl", "draft.toml", "gamma.toml"))
        settings.write_text("gamma = 3\n")  # llama.cpp does not report it
        for each in DRAFTS:
            draft.write_text(each)
            arguments = ["--device", "cpu", "--served", where, "--settings", draft, "--out", rates]
            draftproof("gpu", "record", *arguments)
            click.echo(each or "drafts of the plain rows")
            draftproof("endpoint", "--acceptance", rates, "--settings", settings)


def draftproof(*arguments: object) -> None:
    """Runs a command."""
    subprocess.run([sys.executable, "-m", "draftproof", *map(str, arguments)], check=False)


if __name__ == "__main__":
    main()
