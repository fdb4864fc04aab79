"""Coins with names, the schemes that use them, and how a setting is written."""

from collections import Counter
from itertools import product
from pathlib import Path
from random import Random

import pytest
from flint import fmpq

from draftproof.simulators.laws.enumerate import Invalid, outcomes
from draftproof.theory.errors import BadInput
from draftproof.theory.keys import SCHEMES, keys
from draftproof.theory.law import Law
from draftproof.theory.rows import normalise
from draftproof.theory.shared.coins import Coins, integral
from draftproof.theory.shared.races import target_law
from draftproof.theory.targets.green import average

ROWS = [(fmpq(1, 5), fmpq(3, 10), fmpq(1, 2)), (fmpq(1, 2), fmpq(0), fmpq(1, 2)), (fmpq(0), fmpq(1), fmpq(0))]


def joint(*asked):
    """The joint law of the tokens that are drawn from rows with names, or freshly."""

    def program(oracle):
        coins = Coins(oracle)
        return tuple(coins.choose(row, name) if name else oracle.choose(row) for row, name in asked)

    return Law((word, mass) for mass, word in outcomes(program))


def drawn(rng, vocab):
    weights = [rng.choice([0, 1, 1, 2, 3, 5]) for _ in range(vocab)]
    weights[0] += not sum(weights)
    return tuple(fmpq(w, sum(weights)) for w in weights)


@pytest.mark.parametrize("vocab", [2, 3, 4])
def test_two_rows_of_one_name_have_the_winners_of_one_race(vocab):
    rng = Random(vocab)
    for _ in range(20):
        p, q = drawn(rng, vocab), drawn(rng, vocab)
        found = joint((q, ("A",)), (p, ("A",)))
        for x in range(vocab):
            if q[x]:
                assert tuple(found[x, y] for y in range(vocab)) == target_law(p, q, (x,))


def test_at_two_tokens_a_race_is_the_inversion_of_one_uniform():
    p, q, r = ((a, 1 - a) for a in (fmpq(1, 5), fmpq(1, 2), fmpq(2, 3)))
    want = {(0, 0, 0): p[0], (1, 0, 0): q[0] - p[0], (1, 1, 0): r[0] - q[0], (1, 1, 1): r[1]}
    assert joint((p, ("A",)), (q, ("A",)), (r, ("A",))) == Law(want)


@pytest.mark.parametrize(("vocab", "count"), [(3, 3), (3, 4), (4, 3), (4, 4)])
def test_any_number_of_rows_have_one_law_in_whatever_order_they_are_read(vocab, count):
    rng = Random(10 * vocab + count)
    rows = [drawn(rng, vocab) for _ in range(count)]
    found = joint(*((row, ("A",)) for row in rows))
    for n, row in enumerate(rows):
        assert found.map(lambda word, n=n: word[n : n + 1]) == Law(((x,), m) for x, m in enumerate(row))
    order = rng.sample(range(count), count)
    other = joint(*((rows[n], ("A",)) for n in order))
    assert found.map(lambda word: tuple(word[n] for n in order)) == other


def test_many_rows_of_one_race_agree_with_drawn_clocks():
    rng, count = Random(4), 20_000
    rows = [drawn(rng, 4) for _ in range(3)]
    floats = [[max(float(mass), 1e-300) for mass in row] for row in rows]
    seen = Counter()
    for _ in range(count):
        clocks = [rng.expovariate(1) for _ in range(4)]
        seen[
            tuple(
                min(range(4), key=[e / q for e, q in zip(clocks, row, strict=True)].__getitem__)
                for row in floats
            )
        ] += 1
    exact = joint(*((row, ("A",)) for row in rows))
    assert seen.keys() <= exact.keys()
    apart = sum(
        (seen[word] - count * float(mass)) ** 2 / (count * float(mass)) for word, mass in exact.items()
    )
    assert apart < len(exact) + 5 * (2 * len(exact)) ** 0.5


def independent(p, q, drafts):
    """Clocks of several races, the target's the least of each token's: as `races` says, by the integral."""
    K, found = len(drafts), []
    rates = {K * x + k: fmpq(1) for x in range(len(p)) for k in range(K)}

    def wins(bounds, row, x, k, among):
        for y, j in product(range(len(row)), among):
            if row[y] and (y, j) != (x, k):
                pair = (K * y + j, K * x + k)
                bounds[pair] = max(bounds.get(pair, fmpq(0)), row[y] / row[x])

    for y, first in product(range(len(p)), range(K)):
        bounds = {}
        for k, x in enumerate(drafts):
            wins(bounds, q, x, k, [k])
        if p[y]:
            wins(bounds, p, y, first, range(K))
        found.append(integral(bounds, rates) if p[y] else fmpq(0))
    return tuple(sum(found[K * y : K * y + K], fmpq(0)) for y in range(len(p)))


@pytest.mark.parametrize(("vocab", "drafts"), [(3, (0, 1)), (3, (1, 1)), (2, (0, 1, 0)), (3, (0, 2, 1))])
def test_the_races_of_gls_are_such_integrals(vocab, drafts):
    p, q = (fmpq(1, 5), fmpq(3, 10), fmpq(1, 2)), (fmpq(1, 2), fmpq(1, 4), fmpq(1, 4))
    p, q = normalise(p[:vocab]), normalise(q[:vocab])
    assert independent(p, q, drafts) == target_law(p, q, drafts)


def test_a_row_that_is_no_law_has_no_winner_even_if_the_name_was_read_before():
    for first in ((fmpq(1, 2), fmpq(1, 2)), (fmpq(1, 3), fmpq(2, 3))):
        with pytest.raises(Invalid):
            joint((first, ("A",)), ((fmpq(1, 2), fmpq(1, 3)), ("A",)))


def test_other_names_and_none_are_independent():
    p, q = ROWS[:2]
    want = Law(((x, y), p[x] * q[y]) for x in range(3) for y in range(3))
    assert (
        joint((p, ("A",)), (q, ("B",)))
        == want
        == joint((p, None), (q, ("A",)))
        == joint((p, None), (q, None))
    )


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("row", ROWS)
def test_over_keys_a_scheme_draws_from_the_row_or_from_its_declared_law(name, row):
    scheme = SCHEMES[name]

    def program(oracle):
        return (oracle.choose(scheme.change(Coins(oracle), row, ("A", ()), scheme.parameter)),)

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
        ("linear:2", "linear: the parameter goes from 0 to 1"),
        ("green:-1", "green: the parameter goes from 0 up"),
        ("green:x", "'x' is not a number"),
        ("gumbel,width=x", "'width=x' is not one of none, committed, drafted"),
        ("gumbel,width=999", "is not one of"),
        ("gumbel,sometimes", "is not one of"),
    ],
)
def test_wrong_words_are_one_line(words, said):
    with pytest.raises(BadInput, match=said):
        keys(words)
