"""What a report blames: a wrong law before an exception, the farthest trial, the name that is unknown."""

import os
import re
from dataclasses import dataclass

import numpy as np
import pytest

import draftproof as dp
from draftproof.simulators import audit
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from tests.problems import floats
from tests.simulators.audit.foreign import good

FEW = {"vocab": 2, "depth": 2, "edges": False}
TOY = scenario("toy", Chain(1), 2)


def generous(p, q, x, rng, factor=2.0):
    """Token verification that keeps drafted tokens too often."""
    for i, token in enumerate(x):
        if not rng.random() * q[i][token] < factor * p[i][token]:
            rest = np.maximum(p[i] - q[i], 0)
            rest = rest if rest.any() else p[i]
            return [*x[:i], int(rng.choice(len(rest), p=rest / rest.sum()))]
    return [*x, int(rng.choice(len(p[-1]), p=p[-1] / p[-1].sum()))]


def raises_at_a_token(rule):
    def verify(p, q, x, rng):
        if x[-1] == 1 and len(x) > 1:
            raise ValueError("the token 1")
        return rule(p, q, x, rng)

    return verify


def raises_when_all_are_kept(rule):
    def verify(p, q, x, rng):
        word = rule(p, q, x, rng)
        if len(word) == len(x) + 1 and word[-1] == 0:
            raise IndexError("no row")
        return word

    return verify


def raises_on_zero_rows(rule):
    def verify(p, q, x, rng):
        if not p[0].all():
            raise ZeroDivisionError
        return rule(p, q, x, rng)

    return verify


def raises_on_two_tokens(rule):
    def verify(p, q, x, rng):
        if p.shape[1] == 2:
            raise NotImplementedError("two tokens")
        return rule(p, q, x, rng)

    return verify


def raises_by_chance(rule):
    def verify(p, q, x, rng):
        if rng.random() < 1 / 8:
            raise RuntimeError("a coin below 1/8")
        return rule(p, q, x, rng)

    return verify


RAISING = (
    raises_at_a_token,
    raises_when_all_are_kept,
    raises_on_zero_rows,
    raises_on_two_tokens,
    raises_by_chance,
)


@pytest.mark.parametrize("raising", RAISING, ids=lambda f: f.__name__)
def test_an_exception_hides_no_wrong_law(raising):
    depth = 1 if raising is raises_on_two_tokens else 2
    report = audit.examine(raising(generous), vocab=3, depth=depth, edges=False)
    assert report.lossless is False
    assert report.wrong is not None, report
    assert "NOT lossless: its law is not the target's" in str(report)
    assert report.wrong.got > report.wrong.want or report.case.fault_mass == 0


@pytest.mark.parametrize("raising", RAISING, ids=lambda f: f.__name__)
@pytest.mark.sampled(2)
def test_an_exception_is_no_law(raising):
    sizes = {"vocab": 3, "depth": 1} if raising is raises_on_two_tokens else {"vocab": 2, "depth": 2}
    report = audit.examine(raising(good), smallest=False, edges=False, **sizes)
    assert (report.lossless, report.wrong) == (False, None), report
    assert ": fails: it raises with probability" in str(report)
    assert "NOT lossless" not in str(report)


@pytest.mark.parametrize("raising", RAISING, ids=lambda f: f.__name__)
def test_an_exception_is_no_law_in_random_runs(raising):
    def untold(p, q, x, rng):
        return raising(good)(p, q, x, rng)

    report = audit.examine(untold, statistical=True, vocab=2, depth=2, runs=300)
    assert "NOT lossless" not in str(report), report
    raised = "raises" in report.found
    assert report.lossless is not raised
    assert (": fails, statistical: it raises" in str(report)) is raised


def test_a_wrong_law_is_found_in_random_runs_beside_an_exception():
    def from_the_system(p, q, x, rng):
        if p[0][0] == q[0][0]:
            raise ValueError("equal rows")
        return [int(os.urandom(1)[0] / 256 > p[0][0] ** 3)]

    report = audit.examine(from_the_system, vocab=2, depth=1)
    assert "NOT lossless, statistical: a test on random runs rejects the target's law" in str(report)


def test_a_call_that_always_raises_is_not_audited():
    with pytest.raises(BadInput, match="every call of every draft raises: ValueError: never"):
        audit.examine(audit.Function(raising_always), **FEW)


def raising_always(p, q, x, rng):
    raise ValueError("never")


def padded_batch_that_fails_late(target_probs, draft_probs, draft_token_ids):
    rows = [int(draft[0]) for draft in draft_token_ids]
    lengths = np.zeros((len(rows), target_probs.shape[1]), dtype=int)
    raise KeyError(f"padding of {len(lengths)}")


def padded_batch_of_texts(target_probs, draft_probs, draft_token_ids):
    assert target_probs.ndim == 3, "a batch"
    return [["one", "two"] for _ in draft_token_ids]


def batch_of_dicts(target_logits, draft_logits, draft_token_ids, num_draft_tokens):
    return [{"tokens": draft[:n]} for draft, n in zip(draft_token_ids, num_draft_tokens, strict=True)]


