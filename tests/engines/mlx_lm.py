"""The server of mlx-lm on a CPU (mlx has a build for Linux): the shipped pair, plain and with a drafter."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import gettempdir
from urllib.request import Request, urlopen

from tests.engines.engine import PAIR, TOGETHER, WAYS, Engine, Setting, Way

VERSION = "0.32.2"
MLX = "0.32.4"


MENDED = (
    (
        """            # Save the KV cache again
            self.prompt_cache""",
        """            # Save the KV cache again
            shortest = min(layer.offset for layer in cache)
            for layer in cache:
                layer.trim(layer.offset - shortest)
            cache_key = cache_key[:shortest]
            self.prompt_cache""",
    ),
    (
        """            ctx.prompt_cache_count = len(prompt) - len(rest)
            rest = prompt[ctx.prompt_cache_count :]
            if cache is None:""",
        """            if not rest:
                rest = prompt[-1:]
                for layer in cache:
                    layer.trim(1)
            ctx.prompt_cache_count = len(prompt) - len(rest)
            rest = prompt[ctx.prompt_cache_count :]
            logits_processors = [
                lambda tokens, logits, f=f: f(mx.concatenate([mx.array(prompt[:-1]), tokens]), logits)
                for f in logits_processors
            ]
            if cache is None:""",
    ),
)
"""What fails in mlx_lm/server.py, and what does not. With a drafter the last emitted token is not in the
caches, but in the key under which they are kept: the next text with the same beginning is continued without a
token of it. A prompt that is such a key leaves nothing to read. Penalties do not see the prompt.
"""


def install(environment: Path) -> None:
    """Makes the environment from the package index, and copies of the pair in float32."""
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = str(environment / "bin" / "python")
    subprocess.run(
        [python, "-m", "pip", "install", "-q", f"mlx[cpu]=={MLX}", f"mlx-lm=={VERSION}"], check=True
    )
    for part in ("target", "drafter"):
        convert = ["--hf-path", str(PAIR / part), "--mlx-path", str(environment / part), "--dtype", "float32"]
        subprocess.run([python, "-m", "mlx_lm", "convert", *convert], check=True)


def command(environment: Path, port: int) -> list[str]:
    """A server of the target."""
    serve = [str(environment / "bin" / "python"), "-m", "mlx_lm", "server"]
    return [*serve, "--model", str(environment / "target"), "--port", str(port)]


def drawn(url: str, prompt: Sequence[int], length: int, way: Way) -> list[list[int]]:
    """Texts of at most `length` tokens, each asked for by its words: the server takes no ids."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(PAIR / "target"))
    how = way.sampling
    asked = {
        "prompt": tokenizer.decode(list(prompt)),
        "max_tokens": length,
        "logprobs": True,  # with these come ids
        "temperature": how.temperature,
        "min_p": how.min_p,
        "top_k": how.top_k,
        "top_p": how.top_p,
        "repetition_penalty": how.repetition if how.repetition != 1 else 0.0,
        "presence_penalty": how.presence,
        "frequency_penalty": how.frequency,
        "presence_context_size": 256,
        "frequency_context_size": 256,
        "repetition_context_size": 256,
    }
    if tokenizer.encode(asked["prompt"]) != list(prompt):
        raise ValueError(f"{asked['prompt']!r} is not the text of {prompt}")
    found = []
    for _ in range(way.texts):
        sent = Request(f"{url}/completions", json.dumps(asked).encode(), {"Content-Type": "application/json"})
        with urlopen(sent, timeout=120) as answer:
            [choice] = json.load(answer)["choices"]
        found.append([each["id"] for each in choice["logprobs"]["content"]])
    return found


def _drafter(environment: Path) -> tuple[str, ...]:
    return "--draft-model", str(environment / "drafter"), "--num-draft-tokens", "3"


def mended(environment: Path) -> dict[Path, str]:
    """The server's file, with the cache kept under the tokens that are in it."""
    [file] = environment.glob("lib/*/site-packages/mlx_lm/server.py")
    text = file.read_text(encoding="utf-8")
    for faulty, right in MENDED:
        if text.count(faulty) != 1:
            raise RuntimeError(f"{file} has changed: look whether it is mended")
        text = text.replace(faulty, right)
    return {file: text}


def _offered(way: Way) -> bool:
    how = way.sampling
    counts_the_prompt = how.presence or how.frequency  # its penalties of these kinds do
    filters_first = how.temperature != 1 and how.top_k  # its filters come before the temperature
    return not (how.choice or how.alphabet or counts_the_prompt or filters_first)


ENGINE = Engine(
    "mlx_lm",
    VERSION,
    install,
    command,
    drawn,
    (
        Setting("plain", (), "undecided"),  # it gives no rows
        Setting("drafter", _drafter, "undecided", law="wrong"),
        Setting("drafter, mended", _drafter, "undecided", mended),
    ),
    {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": gettempdir()},  # it lists models only if there is a cache
    {name: Way(200, 1, way.sampling) for name, way in WAYS.items() if name != TOGETHER and _offered(way)},
    "default_model",
)
