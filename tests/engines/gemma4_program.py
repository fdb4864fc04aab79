"""make FOLDER: models with random weights; serve FOLDER PORT [assistant]: texts by `generate`."""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import torch
from transformers import (
    AutoModelForCausalLM,
    Gemma4AssistantConfig,
    Gemma4AssistantForCausalLM,
    Gemma4TextConfig,
)

SMALL = {
    "vocab_size": 1024,
    "vocab_size_per_layer_input": 0,
    "hidden_size": 32,
    "hidden_size_per_layer_input": 0,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "layer_types": ["sliding_attention", "full_attention"],
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "max_position_embeddings": 128,
    "initializer_range": 0.3,
    "pad_token_id": 0,
    "bos_token_id": None,
    "eos_token_id": None,
}


def make(folder: Path) -> None:
    """Writes a target, and an assistant that reads its keys and values, and whose rows are flatter."""
    torch.manual_seed(1)
    target = AutoModelForCausalLM.from_config(Gemma4TextConfig(**SMALL))
    target.save_pretrained(folder / "target")
    flat = {"num_kv_shared_layers": SMALL["num_hidden_layers"], "initializer_range": 0.2}
    own = Gemma4TextConfig(**{**SMALL, **flat})
    assistant = Gemma4AssistantForCausalLM(
        Gemma4AssistantConfig(text_config=own, backbone_hidden_size=SMALL["hidden_size"])
    )
    assistant.save_pretrained(folder / "assistant")


def serve(folder: Path, port: int, assisted: bool) -> None:
    """Answers with texts, drawn one after the other."""
    torch.set_num_threads(1)
    target = AutoModelForCausalLM.from_pretrained(folder / "target", dtype=torch.float32).eval()
    more = {}
    if assisted:
        own = Gemma4AssistantForCausalLM.from_pretrained(folder / "assistant", dtype=torch.float32).eval()
        own.generation_config.num_assistant_tokens = 3
        own.generation_config.num_assistant_tokens_schedule = "constant"
        more["assistant_model"] = own

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer([])

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            torch.manual_seed(asked["seed"])
            prompt = torch.tensor([asked["prompt"]])
            texts = [
                target.generate(prompt, do_sample=True, top_k=0, max_new_tokens=asked["length"], **more)
                for _ in range(asked["texts"])
            ]
            self.answer([text[0, prompt.shape[1] :].tolist() for text in texts])

        def answer(self, what: object) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(what).encode())

        def log_message(self, *_: object) -> None:
            pass

    HTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]))
    else:
        serve(Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:] == ["assistant"])