def flat_with_a_shape_error(target_logits, draft_token_ids, cu_num_draft_tokens, draft_probs):
    ends = cu_num_draft_tokens.tolist()
    return target_logits[: ends[0]] @ draft_probs


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (padded_batch_that_fails_late, r"a batch of 3, in arrays, it raises: KeyError: 'padding of 3'"),
        (
            padded_batch_of_texts,
            r"a batch of 3, in arrays, it returns garbage: a list that is not read as tokens",
        ),
        (batch_of_dicts, r"it returns garbage: a list that is not read as tokens"),
        (flat_with_a_shape_error, r"flat rows, in arrays, it raises: ValueError: matmul"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_the_farthest_trial_is_said(function, says):
    with pytest.raises(BadInput, match=says) as raised:
        audit.examine(function, **FEW)
    assert "tried: " in str(raised.value)
    assert "a batch of 3, a batch of one; its signature is" in str(raised.value)


def configured(target_probs, draft_probs, draft_tokens, config):
    return config.anything


def two_more(target_probs, draft_probs, draft_tokens, config, device):
    return [0]


def no_tokens(target_probs, draft_probs):
    return [0]


def ambiguous(logits, draft_tokens, rng):
    return logits.softmax(-1)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (configured, "'config' is no known name; called with one request, in arrays, it raises"),
        (two_more, "'config', 'device' are no known name; two_more has a parameter 'device' that nothing"),
        (no_tokens, "no name is known of drafted tokens; "),
        (ambiguous, "'logits' may be those of the target or of the draft; "),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_the_unknown_name_is_said_first(function, says):
    with pytest.raises(BadInput, match=f"not audited: {re.escape(says)}"):
        audit.examine(function, **FEW)


@dataclass
class Verified:
    accepted_tokens: list[int]
    bonus_token: int


def in_an_object(target_probs, draft_probs, draft_tokens, rng):
    *accepted, bonus = good(target_probs, draft_probs, draft_tokens, rng)
    return Verified(accepted, bonus)


class Verifier:
    def verify(self, target_probs, draft_probs, draft_tokens, rng):
        return good(target_probs, draft_probs, draft_tokens, rng)

    def reset(self):
        pass


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (in_an_object, "a Verified of accepted_tokens, bonus_token, that is not read as tokens"),
        (Verifier, "not called; name a method of it: verify, reset"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_what_an_object_has_is_said(given, says):
    with pytest.raises(BadInput, match=says):
        audit.examine(given, **FEW)


def test_the_only_function_of_a_file_need_not_be_named(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from tests.simulators.audit.foreign import good\ndef verify(*given): return good(*given)\n"
    )
    report = dp.examine(str(file), **FEW)
    assert (report.lossless, report.target) == (True, f"{file}:verify")
    file.write_text(f"{file.read_text()}\n\nclass Other:\n    pass\n")
    with pytest.raises(BadInput, match=r"name one of verify, Other, as .*mine.py:Other$"):
        dp.examine(str(file), **FEW)
    for text in ("x = 1\n", "def ("):
        file.write_text(text)
        with pytest.raises(BadInput, match=r"neither package\.module:name nor"):
            dp.examine(str(file), **FEW)


BAD_OPTIONS = [
    {"vocab": None},
    {"vocab": "3"},
    {"vocab": 2.0},
    {"vocab": True},
    {"vocab": -2},
    {"vocab": np.int64(-2)},
    {"depth": 0},
    {"depth": 1.5},
    {"iterations": 0},
    {"iterations": None},
    {"runs": -1},
    {"runs": 10.0, "statistical": True},
    {"seconds": 0},
    {"seconds": -1.0},
    {"seconds": float("nan")},
    {"seconds": None},
    {"dtype": 64},
    {"dtype": "float31"},
    {"edges": 1},
    {"padding": "yes"},
    {"statistical": None},
    {"instances": []},
    {"instances": "toy.json"},
    {"instances": TOY},
    {"instances": [None]},
    {"instances": [floats(TOY)]},
    {"instances": 3},
]


@pytest.mark.parametrize("options", BAD_OPTIONS, ids=lambda given: re.sub(" at 0x[0-9a-f]+", "", str(given)))
@pytest.mark.parametrize("judge", [dp.examine, dp.assert_lossless], ids=lambda f: f.__name__)
def test_a_bad_option_is_one_line(judge, options):
    with pytest.raises(BadInput, match=r"^[^\n]+$"):
        judge(good, **options)


@pytest.mark.parametrize(
    "verify",
    [None, 3, 0.5, b"x", ["block"], "", "block", "absent.py:verify", "json:loads:x", "json:nothing", {}],
)
@pytest.mark.parametrize("judge", [dp.examine, dp.assert_lossless], ids=lambda f: f.__name__)
def test_a_target_that_is_none_is_one_line(judge, verify):
    with pytest.raises(BadInput, match=r"^[^\n]+$"):
        judge(verify)


def test_a_name_is_taken_as_the_command_takes_it():
    report = dp.examine("tests.simulators.audit.foreign:good", vocab=2, depth=1, edges=False)
    assert (report.lossless, report.target) == (True, "tests.simulators.audit.foreign:good")
