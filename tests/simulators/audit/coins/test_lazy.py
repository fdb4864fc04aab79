"""Lazy uniforms: what functions of them come out as, exactly, against laws known by hand."""

from collections import defaultdict

import numpy as np
import pytest
from flint import fmpq

from draftproof.simulators.audit.coins.bisection import law_by_boxes
from draftproof.simulators.audit.coins.forms import crossing
from draftproof.simulators.audit.coins.sources import Every, Fixed, Seeded
from draftproof.simulators.audit.coins.state import NotEnumerable, dyadic
from draftproof.simulators.audit.stand_ins.generators import Generator
from draftproof.simulators.laws.enumerate import outcomes
from draftproof.theory.numbers import ONE, ZERO

ROW = np.array([0.125, 0.5, 0.375])


def law(function):
    """{what the function returns: its probability}, as floats."""
    found = defaultdict(lambda: ZERO)
    for weight, result in outcomes(lambda oracle: function(Generator(Every(oracle)))):
        found[result] += weight
    assert sum(found.values(), ZERO) == ONE
    return {key: float(mass) for key, mass in found.items()}


def is_row(got, row=ROW):
    got = {x: mass for x, mass in got.items() if mass > 1e-16}  # 1 - u rounds to 1 that often
    assert set(got) == {x for x, mass in enumerate(row) if mass}
    assert all(abs(got[x] - row[x]) < 1e-15 for x in got)


DRAWS = {
    "choice": lambda rng: rng.choice(3, p=ROW),
    "choice of an array": lambda rng: rng.choice(np.array([0, 1, 2]), p=ROW),
    "searchsorted": lambda rng: int(np.searchsorted(np.cumsum(ROW), rng.random())),
    "searchsorted right": lambda rng: int(np.searchsorted(np.cumsum(ROW), rng.random(), side="right")),
    "count of edges": lambda rng: int((np.cumsum(ROW) <= rng.random()).sum()),
    "inversion, scaled": lambda rng: int((np.cumsum(8 * ROW) <= 8 * rng.random()).sum()),
    "complement": lambda rng: int((np.cumsum(ROW) < 1 - rng.random()).sum()),
    "exponential race": lambda rng: int(np.argmax(ROW / rng.exponential(size=3))),
    "race the other way": lambda rng: int(np.argmin(rng.standard_exponential(3) / ROW)),
    "race by logarithms": lambda rng: int(np.argmin(-np.log(rng.random(3)) / ROW)),
    "race by log1p": lambda rng: int(np.argmin(-np.log1p(-rng.random(3)) / ROW)),
    "Gumbel": lambda rng: int(np.argmax(np.log(ROW) + rng.gumbel(size=3))),
    "Gumbel by hand": lambda rng: int(np.argmax(np.log(ROW) - np.log(-np.log(rng.random(3))))),
    "Gumbel, doubled": lambda rng: int(np.argmax(2 * (np.log(ROW) + rng.gumbel(size=3)))),
}


@pytest.mark.parametrize("name", DRAWS)
def test_every_way_to_draw_gives_the_row(name):
    is_row(law(DRAWS[name]))


def test_a_token_of_probability_zero_is_never_drawn():
    row = np.array([0.25, 0.0, 0.75])
    with np.errstate(divide="ignore"):
        is_row(law(lambda rng: int(np.argmax(row / rng.exponential(size=3)))), row)
        is_row(law(lambda rng: int(np.argmax(np.log(row) + rng.gumbel(size=3)))), row)


def test_a_coin_used_twice_is_seen_as_used_twice():
    def twice(rng):
        u = rng.random()
        return bool(u < 0.25), bool(2 * u < 1.0), bool(1 - u < 0.25)

    quarters = [(True, True, False), (False, True, False), (False, False, False), (False, False, True)]
    got = law(twice)
    assert set(got) == set(quarters)
    assert all(abs(mass - 0.25) < 1e-15 for mass in got.values())


def test_noise_used_twice_is_seen_as_used_twice():
    def twice(rng):
        E = rng.exponential(size=2)
        return int(np.argmin(E)), int(np.argmin(E / np.array([0.25, 0.75])))

    got = law(twice)
    assert got == {(0, 0): 0.25, (0, 1): 0.25, (1, 1): 0.5}


