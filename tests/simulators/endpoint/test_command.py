"""`draftproof endpoint` as users run it."""

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.etree import ElementTree

import httpx2 as httpx
import pytest

from tests.simulators.endpoint.fake import Fake


@pytest.fixture
def serve():
    """Serves a fake on a port of this machine: its URL."""
    running = []

    def at(fake):
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                asked = httpx.Request(
                    "POST", f"http://fake{self.path}", content=body, headers=dict(self.headers)
                )
                answer = fake(asked)
                self.send_response(answer.status_code)
                self.send_header("Content-Length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content)

            do_GET = do_POST

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        running.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield at
    for each in running:
        each.shutdown()
        each.server_close()


FEW = ("--tokens", 1500, "--choices", 16, "--concurrency", 1, "--retries", 0)


def test_the_answer_and_the_junit_file(command, serve, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret-key")
    fake, junit, prompts = Fake("ignores top_p"), tmp_path / "junit.xml", tmp_path / "prompts.txt"
    prompts.write_text('"a private prompt"\nanother\n')
    kept = tmp_path / "evidence.json"
    more = "--junit", junit, "--prompts", prompts, "--key-from", "MY_KEY", "--resume", kept
    status, out, _ = command("endpoint", serve(fake), *FEW, *more, "--json")
    answer = json.loads(out)
    assert status == 1
    assert (answer["verdict"], answer["found"], answer["complete"]) == ("rejected", ["top_p"], True)
    assert answer.keys() == {
        *("url", "model", "verdict", "found", "tests", "error", "tokens", "prompt_tokens", "requests"),
        *("retried", "seconds", "stopped", "complete"),
    }
    assert fake.headers[-1] == "Bearer secret-key"
    written = out + junit.read_text() + kept.read_text()
    assert "secret" not in written
    assert "private" not in written
    suite = ElementTree.parse(junit).getroot()
    assert [each.get("name") for each in suite if each.find("failure") is not None] == ["top_p"]
    assert suite.get("failures") == "1"
    assert int(suite.get("tests")) == len(answer["tests"])


def test_the_lines(command, serve):
    status, out, _ = command("endpoint", serve(Fake("greedy")), *FEW)
    assert status == 1
    assert "rejected: greedy" in out
    assert "silently greedy" in out
    assert "explains what it sees" in out
    status, out, _ = command(
        "endpoint", serve(Fake()), *FEW, "--against", serve(Fake(seed=1)), "--no-settings"
    )
    assert status == 0
    assert "nothing found" in out
    assert "would have shown" in out


def test_a_server_that_stops_is_undecided(command, serve):
    fake = Fake()
    answer = fake.answer
    fake.answer = lambda body: answer(body) if len(fake.seen) < 20 else None
    status, out, err = command("endpoint", serve(fake), *FEW, "--json")
    assert status == 3
    assert json.loads(out)["complete"] is False
    assert err.strip().endswith("1 times in a row")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["http://127.0.0.1:9", "--retries", "0"], "refused"),
        (["ftp://host"], "URL"),
        (["http://h", "--prompts", "nothing.txt"], "nothing.txt: no such file"),
        (["http://h", "--error", "0"], "--error"),
    ],
)
def test_bad_input_is_one_line(command, arguments, said):
    status, out, err = command("endpoint", *arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_what_is_missing_is_named():
    program = (
        "import sys; sys.modules['httpx2'] = None;"
        "from draftproof import commands; from draftproof.simulators.commands.entry import enter;"
        "sys.exit(enter(commands(), ['endpoint', 'http://h']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "draftproof: endpoint needs httpx2: pip install 'draftproof[endpoint]'\n"
