"""`draftproof sweep` as users meet it: answers, going on, kills, two at once, a full disk."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from draftproof.simulators.study.results import Results

FILE = """
metrics = ["check"]
drafts = ["chain:1"]
verifiers = ["token", "hsd-released"]
rows = {kind = "random", count = 1600}
"""


@pytest.fixture
def toml(tmp_path) -> Path:
    path = tmp_path / "many.toml"
    path.write_text(FILE)
    return path


def shards(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "shards").glob("[!.]*.parquet"))}


def started(*arguments: object, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "draftproof", "sweep", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )


def once(condition, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)


def test_the_answer_and_the_table(command, toml, tmp_path):
    status, out, err = command("sweep", toml, "--results", tmp_path / "r", "--workers", 1, "--json")
    answer = json.loads(out)
    assert (status, err) == (0, "")
    assert (answer["chunks"], answer["computed"], answer["rows"]) == (25, 25, 3200)
    token = next(line for line in answer["summary"] if line["name"] == "token")
    assert token["verdicts"] == {"lossless": 1600}
    status, out, err = command("sweep", toml, "--results", tmp_path / "r", "--workers", 1)
    assert (status, err) == (0, "")
    assert "rows: 3,200; chunks: 25, 25 of them kept from before" in out
    assert "1,600 lossless" in out


def test_results_lie_in_results_by_default(command, toml, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command("sweep", toml, "--workers", 1)[0] == 0
    assert len(Results("results/many").rows('from "check"')) == 3200


def test_what_is_missing_is_computed_again_byte_for_byte(command, toml, tmp_path):
    command("sweep", toml, "--results", tmp_path / "r", "--workers", 1)
    whole = shards(tmp_path / "r")
    for name in ("check-000003.parquet", "check-000024.parquet"):
        (tmp_path / "r" / "shards" / name).unlink()
    status, out, _ = command("sweep", toml, "--results", tmp_path / "r", "--workers", 1, "--json")
    assert (status, json.loads(out)["computed"]) == (0, 2)
    assert shards(tmp_path / "r") == whole


def test_processes_write_what_one_writes(command, toml, tmp_path):
    for folder, workers in (("one", 1), ("two", 2)):
        assert command("sweep", toml, "--results", tmp_path / folder, "--workers", workers)[0] == 0
    assert shards(tmp_path / "one") == shards(tmp_path / "two")


def killed(toml, folder, workers: int, chance: random.Random) -> None:
    before = len(shards(folder)) if folder.exists() else 0
    process = started(toml, "--results", folder, "--workers", workers)
    once(lambda: (folder / "shards").exists() or process.poll() is not None)
    if chance.random() < 0.5:
        once(lambda: len(shards(folder)) > before or process.poll() is not None)
    time.sleep(chance.random() * 0.3)
    process.kill()
    process.communicate()


def killed_and_resumed(command, toml, folder, kills: int, workers: int) -> None:
    chance = random.Random(0)
    for _ in range(kills):
        killed(toml, folder, workers, chance)
    assert command("sweep", toml, "--results", folder, "--workers", workers)[0] == 0
    status, _, _ = command("sweep", toml, "--results", folder.with_name("whole"), "--workers", 1)
    assert status == 0
    assert shards(folder) == shards(folder.with_name("whole"))
    rows = Results(folder).rows('from "check"')
    assert set(Counter((row["verifier"], row["index"]) for row in rows).values()) == {1}
    assert len(rows) == 2 * len({row["index"] for row in rows})


def test_kill_9_and_resume(command, toml, tmp_path):
    killed_and_resumed(command, toml, tmp_path / "r", kills=2, workers=1)


@pytest.mark.long
@pytest.mark.slow
def test_kill_9_at_twenty_random_moments_and_resume(command, toml, tmp_path):
    toml.write_text(FILE.replace("1600", "12800"))
    killed_and_resumed(command, toml, tmp_path / "r", kills=20, workers=2)


def test_ctrl_c_says_what_is_kept_and_how_to_go_on(toml, tmp_path):
    toml.write_text(FILE.replace("1600", "640000"))
    folder = tmp_path / "r"
    process = started(toml, "--results", folder, "--workers", 2)
    once(lambda: len(list((folder / "shards").glob("[!.]*.parquet"))) > 2 or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    kept = len(shards(folder))
    assert (process.returncode, out) == (130, "")
    assert err == (
        f"interrupted: {kept:,} of 10,000 chunks are kept in {folder}; "
        "the same command continues from there\n"
    )


def test_a_lost_worker_loses_nothing(command, toml, tmp_path):
    toml.write_text(FILE.replace("1600", "6400"))
    process = started(toml, "--results", tmp_path / "r", "--workers", 2)
    once(lambda: len(list((tmp_path / "r" / "shards").glob("[!.]*.parquet"))) > 2)
    children = psutil.Process(process.pid).children()
    next(child for child in children if "spawn_main" in " ".join(child.cmdline())).kill()
    _, err = process.communicate(timeout=120)
    assert (process.returncode, "Traceback" in err) == (0, False)
    assert command("sweep", toml, "--results", tmp_path / "whole", "--workers", 1)[0] == 0
    assert shards(tmp_path / "r") == shards(tmp_path / "whole")


def test_two_sweeps_on_one_folder(command, toml, tmp_path):
    toml.write_text(FILE.replace("1600", "640000"))
    first = started(toml, "--results", tmp_path / "r", "--workers", 1)
    once(lambda: list((tmp_path / "r" / "shards").glob("[!.]*.parquet")))
    status, out, err = command("sweep", toml, "--results", tmp_path / "r", "--workers", 1)
    first.kill()
    first.communicate()
    assert (status, out) == (2, "")
    assert err == f"draftproof: {tmp_path / 'r'}: another sweep is writing there\n"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_that_may_not_grow_is_a_full_disk(toml, tmp_path, workers):
    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

    more = "drafts = ['chain:2']\nverifiers = ['token', 'block', 'hsd', 'nss', 'traversal', 'hsd-released']"
    toml.write_text(f"{FILE}[[family]]\n[[family]]\n{more}\n")
    process = started(toml, "--results", tmp_path / "r", "--workers", workers, preexec_fn=limited)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.count("\n")) == (2, "", 1)
    assert "the disk is full; finished chunks are kept" in err
    found = shards(tmp_path / "r")
    assert all(name.endswith(".parquet") for name in found)
    assert workers == 2 or {*found} == {f"check-{n:06d}.parquet" for n in range(len(found))}
    assert [path.name for path in (tmp_path / "r" / "shards").iterdir() if path.name not in found] == []
    assert all(data[-4:] == b"PAR1" for data in found.values())


@pytest.mark.parametrize(("arguments", "said"), [(["--workers", "0"], "--workers")])
def test_bad_input_is_one_line(command, toml, tmp_path, arguments, said):
    status, out, err = command("sweep", toml, "--results", tmp_path / "r", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_help_explains(command):
    status, out, err = command("sweep", "--help")
    assert (status, err) == (0, "")
    assert "--workers" in out
