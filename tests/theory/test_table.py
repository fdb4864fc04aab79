import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.support.make import prefixes
from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import exact
from draftproof.theory.table import Table
from tests.checks import assert_one_line
from tests.problems import in_floats
from tests.strategies import rows, tables

anywhere = st.lists(st.integers(0, 1), max_size=5).map(tuple)
some_rows = st.dictionaries(st.lists(st.integers(0, 1), max_size=3).map(tuple), rows(2)).flatmap(
    lambda given: rows(2).map(lambda root: {**given, (): root})
)


@given(some_rows, anywhere)
def test_a_prefix_falls_back_to_its_longest_given_suffix(given_rows, prefix):
    longest = next(prefix[i:] for i in range(len(prefix) + 1) if prefix[i:] in given_rows)
    table = Table.exact(2, given_rows)
    assert table[prefix] == given_rows[longest]
    assert table[prefix] is table[prefix]  # emissions recognise the target's own rows by identity


def test_one_row_is_a_context_free_table():
    coin = Table.exact(2, {(): ["1/3", "2/3"]})
    assert all(coin[prefix] == (exact("1/3"), exact("2/3")) for prefix in prefixes(2, 4))


@given(tables(3, 1))
def test_a_table_of_every_last_token_is_a_markov_chain(table):
    assert all(table[prefix] == table[prefix[-1:]] for prefix in prefixes(3, 3))


@given(some_rows)
def test_what_is_given_can_be_read_again(given_rows):
    table = Table.exact(2, given_rows)
    assert dict(table.given()) == given_rows
    table[(0, 1, 1, 0, 1)]
    assert dict(table.given()) == given_rows  # looking up adds nothing
    assert table == Table.exact(2, given_rows)
    assert hash(table) == hash(Table.exact(2, given_rows))
    assert pickle.loads(pickle.dumps(table)) == table


@given(tables(2, 1), tables(2, 1))
def test_tables_are_equal_when_their_rows_are(a, b):
    assert (a == b) == (dict(a.given()) == dict(b.given()))
    assert a != dict(a.given())


@given(tables(3, 1))
def test_floats_are_the_nearest_to_the_rationals(table):
    for prefix, row in in_floats(table).given():
        assert [type(x) for x in row] == [float] * 3
        assert row == tuple(int(x.p) / int(x.q) for x in table[prefix])


FAULTS = {
    "missing root": (2, {(0,): [1, 0]}, "empty prefix is missing"),
    "no rows": (2, {}, "empty prefix is missing"),
    "no vocabulary": (0, {(): []}, "vocab must be a whole number from 1, not 0"),
    "negative vocabulary": (-3, {(): [1]}, "vocab must be a whole number from 1, not -3"),
    "too short": (3, {(): ["1/3", "2/3"]}, "row '': has 2 entries, vocab is 3"),
    "too long": (2, {(): ["1/3"] * 3}, "row '': has 3 entries, vocab is 2"),
    "empty": (2, {(): [1, 0], (1, 0): []}, "row '1 0': has 0 entries, vocab is 2"),
    "negative": (2, {(): ["-1/3", "4/3"]}, "row '': has a negative entry"),
    "sum below 1": (2, {(): [1, 0], (0,): ["1/3", "1/3"]}, "row '0': sums to 2/3, not 1"),
    "sum above 1": (2, {(): [1, 1]}, "row '': sums to 2, not 1"),
    "nearly 1": (2, {(): ["1/2", "0.500000000000000000000000000001"]}, "row '': sums to 1 + 1e-30, not 1"),
    "nearly 1, below": (2, {(): ["1/2", "0.4" + "9" * 29]}, "row '': sums to 1 - 1e-30, not 1"),
    "far above 1": (2, {(): ["1e999", "1e-999"]}, "row '': sums to"),
    "float": (2, {(): [0.5, 0.5]}, "row '': 0.5 is a float"),
    "not a number": (2, {(): [1, 0], (1,): ["1/2", "NaN"]}, "row '1': 'NaN' is not a number"),
    "boolean": (2, {(): [True, False]}, "row '': True is not a number"),
    "nothing": (2, {(): [None, 1]}, "row '': None is not a number"),
}


@pytest.mark.parametrize(("vocab", "given_rows", "fault"), FAULTS.values(), ids=FAULTS)
def test_every_fault_is_named(vocab, given_rows, fault):
    with pytest.raises(BadInput) as caught:
        Table.exact(vocab, given_rows)
    assert_one_line(caught.value, fault)
