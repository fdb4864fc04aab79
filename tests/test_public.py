"""Whatever is passed to a public function: it answers, or raises BadInput or its signature's TypeError."""

import math
from contextlib import suppress
from pathlib import Path

import pytest

import draftproof as dp
from draftproof.simulators.audit import Function
from draftproof.simulators.audit.judge.plan import Options, plan_of
from draftproof.theory.errors import BadInput
from tests.problems import TOY

P = {(): ["1/3", "2/3"]}
DEEP: list = []
for _ in range(3000):
    DEEP = [DEEP]


class Odd:
    """An object of which nothing can be asked."""

    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError

    def __repr__(self):
        raise RuntimeError


def verify(p, q, x, rng):
    return [int(rng.choice(len(p[0]), p=p[0]))]


WRONG = [
    *(None, True, False, 0.5, -1.5, math.nan, math.inf, 0, -1, 10**30, -(10**30), 2**63, 1 + 2j),
    *(b"x", b"", "", "\0", "nosuch", "no such file.json", "/", "a" * 5000, "\ud800", "token\n"),
    *("chain:0", "chain:999999999", "tree:2x2", "file.py:x", "os:path", "math:sqrt", "selection"),
    *([], [[]], [[[1]]], (), (1, 2), {}, {1: 2}, set(), range(3), iter([1]), DEEP, [None], ["block"]),
    *({"kind": "chain"}, {"": [1]}, {(): [1]}, {(): [0.5, 0.5]}, {(): "ab"}, {(0, 1.5): ["1", "0"]}),
    *(object(), Odd(), Odd, int, print, len, Exception(), ..., memoryview(b"ab")),
    *(Path("/dev/null/file"), Path("/"), TOY, dp.Chain(2), dp.verifiers["block"]),
]
TABLE = dp.Table.exact(2, P)
CALLS = {
    dp.read: ([__file__], {}),
    dp.Instance: ([TABLE, TABLE, "chain:2"], {}),
    dp.Table: ([2, P], {}),
    dp.Table.exact: ([2, P], {}),
    dp.Chain: ([2], {}),
    dp.BestFirst: ([4, 2], {}),
    dp.Paths: ([2, 2], {}),
    dp.SpecHub: ([2], {}),
    dp.Greedy: ([((), ())], {}),
    dp.Stratified: ([((), ())], {}),
    dp.TopK: ([((), ())], {}),
    dp.Tree: ([((), ())], {"replacement": False}),
    dp.check: ([TOY, "block"], {"force": False}),
    dp.law: ([TOY, "block"], {"iterations": 1, "force": False}),
    dp.gap: ([TOY, "block"], {"force": False}),
    dp.prove: (["token", "chain:1"], {"vocab": 2, "seconds": 5.0}),
    dp.replay: (
        [verify, TOY, "0 0", [0.5], [0, 1]],
        {"rounds": 1, "style": "verify", "dtype": None, "path": None},
    ),
    dp.vectors: (["token"], {"vocab": 2, "depth": 1, "draft": None, "calls": 1, "seed": 0}),
    dp.claims: (["token-lossless"], {"paper": None, "check": False}),
    dp.sweep: ([{"metrics": ["check"], "verifiers": ["token"]}, "{folder}"], {"workers": 1}),
    dp.report: (["{folder}", "{folder}/page.html"], {"title": None}),
    dp.Table.from_floats: ([2, {(): [0.25, 0.75]}], {}),
    TOY.write: (["{folder}/toy.json"], {}),
    dp.examine: ([verify], {}),
    dp.assert_lossless: ([verify], {}),
}
SLOW = {dp.gap: [pytest.mark.slow], dp.prove: [pytest.mark.slow], dp.replay: [pytest.mark.slow]}
CASES = [
    pytest.param(function, at, id=f"{function.__qualname__}-{at}", marks=SLOW.get(function, []))
    for function, (arguments, options) in CALLS.items()
    for at in [*range(len(arguments)), *options]
]


@pytest.mark.parametrize(("function", "at"), CASES)
def test_wrong_arguments(function, at, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments, options = CALLS[function]
    arguments = [x.format(folder=tmp_path) if isinstance(x, str) else x for x in arguments]
    for wrong in WRONG:
        given = [*arguments]
        if isinstance(at, int):
            given[at] = wrong
        named = options if isinstance(at, int) else options | {at: wrong}
        accepts(function, *given, **named)


@pytest.mark.parametrize("name", sorted(Options.__annotations__))
def test_wrong_options_of_an_audit(name):
    for wrong in WRONG:
        accepts(plan_of, Function(verify), {name: wrong})


def accepts(function, *arguments, **options):
    with suppress(BadInput):
        try:
            function(*arguments, **options)
        except TypeError as error:
            if error.__traceback__.tb_next is not None:  # not raised by the call itself
                raise


def test_what_the_command_line_takes(toy):
    for given in (toy, str(toy), TOY):
        assert dp.check(given, "block").lossless
        assert dp.gap(given, "token").expected_accepted
    assert dp.Instance(TABLE, TABLE, "tree:2x1").draft == dp.Tree(((), ()))
    assert dp.prove("token", "chain:1").verdict == "proved"
    assert dp.check(TOY, verify).lossless
    assert dp.law(TOY, lambda oracle, draft, target: (draft.root, target[()])).keys() == {(0,), (1,)}
    for iterations in (0, 9, True):
        with pytest.raises(BadInput, match="iterations must be a whole number from 1 to 8"):
            dp.law(TOY, "block", iterations=iterations)
