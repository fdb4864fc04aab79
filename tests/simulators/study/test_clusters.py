"""Clusters on this machine give the files that a local run gives, byte for byte, also when a worker dies."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulators.study.test_sweep_command import FILE, once, shards

pytestmark = [pytest.mark.slow, pytest.mark.long]


@pytest.fixture
def many(tmp_path) -> Path:
    path = tmp_path / "many.toml"
    path.write_text(FILE.replace("1600", "12800"))
    return path


@pytest.fixture
def local(command, many, tmp_path) -> dict[str, bytes]:
    assert command("sweep", many, "--results", tmp_path / "local", "--workers", 1)[0] == 0
    return shards(tmp_path / "local")


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two worker processes: (address, workers)."""
    pytest.importorskip("distributed")
    place = tmp_path / "scheduler.json"
    base = [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    at = ["--scheduler-file", str(place), "--host", "127.0.0.1", "--no-dashboard"]
    scheduler = subprocess.Popen([*base, "scheduler", "--port", "0", *at], **quiet)
    once(place.exists)
    worker = [*base, "worker", *at, "--nthreads", "1", "--no-nanny"]
    workers = [subprocess.Popen(worker, **quiet) for _ in range(2)]
    yield json.loads(place.read_text())["address"], workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def swept(many: Path, folder: Path, *where: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "draftproof", "sweep", str(many), "--results", str(folder), "--json", *where],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_dask_gives_the_same_files(many, local, cluster, tmp_path):
    address, _ = cluster
    process = swept(many, tmp_path / "r", "--scheduler", address)
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, "")
    assert shards(tmp_path / "r") == local


def test_killing_a_dask_worker_half_way_loses_nothing(many, local, cluster, tmp_path):
    address, workers = cluster
    process = swept(many, tmp_path / "r", "--scheduler", address)
    once(lambda: len(list((tmp_path / "r" / "shards").glob("[!.]*.parquet"))) >= len(local) // 2)
    assert process.poll() is None
    workers[0].kill()
    out, err = process.communicate(timeout=300)
    assert (process.returncode, "Traceback" in err) == (0, False)
    assert json.loads(out)["computed"] == len(local)
    assert shards(tmp_path / "r") == local


def test_ctrl_c_on_dask_keeps_what_is_finished(many, local, cluster, tmp_path):
    address, _ = cluster
    process = swept(many, tmp_path / "r", "--scheduler", address)
    once(lambda: len(list((tmp_path / "r" / "shards").glob("[!.]*.parquet"))) > 5)
    process.send_signal(2)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.count("\n") == 1
    assert "are kept in" in err
    found = shards(tmp_path / "r")
    assert all(local[name] == data for name, data in found.items())


def test_a_scheduler_that_cannot_be_reached_is_one_line(many, tmp_path):
    pytest.importorskip("distributed")
    process = swept(many, tmp_path / "r", "--scheduler", "tcp://127.0.0.1:9")
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err.count("\n")) == (2, 1)
    assert "--scheduler tcp://127.0.0.1:9: cannot be reached" in err
