"""`transformers serve`, a server that is not ours, on the shipped target. It shows no log-probabilities."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from urllib.error import URLError
from urllib.request import urlopen

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("uvicorn")

from transformers.utils.import_utils import is_serve_available

if not is_serve_available():
    pytest.skip("needs transformers[serving]", allow_module_level=True)

from draftproof.gpu.drafters.choose import SHIPPED, pair
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.verify import named
from draftproof.simulators.endpoint.checks import checked, stop
from draftproof.simulators.endpoint.client import Client
from draftproof.simulators.endpoint.compare import Comparison
from draftproof.simulators.endpoint.run import Plan, Run
from draftproof.simulators.endpoint.server import Server
from tests.gpu.serve.server import Server as Own
from tests.gpu.serve.server import local

pytestmark = pytest.mark.slow

SAMPLES = {"do_sample": True, "top_k": 0, "bos_token_id": 0, "eos_token_id": 0}
"""Without the first two, transformers takes the likeliest token, or one of the fifty likeliest."""

DEFAULTS = {
    "greedy": {},
    "plain": SAMPLES,
    "speculative": {**SAMPLES, "prompt_lookup_num_tokens": 3},
    "eight": {**SAMPLES, "top_k": 8},
}
"""Name -> the generation settings beside the model, which a request cannot change."""


@pytest.fixture(scope="module")
def peer(tmp_path_factory):
    """The server's URL, and the folder of the models that it serves by their path."""
    folder = tmp_path_factory.mktemp("models")
    for name, settings in DEFAULTS.items():
        shutil.copytree(SHIPPED / "target", folder / name)
        (folder / name / "generation_config.json").write_text(json.dumps(settings))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = f"from transformers.cli.serve import Serve; Serve(device='cpu', port={port})"
    where = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(folder)}
    with subprocess.Popen([sys.executable, "-c", program], env=where) as server:
        url = f"http://localhost:{port}"
        try:
            for _ in range(600):
                assert server.poll() is None
                try:
                    urlopen(f"{url}/health").close()
                    break
                except URLError:
                    time.sleep(0.2)
            yield url, folder
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def own():
    """Our server, which decodes the same target without speculation."""
    made = Own(pair(None, None, "cpu")[0], None, named("block"), structure("chain:3"))
    with local(made) as url:
        yield url


def compared(peer, own, name, tokens):
    """The report on one of the models beside ours."""
    url, folder = peer
    plan = Plan(tokens=tokens, settings=False, detect=0.9)
    clients = Client(url, concurrency=1), Client(own, concurrency=1)
    return Comparison(clients, plan, lambda *_: None).go([str(folder / name), None])


def test_alone_it_is_undecided(peer):
    url, folder = peer
    report = Run(Client(url), Plan(), lambda *_: None).go([str(folder / "plain")])
    assert report.status == 3
    assert "--against" in report.stopped


@pytest.mark.parametrize("name", ["plain", "speculative"])
def test_sampled_texts_follow_the_law(peer, own, name):
    report = compared(peer, own, name, 4000)
    print(report)
    assert (report.status, report.found) == (0, [])


@pytest.mark.parametrize(("name", "said"), [("greedy", "one text only"), ("eight", "different laws")])
def test_settings_of_the_model_are_noticed(peer, own, name, said):
    report = compared(peer, own, name, 8000)
    print(report)
    assert report.found == ["law"]
    assert said in str(report)


def test_a_stop_string_is_shown(peer):
    url, folder = peer
    client = Client(url, concurrency=1)
    found = checked("stop", stop, Server(client, str(folder / "plain")), Plan().prompts)
    client.close()
    assert found.verdict == "rejected"
    assert "a stop string" in found.said
