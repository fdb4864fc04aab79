"""A trained pair goes into a few files of limited size and comes back byte for byte."""

import subprocess
import sys

import pytest

from benchmarks.on_gpu import pack
from benchmarks.on_gpu.machine import ROOT


@pytest.fixture
def pair(tmp_path):
    pytest.importorskip("torch")
    import torch

    folder = tmp_path / "pair"
    (folder / "target").mkdir(parents=True)
    weights = torch.randn(200_001, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16) * 0.02
    (folder / "target" / "model.safetensors").write_bytes(bytes(weights.view(torch.uint8).tolist()) + b"x")
    (folder / "train.json").write_text("{}")
    return folder


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_there_and_back(pair, tmp_path, monkeypatch):
    monkeypatch.setattr(pack, "PIECE", 100_000)
    monkeypatch.setattr(pack, "BLOCK", 65_536)
    files = pack.pack(pair, tmp_path / "out")
    assert [file.name for file in files] == ["pair.0", "pair.1", "pair.2"]
    assert all(file.stat().st_size <= 100_000 for file in files)
    # A pair of 67 MiB at this ratio takes four files, which with a report stay below 64 MiB.
    assert sum(file.stat().st_size for file in files) < 0.72 * 400_000
    pack.join(tmp_path / "out", tmp_path / "back")
    assert content(tmp_path / "back") == content(pair)


@pytest.mark.parametrize("fault", ["gone", "cut", "mixed"])
def test_pieces_that_are_not_whole_are_refused(fault, pair, tmp_path, monkeypatch):
    monkeypatch.setattr(pack, "PIECE", 100_000)
    first, *_, last = pack.pack(pair, tmp_path / "out")
    if fault == "gone":
        last.unlink()
    elif fault == "cut":
        last.write_bytes(last.read_bytes()[:-100])
    else:
        first.write_bytes(last.read_bytes())
    with pytest.raises(ValueError, match="not whole"):
        pack.join(tmp_path / "out", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_what_is_too_large_or_not_finished_is_not_packed(pair, tmp_path, monkeypatch):
    (pair / "work").mkdir()
    with pytest.raises(ValueError, match="no finished pair"):
        pack.pack(pair, tmp_path / "out")
    (pair / "work").rmdir()
    monkeypatch.setattr(pack, "PIECE", 1000)
    with pytest.raises(ValueError, match="more than 4 files"):
        pack.pack(pair, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_by_command(pair, tmp_path):
    command = [sys.executable, "-m", "benchmarks.on_gpu.pack"]
    for arguments in ([pair, tmp_path / "out"], ["--join", tmp_path / "out", tmp_path / "back"]):
        assert subprocess.run([*command, *arguments], cwd=ROOT, check=False).returncode == 0
    assert content(tmp_path / "back") == content(pair)
    again = subprocess.run(
        [*command, "--join", tmp_path / "out", tmp_path / "back"], cwd=ROOT, capture_output=True, text=True
    )
    assert (again.returncode, again.stderr.splitlines()[-1].endswith("is not empty")) == (2, True)
