"""Rows at the nodes of drafted trees are the models' own."""

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.simulators.commands.entry import enter
from studies.tree_designs.__main__ import main

RECORD = "record", "--count", "2", "--tokens", "4", "--tree", "2x2", "--tree", "5"


def test_the_nodes_of_drafted_trees_are_written_with_their_places(tmp_path):
    """Every row is the models' own after the text and the path, which the cache must not change."""
    import torch

    from draftproof.gpu.drafters.choose import pair
    from draftproof.gpu.sampling.rows import Sampling
    from studies.tree_designs.designs import Trees, measured
    from studies.tree_designs.nodes import Nodes

    path = tmp_path / "rows.npz"
    assert enter(main, [*RECORD, "--out", str(path)]) == 0
    recorded = Trees(path)
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
    from draftproof.gpu.sampling.rows import Sampling
    from studies.tree_designs.nodes import Nodes
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


def test_trees_that_cannot_be_are_bad_input(tmp_path, capsys):
    out = str(tmp_path / "rows.npz")
    for tree, said in (("oak", "'oak' is no tree"), ("256", "exceeds the models' context")):
        assert enter(main, ["record", "--count", "1", "--tree", tree, "--out", out]) == 2
        assert said in capsys.readouterr().err
