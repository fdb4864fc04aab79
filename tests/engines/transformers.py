"""The server of transformers: the shipped target, as it ships and with `do_sample` in its generation
configuration. It serves no assistant.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import copytree
from urllib.request import Request, urlopen

from tests.engines.engine import PAIR, Engine, Setting, Way

VERSION = "5.23.0"


def install(environment: Path) -> None:
    """Makes the environment from the package index, and two copies of the target."""
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    pip = [str(environment / "bin" / "python"), "-m", "pip"]
    subprocess.run([*pip, "install", "-q", "torch", f"transformers[serving]=={VERSION}"], check=True)
    for name in ("as-it-ships", "do-sample"):
        copytree(PAIR / "target", environment / name)
    file = environment / "do-sample" / "generation_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"do_sample": True, "top_k": 0}))


def command(environment: Path, port: int) -> list[str]:
    """A server on the CPU, without its model."""
    serve = [str(environment / "bin" / "transformers"), "serve", "--device", "cpu", "--dtype", "float32"]
    return [*serve, "--port", str(port)]


def drawn(url: str, prompt: Sequence[int], length: int, way: Way) -> list[list[int]]:
    """Texts of one token: the server gives no ids, and those of a longer text cannot be told from it."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(PAIR / "target"))
    asked = {"prompt": tokenizer.decode(list(prompt)), "max_tokens": 1, "temperature": 1.0}
    if tokenizer.encode(asked["prompt"]) != list(prompt):
        raise ValueError(f"{asked['prompt']!r} is not the text of {prompt}")
    said = {tokenizer.decode([token]): token for token in range(len(tokenizer))}
    found = []
    for _ in range(way.texts):
        sent = Request(f"{url}/completions", json.dumps(asked).encode(), {"Content-Type": "application/json"})
        with urlopen(sent, timeout=120) as answer:
            found.append([said[json.load(answer)["choices"][0]["text"]]])
    return found


ENGINE = Engine(
    "transformers",
    VERSION,
    install,
    command,
    drawn,
    (
        Setting("do_sample in the checkpoint", lambda place: (str(place / "do-sample"),), "refused"),
        Setting(
            "as the checkpoint ships", lambda place: (str(place / "as-it-ships"),), "refused", law="wrong"
        ),
    ),
    {"HF_HUB_OFFLINE": "1"},
    {"one text of one token a request": Way(60, 1)},
)
