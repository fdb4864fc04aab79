"""make FOLDER PAIR: an EAGLE head; serve PAIR PORT OPTIONS: vLLM's own texts, each under a key of its own.

OPTIONS is JSON: what `LLM` is given, and `block`, which replaces the refused verification after the start.
Watermarks want vLLM's second model runner, whose kernels run in Triton's interpreter here. It lacks two
things: masks that are integers, and log1p.
"""

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch

SECONDS = 60


def make(folder: Path, pair: Path) -> None:
    """Fits one decoder layer, from the target's last state and the next token's embedding to its next row."""
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM
    from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRotaryEmbedding

    torch.manual_seed(0)
    target = AutoModelForCausalLM.from_pretrained(pair / "target", dtype=torch.float32).eval()
    config, width = target.config, target.config.hidden_size
    config._attn_implementation = "eager"
    layer, rotary = LlamaDecoderLayer(config, 0), LlamaRotaryEmbedding(config)
    layer.input_layernorm = torch.nn.Identity()
    both = torch.nn.Linear(2 * width, width, bias=False)
    with torch.no_grad():
        both.weight.copy_(torch.eye(2 * width)[width:])
    steps = torch.optim.Adam([*layer.parameters(), *both.parameters()], lr=2e-3)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with torch.no_grad():
            start = torch.randint(1, config.vocab_size, (16, 1))
            how = {"do_sample": True, "top_k": 0, "min_new_tokens": 48, "max_new_tokens": 48}
            ids = target.generate(start, pad_token_id=0, **how)
            states = target.model(ids).last_hidden_state
            p = target.lm_head(states[:, 1:]).log_softmax(-1)
        for _ in range(8):
            x = both(torch.cat([target.model.embed_tokens(ids[:, 1:]), states[:, :-1]], -1))
            at = torch.arange(x.shape[1])[None]
            mask = torch.full((x.shape[1],) * 2, -torch.inf).triu(1)[None, None]
            given = {"attention_mask": mask, "position_ids": at, "position_embeddings": rotary(x, at)}
            q = target.lm_head(layer(x, **given)).log_softmax(-1)
            loss = (p.exp() * (p - q)).sum(-1).mean()
            steps.zero_grad()
            loss.backward()
            steps.step()
    print(f"accepts {torch.minimum(p.exp(), q.exp()).sum(-1).mean():.2f}")
    folder.mkdir(exist_ok=True)
    weights = {f"layers.0.{name}": each.contiguous() for name, each in layer.state_dict().items()}
    save_file(weights | {"fc.weight": both.weight.detach().contiguous()}, folder / "model.safetensors")
    own = json.loads((pair / "target" / "config.json").read_text()) | {"num_hidden_layers": 1}
    (folder / "config.json").write_text(json.dumps(own))


def mend_interpreter() -> None:
    """Gives Triton's interpreter what vLLM's kernels use."""
    from triton import language as tl
    from triton.runtime import interpreter
    from vllm.v1.worker.gpu.spec_decode import rejection_sampler_utils

    handle, builder = interpreter.TensorHandle, interpreter.InterpreterBuilder
    stored, loaded = builder.create_masked_store, builder.create_masked_load

    def sure(mask):
        return handle(mask.data.astype(bool), mask.dtype)

    def log1p(x):
        with np.errstate(invalid="ignore", divide="ignore"):
            return tl.tensor(handle(np.log1p(x.handle.data), x.handle.dtype), x.type)

    builder.create_masked_store = lambda self, at, what, mask, *more: stored(
        self, at, what, sure(mask), *more
    )
    builder.create_masked_load = lambda self, at, mask, *more: loaded(self, at, sure(mask), *more)
    rejection_sampler_utils.tldevice = SimpleNamespace(log1p=log1p)


def keyed(runner, key: int) -> None:
    """Puts another key where vLLM keeps it: in the sampler, in the drafter, for the tokens in the place of
    rejected ones.
    """
    from vllm.config.watermarking import derive_watermark_key

    first, second = (derive_watermark_key(key, domain) for domain in (b"key_a", b"key_b"))
    watermarker = runner.sampler.watermarker
    if runner.speculator is not None:
        runner.speculator.draft_watermarker.watermarker.prf.key = first
        watermarker.prf.key = runner.rejection_sampler.watermark_key = second
    elif hasattr(watermarker, "draft_watermarker"):
        watermarker.draft_watermarker.prf.key, watermarker.target_watermarker.prf.key = first, second
    else:
        watermarker.prf.key = key


def serve(pair: Path, port: int, options: dict) -> None:
    """Answers with texts, drawn one after the other."""
    from vllm import LLM, SamplingParams

    mend_interpreter()
    block = options.pop("block", False)
    small = {"dtype": "float32", "enforce_eager": True, "max_model_len": 256, "max_num_seqs": 8}
    llm = LLM(str(pair / "target"), **small, **options)
    runner = llm.llm_engine.engine_core.engine_core.model_executor.driver_worker.worker.model_runner
    if block:
        runner.rejection_sampler.use_block_verification = True
    known: dict[str, list] = {}

    def text(prompt, length, temperature, seed):
        if "watermark_config" in options:
            keyed(runner, seed)
        how = SamplingParams(
            max_tokens=length, ignore_eos=True, temperature=temperature, seed=seed, logprobs=None
        )
        [found] = llm.generate([{"prompt_token_ids": prompt}], how, use_tqdm=False)
        return list(found.outputs[0].token_ids)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer([])

        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if asked not in known:
                each = json.loads(asked)
                how = each["prompt"], each["length"], each["temperature"]
                known[asked] = [text(*how, 1_000 * each["prompt"][-1] + n) for n in range(each["texts"])]
            self.answer(known[asked])

        def answer(self, what: object) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(what).encode())

        def log_message(self, *_: object) -> None:
            pass

    HTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        os.environ |= {"TRITON_INTERPRET": "1", "VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
        serve(Path(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4]))
