import json
from decimal import Decimal
from fractions import Fraction

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import DIGITS, exact, text
from tests.checks import assert_one_line

fractions = st.fractions().map(lambda f: fmpq(f.numerator, f.denominator))
spelled_decimals = st.from_regex(
    r"[+-]?([0-9]{1,20}\.?[0-9]{0,20}|\.[0-9]{1,20})([eE][+-]?[0-9]{1,2})?", fullmatch=True
)
not_numbers = [
    "",
    " ",
    "1/",
    "/2",
    ".",
    "e5",
    "-",
    "1 / 2",
    " 1",
    "1\n",
    "0x1",
    "1_0",
    "1,5",
    "nan",
    "NaN",
    "inf",
]
not_numbers += ["-Infinity", "½", "٣", "1/-2", "1/2/3", "1.5/2", "1e", "1e1.5", "True", "None"]


@given(fractions)
def test_reading_undoes_writing(number):
    assert exact(text(number)) == number


@given(spelled_decimals)
def test_decimals_are_read_exactly_as_written(spelling):
    want = Fraction(spelling)
    assert exact(spelling) == fmpq(want.numerator, want.denominator)


@given(st.integers(), st.integers(1))
def test_fractions_are_read_exactly_as_written(top, bottom):
    assert exact(f"{top}/{bottom}") * bottom == top
    assert exact(top) == top


def test_a_tenth_is_a_tenth():
    assert exact("0.1") * 10 == 1
    assert exact("1e-1") == exact(".1") == exact("1/10")


@given(fractions)
def test_exact_numbers_pass_through(number):
    assert exact(number) is number


@given(st.fractions())
def test_fractions_are_read_and_made(value):
    number = exact(value)
    assert exact(Fraction(number)) == number
    assert Fraction(number) == value == Fraction(text(number))
    assert Fraction(number) + Fraction(1, 3) == value + Fraction(1, 3)
    assert hash(Fraction(number)) == hash(value)
    assert json.loads(json.dumps(text(number))) == str(value)
    assert float(text(number)) == float(value)


@given(st.floats())
def test_every_float_is_refused(value):
    with pytest.raises(BadInput, match="is a float") as caught:
        exact(value)
    assert_one_line(caught.value)


@pytest.mark.parametrize("value", [True, False, None, [], {}, (1,), b"1", 1j, Decimal("0.5"), ["1"] * 99])
def test_what_is_not_a_number_is_refused(value):
    with pytest.raises(BadInput, match="is not a number") as caught:
        exact(value)
    assert_one_line(caught.value)


@pytest.mark.parametrize("spelling", not_numbers)
def test_what_does_not_spell_a_number_is_refused(spelling):
    with pytest.raises(BadInput, match="is not a number such as") as caught:
        exact(spelling)
    assert_one_line(caught.value)


@pytest.mark.parametrize("spelling", ["1/0", "0/0", "-1/000"])
def test_division_by_zero_is_refused(spelling):
    with pytest.raises(BadInput, match="divides by zero"):
        exact(spelling)


@pytest.mark.parametrize(
    "spelling", ["9" * (2 * DIGITS + 1), "1/" + "9" * 10**6, "0." + "0" * 3 * DIGITS + "1"]
)
def test_too_many_digits_are_refused_at_once(spelling):
    with pytest.raises(BadInput, match=f"more than {DIGITS} digits") as caught:
        exact(spelling)
    assert_one_line(caught.value)


@pytest.mark.parametrize(
    "spelling", [f"1e{DIGITS + 1}", f"1e-{DIGITS + 1}", "1e999999999999", "1e-" + "9" * 50]
)
def test_exponents_out_of_range_are_refused_at_once(spelling):
    with pytest.raises(BadInput, match="exponent beyond") as caught:
        exact(spelling)
    assert_one_line(caught.value)


def test_the_largest_exponents_are_exact():
    assert exact(f"1e{DIGITS}") == 10**DIGITS
    assert exact(f"1e-{DIGITS}") * exact(f"1e{DIGITS}") == 1


@pytest.mark.parametrize("mix", [lambda a: a + 0.5, lambda a: 0.5 * a, lambda a: a / 2.0, lambda a: a < 0.5])
def test_exact_numbers_do_not_mix_with_floats(mix):
    with pytest.raises(TypeError):
        mix(exact("1/3"))
