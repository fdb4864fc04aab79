"""`draftproof endpoint` as users run it."""

import json
import re
import subprocess
import sys

import pytest

from tests.simulators.endpoint.fake import Fake


@pytest.fixture
def few(tmp_path):
    """Options of a short run."""
    path = tmp_path / "few.toml"
    path.write_text("choices = 16\nconcurrency = 1\nretries = 0\n")
    return "--tokens", 5000, "--detect", 0.5, "--settings", path


def test_the_answer(command, serve, few, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret-key")
    fake, prompts = Fake("ignores top_p"), tmp_path / "prompts.txt"
    prompts.write_text('"a private prompt"\nanother\n')
    more = "--prompts", prompts, "--key-from", "MY_KEY"
    status, out, _ = command("endpoint", serve(fake), *few, *more, "--json")
    answer = json.loads(out)
    assert status == 1
    assert (answer["verdict"], answer["found"], answer["complete"]) == ("rejected", ["top_p"], True)
    assert answer.keys() == {
        *("url", "model", "verdict", "found", "tests", "error", "tokens", "prompt_tokens", "requests"),
        *("retried", "seconds", "stopped", "complete", "detect", "detectable"),
    }
    assert fake.headers[-1] == "Bearer secret-key"
    assert "secret" not in out
    assert "private" not in out


def test_the_lines(command, serve, few):
    status, out, _ = command("endpoint", serve(Fake("greedy")), *few)
    assert status == 1
    assert "rejected: greedy" in out
    assert "silently greedy" in out
    assert "explains what it sees" in out
    sides = "--against", serve(Fake(seed=1)), "--detect", 0.9
    status, out, _ = command("endpoint", serve(Fake()), *few, *sides, "--law-only")
    assert status == 0
    assert "nothing found" in out
    assert "would have shown" in out


def test_a_server_that_stops_is_undecided(command, serve, few):
    fake = Fake()
    answer = fake.answer
    fake.answer = lambda body: answer(body) if len(fake.seen) < 20 else None
    status, out, err = command("endpoint", serve(fake), *few, "--json")
    assert status == 3
    assert json.loads(out)["complete"] is False
    assert err.strip().endswith("1 times in a row")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["http://127.0.0.1:9", "--seconds", "1"], "refused|time is up"),
        (["ftp://host"], "URL"),
        (["http://h", "--prompts", "nothing.txt"], "nothing.txt: no such file"),
        (["http://h", "--detect", "0"], "--detect"),
        (["http://h", "--key-from", "NO_SUCH"], "variable 'NO_SUCH' is not set"),
    ],
)
def test_bad_input_is_one_line(command, arguments, said):
    status, out, err = command("endpoint", *arguments)
    assert (status, out) == (2, "")
    assert re.search(said, err)
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
