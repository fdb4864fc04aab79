"""transformers' `generate` with a Gemma 4 assistant: small models with random weights, made at run time.

There is no server: `gemma4_program.py` answers with what `generate` gives. (-P: else it would import the file
transformers.py beside it.) 5.23.0 cannot make an assistant: its configuration raises ValueError.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import copy
from urllib.request import Request, urlopen

from tests.engines.engine import NO_SERVER, PAIR, Engine, Setting, Way

VERSION = "5.24.0"
PROGRAM = Path(__file__).with_name("gemma4_program.py")
GREEDY, SAMPLED = (
    f"            last_token_id = {drawn}\n            last_hidden_state = outputs.last_hidden_state\n"
    for drawn in ("outputs.logits.argmax(dim=-1)", "outputs.logits[:, -1].softmax(-1).multinomial(1)")
)
"""What fails in generation/candidate_generator.py, and what does not: the likeliest token is drafted, but is
verified as if it had been drawn from the assistant's row.
"""


def install(environment: Path) -> None:
    """Makes the environment from the package index, and the models."""
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = str(environment / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", "torch", f"transformers=={VERSION}"], check=True)
    subprocess.run([python, "-P", str(PROGRAM), "make", str(environment)], check=True)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        copy(PAIR / "target" / name, environment / "target" / name)


def command(environment: Path, port: int) -> list[str]:
    """The program with the target."""
    return [str(environment / "bin" / "python"), "-P", str(PROGRAM), "serve", str(environment), str(port)]


def drawn(url: str, prompt: Sequence[int], length: int, way: Way) -> list[list[int]]:
    """Texts of `length` tokens, one a call of `generate`."""
    asked = {"prompt": list(prompt), "length": length, "texts": way.texts, "seed": prompt[-1]}
    with urlopen(Request(url, json.dumps(asked).encode()), timeout=3600) as answer:
        return json.load(answer)


def mended(environment: Path) -> dict[Path, str]:
    """The file with the generator, which draws its tokens."""
    [file] = environment.glob("lib/*/site-packages/transformers/generation/candidate_generator.py")
    text = file.read_text(encoding="utf-8")
    if text.count(GREEDY) != 1:
        raise RuntimeError(f"{file} has changed: look whether it is mended")
    return {file: text.replace(GREEDY, SAMPLED)}


ENGINE = Engine(
    "transformers, Gemma 4",
    VERSION,
    install,
    command,
    drawn,
    (
        Setting("plain", (), NO_SERVER),
        Setting("assistant", ("assistant",), NO_SERVER, law="wrong"),
        Setting("assistant, mended", ("assistant",), NO_SERVER, mended),
    ),
    {"HF_HUB_OFFLINE": "1"},
    {"one text a request": Way(400, 1)},
    target="target",
)
