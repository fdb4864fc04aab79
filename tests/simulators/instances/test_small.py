"""Small helpers, each on an example that can be checked by hand."""

import numpy as np
import pyarrow as pa
from flint import fmpq
from hypothesis import find
from pyarrow import parquet

from draftproof.simulators import screen
from draftproof.simulators.instances import grids, randoms
from draftproof.simulators.instances.files import draft_of, spelled
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.laws.optimum import (
    best_full,
    best_stateless,
    full_information,
    one_level,
    stateless,
)
from draftproof.simulators.laws.verdict import Wrong, judge
from draftproof.simulators.laws.witness import rounded, shrink
from draftproof.simulators.study.gap import expected, ratio
from draftproof.simulators.study.plan import encoded
from draftproof.simulators.study.report.page import script
from draftproof.simulators.study.report.sections import drafted
from draftproof.simulators.support.anytime import detectable
from draftproof.simulators.support.make import weighted
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import exact
from draftproof.theory.verifiers import named
from tests import strategies

THIRD = fmpq(1, 3)


def test_rows_are_made_of_weights():
    assert weighted([1, 0, 2]) == (THIRD, 0, 2 * THIRD)
    assert grids.rows(2, 2) == ((0, 2), (1, 1), (2, 0))
    assert randoms.rounded(np.array([[0.5], [0.25], [0.25]]), 3).tolist() == [[1], [1], [1]]
    assert rounded((exact("2/7"), exact("5/7")), 3) == (THIRD, 2 * THIRD)


def test_expected_tokens_on_the_toy():
    toy = scenario("toy", Chain(2))
    assert (expected(toy, named("token")), best_stateless(toy).lower) == (fmpq(10, 9), fmpq(11, 9))
    assert best_full(toy) == fmpq(4, 3)
    assert one_level(context_free(["1/3", "2/3"], ["2/3", "1/3"], Paths(2, 1))) == fmpq(8, 9)
    assert (ratio(fmpq(0), fmpq(0)), ratio(fmpq(1), fmpq(4, 3))) == (1.0, 0.75)


def test_a_table_is_a_parquet_file():
    found = parquet.read_table(pa.BufferReader(encoded(pa.table({"x": [0.5, 0.25]}))))
    assert found.column("x").to_pylist() == [0.5, 0.25]


def test_what_is_printed():
    assert (screen.shown(THIRD), screen.shown(fmpq(123456789, 987654321))) == ("1/3", "~0.125")
    wrong = Wrong((1, 0), exact("1/3"), exact("2/9"))
    assert str(wrong) == "tokens '1 0' come out first with probability 1/3, and should with 2/9"
    assert spelled((0, 1, 2)) == "0 1 2"
    tree = '{"kind": "tree", "shape": [[[]], []], "replacement": false}'
    assert drafted(tree) == "tree without replacement [[[]], []]"
    assert drafted('{"kind": "paths", "count": 2, "depth": 3}') == "paths, 2 of depth 3"
    assert "import " not in script()
    assert "export " not in script()


def test_a_counterexample_shrinks():
    def lossy(instance):
        return not judge(instance, named("hsd-released")).lossless

    small = shrink(next(each for each in Randoms(Chain(3), 3, 50) if lossy(each)), lossy)
    assert (small.vocab, small.draft.depth) == (2, 2)


def test_strategies_shrink_to_the_smallest():
    assert list(dict(find(strategies.tables(2, 1), lambda table: True).given())) == [(), (0,), (1,)]
    assert find(strategies.shapes(5, depth=2), lambda shape: len(shape) == 2) == ((), ())


def test_the_optima_of_a_toy():
    toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
    assert full_information(toy).value == exact("4/3")
    assert round(stateless(toy).value, 9) == 1.222222222


def test_a_draft_is_one_word_or_json():
    assert draft_of('{"kind": "chain", "depth": 2}') == Chain(2)
    assert draft_of("paths:2x3") == Paths(2, 3)


def test_the_detectable_total_variation():
    assert round(detectable(27, 20_000), 3) == 0.06
