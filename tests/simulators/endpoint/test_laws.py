"""The law that a row and a setting give, beside the plainest computation of it."""

import numpy as np
import pytest

from draftproof.simulators.endpoint.laws import PLAIN, Setting, law
from tests.simulators.endpoint.fake import NAMES, VOCAB, exact, row, under

SETTINGS = [
    PLAIN,
    Setting(temperature=0.5),
    Setting(top_k=3),
    Setting(top_p=0.6),
    Setting(min_p=0.3),
    Setting(top_k=5, top_p=0.7),
    Setting(presence_penalty=1.0, frequency_penalty=0.5),
    Setting(temperature=2.0, top_k=4),
]


def shown(last, most=VOCAB):
    """A row as a server shows it."""
    best = np.argsort(-row(last))[:most]
    return {NAMES[x]: float(row(last)[x]) for x in best}


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("most", [VOCAB, 6])
def test_masses_are_those_of_the_exact_law_given_what_is_listed(setting, most):
    near = 0
    for last in range(VOCAB):
        before = [1, 1, 4]
        want = exact(setting, last, before)
        found = law(shown(last, most), setting, [NAMES[x] for x in before])
        listed = [want[NAMES.index(token)] for token in found.tokens]
        kept = 1.0 if found.rest is not None else sum(listed)
        listed = np.array(listed) / (sum(listed) if found.either else kept)
        assert found.upper == pytest.approx(listed, abs=1e-9)
        near += bool(found.either)
        if found.rest == 0:
            forbidden = {NAMES[x] for x in np.flatnonzero(want == 0)} - {*found.either}
            assert all(found.place(token) == -1 for token in forbidden)
    assert near <= VOCAB // 4


@pytest.mark.parametrize("setting", [each for each in SETTINGS if each.filters], ids=str)
@pytest.mark.parametrize("banned", [[], [4], [0]])
def test_hidden_ends_are_kept_by_filters_or_forbidden_before_them(setting, banned):
    """Which of both, is not known; either way no token is called forbidden that may come out."""
    end, judged = (banned or [4])[0], 0
    for last in range(VOCAB):
        want = under({**vars(PLAIN), **vars(setting), "banned": banned}, last, [])
        given = {f"<{name}>" if name == NAMES[end] else name: value for name, value in shown(last).items()}
        found = law(given, setting, ends_shown=False)
        others = [x for x in range(VOCAB) if x != end]
        assert all(found.place(NAMES[x]) != -1 for x in others if want[x] > 0)
        if found.rest == 0:
            listed = np.array([want[NAMES.index(token)] for token in found.tokens])
            assert found.upper == pytest.approx(listed / listed.sum(), abs=1e-9)
            judged += any(found.place(NAMES[x]) == -1 for x in others)
    assert judged > VOCAB // 2


def test_what_is_near_a_bound_may_be_kept_or_dropped():
    even = dict.fromkeys("abc", float(np.log(1 / 3)))
    assert law(even, Setting(top_k=2)).tokens == ()  # nothing can be said
    near = {"a": float(np.log(0.6)), "b": float(np.log(0.3)), "c": float(np.log(0.1))}
    found = law(near, Setting(top_p=0.6))
    assert (found.tokens, found.either) == (("a",), ("b",))
    assert (found.place("b"), found.place("c")) == (None, -1)
    assert law(near, Setting(top_p=0.5)).either == ()


def test_the_emitted_token_does_not_decide_what_is_listed():
    row_with = {**shown(3, 5), "l": -9.0}
    assert "l" not in law(row_with, PLAIN, most=5).tokens
    assert law(row_with, PLAIN, most=5).place("l") == 5


def test_parts_of_characters_and_hidden_end_tokens_are_not_told_apart():
    given = {"a": float(np.log(0.5)), "\ufffd": float(np.log(0.2)), "</s>": float(np.log(0.3))}
    assert law(given, PLAIN).place("\ufffd") == 2
    alone = law(given, PLAIN, ends_shown=False)
    assert (alone.tokens, alone.place("</s>")) == (("a",), None)


@pytest.mark.parametrize("setting", [Setting(min_p=0.4), Setting(top_p=0.7), Setting(top_k=2)])
def test_of_rows_that_differ_much_filters_say_nothing(setting):
    rows = {"a": np.log(0.5), "b": np.log(0.3), "c": np.log(0.1)}
    assert law(rows, setting).tokens
    assert not law(rows, setting, close=1.5).tokens


def test_of_two_tokens_that_are_about_as_likely_either_may_be_ahead_under_top_p():
    rows = {"a": np.log(0.5), "b": np.log(0.06), "c": np.log(0.0595), "d": np.log(0.03)}
    own = law(rows, Setting(top_p=0.55))
    assert [own.place(each) for each in "abcd"] == [0, None, None, -1]
