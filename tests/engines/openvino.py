"""OpenVINO GenAI on a CPU: the shipped pair, plain, with a drafter, with n-grams. The package index has no
server of it, so that a program of ours passes its pipeline's texts on, and `endpoint` has nothing to ask.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from urllib.request import Request, urlopen

from tests.engines.engine import NO_SERVER, PAIR, WAYS, Engine, Setting, Way

VERSION = "2026.4.1.0"
PROGRAM = Path(__file__).with_name("openvino_program.py")


def install(environment: Path) -> None:
    """Makes the environment from the package index, and converts the pair by OpenVINO's own converter."""
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    pip = [str(environment / "bin" / "python"), "-m", "pip"]
    subprocess.run(
        [*pip, "install", "-q", f"openvino-genai=={VERSION}", "optimum-intel[openvino]", "torch"], check=True
    )
    export = [str(environment / "bin" / "optimum-cli"), "export", "openvino", "--weight-format", "fp32"]
    for part in ("target", "drafter"):
        task = ["--task", "text-generation-with-past", "-m", str(PAIR / part)]
        subprocess.run([*export, *task, str(environment / part)], check=True)


def command(environment: Path, port: int) -> list[str]:
    """What starts our program with the target."""
    return [str(environment / "bin" / "python"), "-P", str(PROGRAM), str(port), str(environment / "target")]


def drawn(url: str, prompt: Sequence[int], length: int, way: Way) -> list[list[int]]:
    """Texts of `length` tokens."""
    found: list[list[int]] = []
    asked = {
        "prompt": list(prompt),
        "length": length,
        "together": way.together,
        "sampling": asdict(way.sampling),
    }
    for request in range(way.texts // way.together):
        seed = 1_000 * (request + 1_000 * prompt[-1])  # the texts of a request have the seeds from it on
        with urlopen(Request(url, json.dumps(asked | {"seed": seed}).encode()), timeout=300) as answer:
            found += json.load(answer)
    return found


ENGINE = Engine(
    "openvino",
    VERSION,
    install,
    command,
    drawn,
    (
        Setting("plain", (), NO_SERVER),
        Setting("n-grams", ("ngrams",), NO_SERVER),
        Setting("drafter", lambda place: (str(place / "drafter"),), NO_SERVER, law="wrong"),
    ),
    ways={name: way for name, way in WAYS.items() if not (way.sampling.choice or way.sampling.alphabet)},
)
