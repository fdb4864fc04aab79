"""Run in an environment of OpenVINO GenAI: answers POST requests with texts that its pipeline draws.

python openvino_program.py PORT TARGET [DRAFTER | ngrams]
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import openvino as ov
import openvino_genai as genai

DRAFTED = 3
FIELDS = {
    "temperature": "temperature",
    "min_p": "min_p",
    "top_k": "top_k",
    "top_p": "top_p",
    "repetition": "repetition_penalty",
    "presence": "presence_penalty",
    "frequency": "frequency_penalty",
}
"""Name of a sampling's field -> name of the configuration's."""


def pipeline(target: str, drafter: str = "") -> genai.ContinuousBatchingPipeline:
    """A pipeline on the CPU in float32, without a cache of prefixes."""
    scheduler = genai.SchedulerConfig()
    scheduler.cache_size, scheduler.enable_prefix_caching, scheduler.max_num_batched_tokens = 1, False, 4096
    exact = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}
    if drafter == "ngrams":
        exact["prompt_lookup"] = True
    elif drafter:
        exact["draft_model"] = genai.draft_model(drafter, "CPU", **exact)
    return genai.ContinuousBatchingPipeline(target, scheduler, "CPU", exact)


def configuration(asked: dict, seed: int, drafter: str) -> genai.GenerationConfig:
    """How one text is drawn."""
    how = genai.GenerationConfig()
    how.do_sample, how.rng_seed = True, seed
    how.max_new_tokens, how.ignore_eos = asked["length"], True
    for name, field in FIELDS.items():
        value = asked["sampling"][name]
        if name != "top_k" or value:
            setattr(how, field, value)
    if drafter:
        how.num_assistant_tokens = DRAFTED
    if drafter == "ngrams":
        how.max_ngram_size = 2
    return how


def main(port: str, target: str, drafter: str = "") -> None:
    """Serves one request after the other."""
    made = pipeline(target, drafter)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(200, [])

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = ov.Tensor(np.array([asked["prompt"]], dtype=np.int64))
            seeds = range(asked["seed"], asked["seed"] + asked["together"])
            try:
                found = made.generate(
                    [prompt for _ in seeds], [configuration(asked, s, drafter) for s in seeds]
                )
            except RuntimeError as error:
                self.answer(500, str(error))
            else:
                self.answer(200, [list(each.m_generation_ids[0]) for each in found])

        def answer(self, status: int, what: object) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(what).encode())

        def log_message(self, *_: object) -> None:
            pass

    HTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
