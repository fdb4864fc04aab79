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


def test_the_nodes_of_drafted_trees_are_written_with_their_places(run, tmp_path):
    """Every row is the models' own after the text and the path, which the cache must not change."""
    import torch

    from draftproof.gpu.drafters.choose import pair
    from draftproof.gpu.drafters.recorded_rows import Nodes
    from draftproof.gpu.sampling.rows import Sampling
    from draftproof.simulators.study.recorded_trees import measured

    path = tmp_path / "rows.npz"
    assert run("record", *SMALL, "--tokens", 4, "--tree", "2x2", "--tree", "5", "--out", path)[0] == 0
    recorded = Recorded(path)
    assert recorded.trees == ("2x2", "5")
    assert (recorded.parent < 0).sum() == 2
    assert len(measured(recorded)) > 10
    target, drafter = pair("shipped", None, "cpu", None)
    nodes = Nodes(target, drafter.model, [5, 6, 7], Sampling(0.6))
    for prefix in ((), (8,), (8, 9), (10,), (8, 11)):
        _ = nodes[prefix]
        ids = torch.tensor([[5, 6, 7, *prefix]])
        with torch.no_grad():
            whole = [model.network(ids).logits[0, -1:, : target.vocab] for model in (target, drafter.model)]
        rows = [Sampling(0.6).rows(each)[0].numpy() for each in whole]
        np.testing.assert_allclose(nodes.seen[prefix], rows, atol=1e-5)
    assert nodes.arrays(10)["parent"].tolist() == [-1, 10, 11, 10, 11]


def test_rows_at_nodes_beyond_a_window_and_of_a_network_with_states():
    import torch

    from draftproof.gpu.checks.row_test import checked
    from draftproof.gpu.drafters.recorded_rows import Nodes
    from draftproof.gpu.sampling.rows import Sampling
    from tests.gpu.architectures import WINDOW, model

    both = [checked(model(name)) for name in ("mistral", "lfm2")]
    text = [1 + x % 40 for x in range(WINDOW + 6)]
    nodes = Nodes(*both, text, Sampling())
    for prefix in ((), (8,), (8, 9), (10,), (8, 11)):
        _ = nodes[prefix]
        with torch.no_grad():
            whole = [each.network(torch.tensor([[*text, *prefix]])).logits[0, -1:] for each in both]
        rows = [Sampling().rows(each)[0].numpy() for each in whole]
        np.testing.assert_allclose(nodes.seen[prefix], rows, atol=1e-5)


def test_trees_that_cannot_be_are_bad_input(run, tmp_path):
    status, _, err = run("record", *SMALL, "--tree", "oak", "--out", tmp_path / "rows.npz")
    assert status == 2
    assert "'oak' is no tree" in err
    status, _, err = run("record", *SMALL, "--tree", "4000", "--out", tmp_path / "rows.npz")
    assert status == 2
    assert "exceeds the models' context" in err