def test_a_product_of_coins():
    half = (1 + np.log(2)) / 2
    for cumulated in (
        lambda rng: bool(np.cumprod(rng.random(2))[1] < 0.5),
        lambda rng: bool(np.prod(rng.random(2)) < 0.5),
    ):
        assert abs(law(cumulated)[True] - half) < 1e-15


def test_products_remember_their_parts():
    def function(rng):
        u = rng.random(2)
        return bool(u[0] < 0.5), bool(u[0] * u[1] < 0.5)

    got = law(function)
    assert got.keys() == {(True, True), (False, True), (False, False)}
    assert abs(got[True, True] - 0.5) < 1e-15


def test_integers_minima_and_caps():
    is_row(law(lambda rng: int(rng.random() * 4)), [0.25] * 4)
    is_row(law(lambda rng: int(np.floor(rng.random() * 4 - 0) + 0)), [0.25] * 4)
    assert law(lambda rng: bool(min(rng.random(), 0.5) < 0.25)) == {True: 0.25, False: 0.75}
    assert law(lambda rng: bool(np.maximum(rng.random(1), 0.5)[0] < 0.75)) == {True: 0.75, False: 0.25}


def test_orders_are_equally_likely():
    found = law(lambda rng: tuple(np.argsort(rng.random(3)).tolist()))
    assert all(abs(mass - 1 / 6) < 1e-15 for mass in found.values())
    assert len(found) == 6


def test_float32_coins_break_where_float32_says():
    def function(rng):
        return bool(rng.random(dtype=np.float32) * np.float32(3) < np.float32(1))

    assert abs(law(function)[True] - 1 / 3) < 2.0**-24


def number_and_race(rng):
    u = rng.random(2)
    return bool(u[0] < 0.5), int(np.argmax(u))


def race_and_number(rng):
    u = rng.random(2)
    return int(np.argmax(u)), bool(u[0] < 0.5)


@pytest.mark.parametrize(
    "function",
    [
        lambda rng: float(rng.random()),
        lambda rng: hash(rng.random()),
        lambda rng: f"{rng.random()}",
        number_and_race,
        race_and_number,
        lambda rng: rng.random(3).sum() < 1,
        lambda rng: np.log(rng.random(2)).sum() < -1,
        lambda rng: rng.integers(2**40) < 2**39,
        lambda rng: rng.random() < 0.25 * rng.random(),
        lambda rng: np.argmax(rng.random(3) ** (1 / ROW)),
        lambda rng: rng.random() // 0.5,
        lambda rng: abs(rng.random() - 0.5) < 0.1,
        lambda rng: rng.multinomial(1, ROW).argmax(),
        lambda rng: rng.permutation(3),
        lambda rng: rng.normal(),
        lambda rng: np.sin(rng.random() * 7) < 0.1,
        lambda rng: (rng.random() - 0.5) ** 2 < 0.1,
    ],
)
def test_what_has_no_exact_account_is_refused(function):
    with pytest.raises((NotEnumerable, TypeError)):
        law(function)


def test_seeded_streams_repeat():
    def function(oracle):
        source = Every(oracle)
        a, b = (Generator(Seeded(source, 7)).random() for _ in range(2))
        return bool(a < 0.5) == bool(b < 0.5)

    assert list(outcomes(function)) == [(fmpq(1, 2), True), (fmpq(1, 2), True)]


def test_bad_weights_are_told_in_numpys_words():
    for p in ([0.5, 0.6], [np.nan, 1.0], [-0.5, 1.5]):
        with pytest.raises(ValueError, match=r"[Pp]robabilities"):
            law(lambda rng, p=p: rng.choice(2, p=p))


def test_floats_are_exact_and_thresholds_are_found():
    assert dyadic(0.75) == fmpq(3, 4)
    assert crossing((("*", 4.0),), np.float64, True, 1.0) == fmpq(1, 4)


def test_fixed_coins_are_returned_as_they_are():
    rng = Generator(Fixed([0.25, 0.5]))
    assert (float(rng.random()), rng.integers(4), rng.choice(3, p=[0.0, 0.5, 0.5])) == (0.25, 0, 1)


def test_a_plain_number_is_followed_by_bisection():
    found = law_by_boxes(lambda source: int(float(source.uniform()) < 0.25), ONE)
    assert sorted(each[:2] for each in found) == [(fmpq(1, 4), 1), (fmpq(3, 4), 0)]
