"""The study of prices: its fast formulas are the exact ones, and it refuses a bound that is too low."""

import numpy as np
import pytest
from click.testing import CliRunner
from flint import fmpq

from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.support.make import prefixes
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from studies import prices
from studies.worst import share


def rows(instance):
    """Rows of p and of q [1, prefix, V]."""
    at = list(prefixes(instance.vocab, instance.draft.depth - 1))
    return (
        np.array([[[float(x) for x in table[prefix]] for prefix in at]])
        for table in (instance.target, instance.proposal)
    )


@pytest.mark.parametrize(("depth", "vocab"), [(2, 2), (2, 3), (3, 2)])
def test_prices_of_chains_are_exact(depth, vocab):
    for instance in Randoms(Chain(depth), vocab, 5):
        found = prices.chain_prices(*rows(instance))
        assert found == pytest.approx(float(1 / share(instance, "token", "block")))


@pytest.mark.parametrize("k", [2, 3])
def test_prices_of_nodes_are_exact(k):
    for instance in Randoms(Tree(every(k, 1), True), 3, 5):
        found = prices.node_prices(*rows(instance), k=k)
        assert found == pytest.approx(float(1 / share(instance, "specinfer", "stateless")))


def test_a_search_reports_what_is_above(monkeypatch):
    monkeypatch.setattr(prices, "GAMMAS", (2,))
    monkeypatch.setattr(prices, "KS", (2,))
    found = CliRunner().invoke(prices.prices, ["search", "--count", "1000"])
    assert found.exit_code == 0
    assert "K = 2, V = 4" in found.output
    monkeypatch.setattr(prices, "most", lambda *_: fmpq(11, 10))
    assert CliRunner().invoke(prices.prices, ["search", "--count", "1000"]).exit_code == 1


@pytest.mark.slow
def test_the_figure_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    assert CliRunner().invoke(prices.prices, ["figure", "--out", str(tmp_path)]).exit_code == 0
    assert (tmp_path / "prices.svg").exists()
