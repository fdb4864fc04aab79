"""`draftproof gpu record` writes what `draftproof gap --rows` reads."""

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.simulators.study.recorded import Recorded

SMALL = ("--device", "cpu", "--count", 2, "--tokens", 9, "--every", 4)


def test_rows_of_both_models_are_written(run, tmp_path):
    path = tmp_path / "rows.npz"
    status, out, err = run("record", *SMALL, "--out", path)
    assert (status, err) == (0, "")
    assert out == f"{path}: 6 rows of 1,024 tokens from 2 prompts\n"
    recorded = Recorded(path)
    assert recorded.sequence.tolist() == [0, 0, 0, 1, 1, 1]
    p, q = next(recorded.rows())
    assert 0 < np.abs(p - q).sum() < 2


def test_the_temperature_is_that_of_both_rows(run, tmp_path):
    path = tmp_path / "rows.npz"
    assert run("record", *SMALL, "--temperature", 0, "--out", path)[0] == 0
    assert all(row.max() == 1 for pair in Recorded(path).rows() for row in pair)


def test_drafters_without_rows_are_refused(run, tmp_path):
    status, _, err = run("record", *SMALL, "--drafter", "ngram", "--out", tmp_path / "rows.npz")
    assert status == 2
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_bad_input(run, tmp_path):
    status, _, err = run("record", *SMALL, "--out", tmp_path / "none" / "rows.npz")
    assert status == 2
    assert "no such file" in err
