"""Coins with names, the schemes that use them, and how a setting is written."""

from itertools import pairwise, product
from pathlib import Path

import pytest
from flint import fmpq

from draftproof.simulators.laws.enumerate import outcomes
from draftproof.theory.errors import BadInput
from draftproof.theory.keys import SCHEMES, keys
from draftproof.theory.law import Law
from draftproof.theory.shared.coins import Coins
from draftproof.theory.targets.green import average

ROWS = [(fmpq(1, 5), fmpq(3, 10), fmpq(1, 2)), (fmpq(1, 2), fmpq(0), fmpq(1, 2)), (fmpq(0), fmpq(1), fmpq(0))]


def joint(*asked):
    """The joint law of the tokens that are drawn from rows with names."""

    def program(oracle):
        coins = Coins(oracle)
        return tuple(coins.choose(row, name) for row, name in asked)

    return Law((word, mass) for mass, word in outcomes(program))


@pytest.mark.parametrize(("p", "q"), [*product(ROWS, repeat=2)])
def test_two_rows_of_one_name_are_inverted_by_one_uniform(p, q):
    cuts = sorted({sum(row[:n], fmpq(0)) for row in (p, q) for n in range(4)})
    want = {}
    for low, high in pairwise(cuts):
        word = tuple(max(x for x in range(3) if sum(row[:x], fmpq(0)) <= low) for row in (p, q))
        want[word] = want.get(word, fmpq(0)) + high - low
    assert joint((p, ("A",)), (q, ("A",))) == Law(want)


def test_other_names_and_none_are_independent():
    p, q = ROWS[:2]
    want = Law(((x, y), p[x] * q[y]) for x in range(3) for y in range(3))
    assert (
        joint((p, ("A",)), (q, ("B",)))
        == want
        == joint((p, None), (q, ("A",)))
        == joint((p, None), (q, None))
    )


def test_a_coin_of_a_name_is_below_what_it_was_below_before():
    def program(oracle):
        coins = Coins(oracle)
        return coins.accept(fmpq(1, 3), ("R",)), coins.accept(fmpq(1, 2), ("R",)), coins.accept(fmpq(1, 2))

    found = {}
    for mass, (low, high, _) in outcomes(program):
        found[low, high] = found.get((low, high), 0) + mass
    assert found == {(True, True): fmpq(1, 3), (False, True): fmpq(1, 6), (False, False): fmpq(1, 2)}


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("row", ROWS)
def test_over_keys_a_scheme_draws_from_the_row_or_from_its_declared_law(name, row):
    scheme = SCHEMES[name]

    def program(oracle):
        coins, label = Coins(oracle), ("A", ())
        if scheme.rows is None:
            return (scheme.draw(coins, row, label),)
        return (coins.choose(scheme.rows(coins, row, label, scheme.parameter)),)

    want = row if scheme.law is None else average(row, row, scheme.parameter)
    assert Law((word, mass) for mass, word in outcomes(program)) == Law(((x,), m) for x, m in enumerate(want))


def test_every_scheme_has_a_known_source():
    known = (Path(__file__).parents[3] / "references.bib").read_text(encoding="utf-8")
    for scheme in SCHEMES.values():
        assert scheme.source.startswith("ours") or f"{{{scheme.source.split(',')[0].split(';')[0]}," in known


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("dual", "no keyed scheme is named 'dual'"),
        ("dual-key:1/2", "dual-key has no parameter"),
        ("linear:2", "linear: the parameter is from 0 to 1"),
        ("green:-1", "green: the parameter is from 0 up"),
        ("green:x", "'x' is not a number"),
        ("gumbel,width=x", "'width=x' is not one of none, committed, drafted"),
        ("gumbel,width=999", "is not one of"),
        ("gumbel,sometimes", "is not one of"),
    ],
)
def test_wrong_words_are_one_line(words, said):
    with pytest.raises(BadInput, match=said):
        keys(words)
