"""The results folder: whole shards or none, one writer, and what a full disk costs."""

import errno
import json
import os

import pytest

from draftproof.simulators.study.configuration import parsed
from draftproof.simulators.study.store import opened, sources
from draftproof.theory.errors import BadInput

ABOUT = {
    "format": 1,
    "draftproof": "0.1.0",
    "sources": {"draftproof": "abc", "mine.py:verify": "def"},
    "versions": {"numpy": "2"},
    "metrics": ["check"],
    "digest": "d",
}


def kept(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "shards").glob("*.parquet")}


def test_what_is_kept_is_there_when_it_is_opened_again(tmp_path):
    with opened(tmp_path / "deep" / "er", ABOUT) as store:
        store.write("shards/check-000000.parquet", b"one")
    with opened(tmp_path / "deep" / "er", ABOUT) as store:
        assert store.finished() == {"check-000000"}


@pytest.mark.parametrize(
    ("key", "there", "said"),
    [
        ("format", 0, "holds results of results format 0, this is 1"),
        ("draftproof", "0.0.9", "holds results of draftproof 0.0.9, this is 0.1.0"),
        ("versions", {"numpy": "1"}, "holds results of numpy 1, this is 2"),
        ("sources", {"draftproof": "xyz"}, "holds results of another state of draftproof"),
        ("sources", {"draftproof": "abc"}, "holds results of another state of mine.py:verify"),
        ("digest", "e", "holds results of another configuration"),
    ],
)
def test_results_of_something_else_are_left_alone(tmp_path, key, there, said):
    with opened(tmp_path, {**ABOUT, key: there}) as store:
        store.write("shards/check-000000.parquet", b"one")
    before = kept(tmp_path)
    with pytest.raises(BadInput, match=said), opened(tmp_path, ABOUT):
        pass
    assert kept(tmp_path) == before


def test_a_folder_where_nothing_was_finished_is_taken_over(tmp_path):
    with opened(tmp_path, {**ABOUT, "digest": "e"}):
        pass
    with opened(tmp_path, ABOUT):
        pass
    assert json.loads((tmp_path / "manifest.json").read_text()) == ABOUT


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(BadInput, match="holds no results of a sweep"), opened(tmp_path, ABOUT):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_one_sweep_at_a_time(tmp_path):
    with opened(tmp_path, ABOUT), pytest.raises(BadInput, match="another sweep"), opened(tmp_path, ABOUT):
        pass
    with opened(tmp_path, ABOUT):
        pass


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_is_one_line_and_costs_nothing_that_was_finished(tmp_path, monkeypatch, call):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with opened(tmp_path, ABOUT) as store:
        store.write("shards/check-000000.parquet", b"one")
        monkeypatch.setattr("pathlib.Path.replace" if call == "replace" else "os.fsync", full)
        with pytest.raises(BadInput, match="the disk is full; finished chunks are kept"):
            store.write("shards/check-000001.parquet", b"two")
        monkeypatch.undo()
        assert kept(tmp_path) == {"check-000000.parquet": b"one"}
        store.write("shards/check-000001.parquet", b"two")
    assert len(kept(tmp_path)) == 2


def test_parts_that_a_kill_left_are_swept_away(tmp_path):
    with opened(tmp_path, ABOUT) as store:
        store.write("shards/check-000000.parquet", b"one")
    left = tmp_path / "shards" / ".77-check-000001.parquet"
    left.write_bytes(b"tw")
    with opened(tmp_path, ABOUT) as store:
        assert store.finished() == {"check-000000"}
        assert not left.exists()
    assert [path.name for path in (tmp_path / "shards").iterdir()] == ["check-000000.parquet"]


def test_a_part_is_no_finished_shard(tmp_path):
    with opened(tmp_path, ABOUT) as store:
        (tmp_path / "shards" / ".77-check-000001.parquet").write_bytes(b"tw")
        assert store.finished() == set()


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="file"), opened(tmp_path / "file", ABOUT):
        pass


def test_a_text_is_among_the_sources(tmp_path):
    (tmp_path / "text").write_text("abracadabra")
    [entry] = parsed({"metrics": ["check"], "rows": {"kind": "text", "file": str(tmp_path / "text")}})
    before = sources([entry])
    assert before.keys() == {"draftproof", str(tmp_path / "text")}
    (tmp_path / "text").write_text("hocus pocus")
    assert sources([entry])[str(tmp_path / "text")] != before[str(tmp_path / "text")]
