"""Recorded rows: every fault one line, intervals clustered by sequence."""

import json

import numpy as np
import pytest

from draftproof import commands
from draftproof.simulators.commands.entry import enter
from draftproof.simulators.study.designs import COLUMNS, SIBLINGS
from draftproof.simulators.study.recorded import Recorded, half_width, measured
from draftproof.theory.errors import BadInput
from tests.checks import assert_one_line

RNG = np.random.default_rng(0)


def softmax(logits):
    rows = np.exp(logits - logits.max(-1, keepdims=True))
    return rows / rows.sum(-1, keepdims=True)


def made(path, n=6, vocab=12, dtype=np.float32, save=np.savez, **more):
    a, b = RNG.normal(0, 2, (2, n, vocab))
    arrays = {"target": softmax(a).astype(dtype), "proposal": softmax(a + b).astype(dtype), **more}
    save(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_rows_come_out_as_they_were_written(tmp_path, dtype, save):
    path = made(tmp_path / "rows.npz", dtype=dtype, save=save)
    with np.load(path) as arrays:
        wanted = list(zip(arrays["target"], arrays["proposal"], strict=True))
    for got, want in zip(Recorded(path).rows(), wanted, strict=True):
        for row, written in zip(got, want, strict=True):
            assert row == pytest.approx(written, rel=2e-2 if dtype == np.float16 else 1e-6)
            assert row.sum() == pytest.approx(1, abs=1e-12)


def test_every_column_is_measured_on_rows_evenly_spaced(tmp_path):
    recorded = Recorded(made(tmp_path / "rows.npz", n=9, sequence=np.arange(9) // 3))
    calls = []
    found = measured(recorded, 3, lambda: calls.append(1))
    assert len(calls) == 3
    assert [each.column for each in found] == list(COLUMNS)
    whole = list(recorded.rows())
    for each in found:
        rows = [whole[n] for n in (0, 4, 8)]
        if each.column.verifier != "rrs":
            values = [each.column.accepted(p, q, SIBLINGS, RNG) for p, q in rows]
            assert each.mean == pytest.approx(np.mean(values, axis=0).tolist())
        assert all(half is not None and half >= 0 for half in each.half_width)


def test_intervals_are_clustered():
    """Rows repeated within a sequence add nothing; of one sequence there is no interval."""
    values = RNG.normal(0, 1, 40)
    alone = half_width(values, np.arange(40))
    repeated = half_width(np.repeat(values, 5), np.repeat(np.arange(40), 5))
    assert repeated == pytest.approx(alone)
    assert half_width(np.repeat(values, 5), np.arange(200)) < 0.6 * alone
    assert half_width(values, np.zeros(40)) is None


def test_nine_in_ten_intervals_hold_the_mean():
    held = 0
    for _ in range(300):
        values = np.repeat(RNG.normal(0, 1, 12), 4) + RNG.normal(0, 0.3, 48)
        held += abs(values.mean()) <= half_width(values, np.repeat(np.arange(12), 4))
    assert 270 <= held <= 297


P = np.full((2, 4), 0.25)


@pytest.mark.parametrize(
    ("arrays", "fault"),
    [
        ({"target": P}, "no array 'proposal'"),
        ({"target": P, "proposal": P[:, :3]}, "proposal [2, 3]"),
        ({"target": P[0], "proposal": P[0]}, "target must be floats [n, V]"),
        ({"target": P.astype(int), "proposal": P}, "target must be floats [n, V]"),
        ({"target": P[:0], "proposal": P[:0]}, "0 rows"),
        ({"target": P, "proposal": P * 2}, "proposal: row 0 sums to 2"),
        ({"target": P * [[1], [np.nan]], "proposal": P}, "target: row 1 is not non-negative"),
        ({"target": P - [[0.5, -0.5, 0, 0]], "proposal": P}, "target: row 0 is not non-negative"),
        ({"target": P, "proposal": P, "sequence": [0.0, 1.0]}, "sequence must be 2 whole numbers"),
        ({"target": P, "proposal": P, "sequence": [0, 1, 2]}, "sequence must be 2 whole numbers"),
        ({"target": P.astype(object), "proposal": P}, "cannot be read"),
    ],
)
def test_faults_are_one_line(tmp_path, arrays, fault):
    np.savez(tmp_path / "rows.npz", **arrays)
    with pytest.raises(BadInput) as caught:
        measured(Recorded(tmp_path / "rows.npz"))
    assert_one_line(caught.value, "rows.npz", fault)


@pytest.mark.parametrize("content", [b"", b"nothing", None])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "rows.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInput, match=r"rows\.npz"):
        Recorded(path)


def test_a_file_that_ends_early_is_refused(tmp_path):
    path = made(tmp_path / "rows.npz", n=50, vocab=100)
    whole = path.read_bytes()
    path.write_bytes(whole[:-2000] + whole[-500:])
    with pytest.raises(BadInput, match=r"rows\.npz"):
        measured(Recorded(path))


def test_the_command(tmp_path, capsys):
    path = made(tmp_path / "rows.npz", sequence=np.array([0, 0, 1, 1, 2, 2]))
    assert enter(commands(), ["gap", "--rows", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "stratified" in shown
    assert "best at K = 4" in shown
    assert enter(commands(), ["gap", "--rows", str(path), "--count", "4", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["rows"], answer["vocab"], answer["sequences"]) == (4, 12, 3)
    assert enter(commands(), ["gap", "--rows", str(path), "--count", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sequences"] == 2
    assert len(answer["acceptance"]) == len(COLUMNS)


@pytest.mark.parametrize("extra", [["--vocab", "3"], ["--verifier", "token"]])
def test_options_of_other_modes_are_refused(tmp_path, capsys, extra):
    path = made(tmp_path / "rows.npz")
    assert enter(commands(), ["gap", "--rows", str(path), *extra]) == 2
    assert capsys.readouterr().err.count("\n") == 1
