"""vLLM's own watermarks, alone and with an EAGLE head, in its second model runner on a CPU.

The runner wants Triton, which CPUs lack: as released vLLM ends at once (vllm#55847, open).
Here its kernels run in Triton's interpreter, one file of vLLM changed to say that there is a Triton.
Each text has a key of its own, so z judges the law over keys. Contexts are one token wide.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from urllib.request import Request, urlopen

from tests.engines import vllm
from tests.engines.engine import NO_SERVER, PAIR, Engine, Setting, Way
from tests.engines.independent import Sampling

ABSENT = 'if not HAS_TRITON:\n    logger.info(\n        "Triton not installed'
COOL = Sampling(temperature=0.6)
TEXTS, LENGTH = 60, 12


def install(environment: Path) -> None:
    """Makes the environment of vLLM, with an EAGLE head."""
    vllm.install(environment)
    vllm.eagle(environment)


def command(environment: Path, port: int) -> list[str]:
    """The program with the target."""
    return [str(environment / "bin" / "python"), "-P", str(vllm.PROGRAM), "serve", str(PAIR), str(port)]


def interpreted(environment: Path) -> dict[Path, str]:
    """vLLM's file that looks for Triton, which finds it."""
    [file] = environment.glob("lib/*/site-packages/vllm/triton_utils/importing.py")
    text = file.read_text(encoding="utf-8")
    if text.count(ABSENT) != 1:
        raise RuntimeError(f"{file} has changed")
    return {file: text.replace(ABSENT, "HAS_TRITON = True\n" + ABSENT)}


def drawn(url: str, prompt: Sequence[int], length: int, way: Way) -> list[list[int]]:
    """Texts of `length` tokens, each under a key of its own."""
    asked = {"prompt": list(prompt), "length": length, "texts": way.texts}
    asked["temperature"] = way.sampling.temperature
    with urlopen(Request(url, json.dumps(asked).encode()), timeout=3600) as answer:
        return json.load(answer)


def _options(algorithm: str = "", scope: str = "single_turn", eagle: bool = False, block: bool = False):
    def given(environment: Path) -> tuple[str]:
        options: dict[str, object] = {"block": block}
        if algorithm:
            named = {"algorithm": algorithm, "deduplicate_contexts": scope}
            options["watermark_config"] = {"key": 7, "context_width": 1, **named}
        if eagle:
            own = {"method": "eagle", "model": str(environment / "eagle"), "num_speculative_tokens": 3}
            options["speculative_config"] = {**own, "draft_sample_method": "probabilistic"}
        return (json.dumps(options),)

    return given


def _setting(name: str, law: str = "right", **options: object) -> Setting:
    return Setting(name, _options(**options), NO_SERVER, interpreted, law)


ENGINE = Engine(
    "vllm, watermark",
    vllm.VERSION,
    install,
    command,
    drawn,
    (
        _setting("gumbel", algorithm="gumbel"),
        _setting("gumbel, repeated contexts too", "wrong", algorithm="gumbel", scope="none"),
        _setting("dual key", algorithm="dual_key_gumbel"),
        _setting("EAGLE, no watermark", eagle=True),
        _setting("dual key, EAGLE", algorithm="dual_key_gumbel", eagle=True),
        _setting(
            "dual key, EAGLE, repeated contexts too",
            "wrong",
            algorithm="dual_key_gumbel",
            scope="none",
            eagle=True,
        ),
        _setting(
            "dual key, EAGLE, block verification: refused, forced here",
            algorithm="dual_key_gumbel",
            eagle=True,
            block=True,
        ),
    ),
    {**vllm.ENGINE.environment, "OMP_NUM_THREADS": "1"},
    {
        "likeliest tokens, T = 0.6": Way(TEXTS, 1, COOL),
        "tokens that came before after the same token, T = 0.6": Way(TEXTS, 1, COOL, again=True),
    },
    length=LENGTH,
)
