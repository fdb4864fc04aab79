"""The command `report` as people meet it."""

import errno
import json
import shutil
from pathlib import Path

import click
import pytest

from draftproof.proofs_check.commands import report as report_command
from draftproof.simulators.commands.entry import enter


@pytest.fixture
def report(capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        group = click.Group("draftproof", [report_command.report])
        status = enter(group, ["report", *map(str, arguments)])
        return status, *capfd.readouterr()

    return run


def test_one_file_comes_out(report, results, tmp_path):
    page = tmp_path / "page.html"
    status, out, err = report(results, "--output", page, "--json")
    answer = json.loads(out)
    assert (status, err) == (0, "")
    assert answer["output"] == str(page)
    assert answer["bytes"] == page.stat().st_size < 3e6
    assert answer["sections"].keys() == {"verdicts", "gaps", "worst"}
    assert "<h1>family</h1>" in page.read_text(encoding="utf-8")


def test_a_full_disk_leaves_the_page_of_before(report, results, tmp_path, monkeypatch):
    page = tmp_path / "out" / "page.html"
    page.parent.mkdir()
    page.write_text("before", encoding="utf-8")

    def half(path, text, **options):
        path.write_bytes(text.encode()[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", half)
    assert report(results, "--output", page) == (2, "", f"draftproof: {page}: no space left on device\n")
    assert {each: each.read_bytes() for each in page.parent.iterdir()} == {page: b"before"}


def test_faults_are_one_line(report, results, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(results, other)
    manifest = json.loads((other / "manifest.json").read_text(encoding="utf-8"))
    (other / "manifest.json").write_text(json.dumps({**manifest, "format": 99}), encoding="utf-8")
    torn = tmp_path / "torn"
    shutil.copytree(results, torn)
    next((torn / "shards").glob("check-*")).write_bytes(b"PAR1")
    empty = tmp_path / "empty"
    shutil.copytree(results, empty, ignore=shutil.ignore_patterns("*.parquet"))
    for arguments, said in [
        ([tmp_path / "none"], "none"),
        ([other], "other"),
        ([torn], "torn"),
        ([empty], "no finished shard"),
        ([results, "--output", tmp_path / "no" / "folder.html"], "no such file or directory"),
        ([], "Missing argument"),
    ]:
        status, out, err = report(*arguments)
        assert (status, out) == (2, ""), arguments
        assert err.count("\n") == 1
        assert said in err
