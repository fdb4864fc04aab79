"""Damaged shards, and names that look like HTML, markup or escapes: nothing is lost or executed."""

import json
from pathlib import Path

import pytest

pytest.importorskip("duckdb")

RULE = """
def verify(oracle, draft, target):
    return draft.root, target[draft.root.prefix]
"""
NAMES = [
    '"><img src=x onerror=alert(1)>.py',
    "<script>alert(1)<script>.py",
    "[bold red]x[-bold].py",
    "\x1b[31mred\x07.py",
    "a b&amp;$HOME`id`.py",
]
SWEPT = """
metrics = ["check", "gap"]
drafts = ["chain:1"]
rows = {kind = "random", count = 4}
verifiers = %s
"""


@pytest.fixture
def swept(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*names: str) -> tuple[int, str, str]:
        Path("own.toml").write_text(SWEPT % json.dumps([*names]))
        return command("sweep", "own.toml", "--workers", 1)

    return run


@pytest.mark.parametrize("name", NAMES)
def test_names_are_shown_and_not_executed(swept, command, name):
    Path(name).write_text(RULE)
    status, out, err = swept(f"{name}:verify")
    assert status == 0, err
    assert "\x1b" not in out
    assert "\x07" not in out
    if name.isprintable():
        assert "".join(name.split()) in "".join(out.replace("│", "").split()).replace(":verify", "")[
            :10_000
        ] or (name[:8] in out)
    assert command("report", "results/own")[0] == 0
    page = Path("report.html").read_text(encoding="utf-8")
    assert "<img src" not in page
    assert "<script>alert" not in page
    shown = page.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    assert {row["verifier"] for row in json.loads(shown)["verdicts"]} == {f"{name}:verify"}
    Path("toy[red].json").write_text(
        '{"vocab": 2, "target": {"": ["1/3", "2/3"]}, "proposal": {"": ["2/3", "1/3"]}, "draft": "chain:1"}'
    )
    for asked in ("law", "check", "gap"):
        status, out, err = command(asked, "toy[red].json", "--verifier", f"{name}:verify")
        assert (status, "\x1b" in out + err) == (0, False), err


DAMAGE = {
    "cut": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "other": lambda content: b"PAR1" + b"\0" * 100,
    "text": lambda content: b"<html>",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_shard_is_one_line_for_a_reader_and_computed_again(swept, command, damage):
    assert swept("token", "block")[0] == 0
    shards = sorted(Path("results/own/shards").glob("*.parquet"))
    before = {path: path.read_bytes() for path in shards}
    shards[0].write_bytes(DAMAGE[damage](before[shards[0]]))
    status, out, err = command("report", "results/own")
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert swept("token", "block")[0] == 0
    assert {path: path.read_bytes() for path in shards} == before
    assert command("report", "results/own")[0] == 0
