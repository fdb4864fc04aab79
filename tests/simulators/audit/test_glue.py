"""Functions audited without a wrapper, or with a short one: files whose imports are absent, results with the
next token's row, drafts with the token before them. What is guessed wrongly is bad input, never a verdict.
"""

import numpy as np
import pytest

from draftproof.simulators import audit
from draftproof.simulators.audit import load
from draftproof.simulators.support.load import load as loaded
from draftproof.theory.errors import BadInput

SMALL = {"vocab": 2, "depth": 2, "edges": False, "smallest": False}


def judged(p, q, x, rng):
    """The number of accepted tokens, and the row of the next one."""
    for n, token in enumerate(x):
        if rng.random() * q[n, token] >= p[n, token]:
            rest = np.maximum(p[n] - q[n], 0)
            return n, rest / rest.sum()
    return len(x), p[-1]


def by_row(target_probs, draft_probs, draft_tokens, rng):
    return judged(target_probs, draft_probs, draft_tokens, rng)


def row_first(target_probs, draft_probs, draft_tokens, rng):
    return judged(target_probs, draft_probs, draft_tokens, rng)[::-1]


def lists(target_probs, draft_probs, draft_tokens, rng):
    count, row = judged(target_probs, draft_probs, draft_tokens, rng)
    return np.array([count]), row[None]


def accepted(target_probs, draft_probs, draft_tokens, rng):
    count, row = judged(target_probs, draft_probs, draft_tokens, rng)
    return draft_tokens[:count], row


def rooted(target_probs, draft_probs, rooted_tokens, rng):
    assert rooted_tokens.shape == (len(draft_probs) + 1,)
    return judged(target_probs, draft_probs, rooted_tokens[1:], rng)


def two_numbers(target_probs, draft_probs, draft_tokens, rng):
    """Arrays of one number each: a count must not be read as a token."""
    count, row = judged(target_probs, draft_probs, draft_tokens, rng)
    return np.array([count]), np.array([rng.choice(len(row), p=row)])


@pytest.mark.parametrize("verify", [by_row, row_first, lists, accepted, rooted, two_numbers])
def test_the_next_token_is_drawn_from_its_row(verify):
    report = audit.examine(verify, **SMALL)
    assert report.lossless, report
    assert ("next token drawn from the row that it returns" in report.adapter) == (verify is not two_numbers)


def test_a_wrong_row_is_found():
    def wrong(target_probs, draft_probs, draft_tokens, rng):
        count, _ = judged(target_probs, draft_probs, draft_tokens, rng)
        return count, target_probs[count]

    report = audit.examine(wrong, **SMALL)
    assert (report.status, report.lossless) == (1, False), report
    assert "next token drawn from the row that it returns): NOT lossless: its law is not the" in str(report)


def counted_with_the_root(p, q, x, rng):
    count, row = judged(p, q, x, rng)
    return count + 1, row


def logits(p, q, x, rng):
    count, row = judged(p, q, x, rng)
    return count, np.log(np.maximum(row, 1e-300)) + 3


def log_probabilities(p, q, x, rng):
    count, row = judged(p, q, x, rng)
    return count, np.log(np.maximum(row, 1e-300))


def residual_without_its_sum(p, q, x, rng):
    count, row = judged(p, q, x, rng)
    return count, row if count == len(x) else np.maximum(p[count] - q[count], 0)


def row_of_another_length(p, q, x, rng):
    count, row = judged(p, q, x, rng)
    return count, np.append(row, 0.0)


def count_and_two_more(p, q, x, rng):
    count, row = judged(p, q, x, rng)
    return np.array([count]), np.array([rng.choice(len(row), p=row)]), np.array([0.5])


def the_token_before_and_the_targets_draw(p, q, x, rng):
    return 1, p[0]


def the_token_before_and_a_token(p, q, x, rng):
    return 1, rng.choice(len(p[0]), p=p[0])


GUESSED_WRONGLY = [
    the_token_before_and_the_targets_draw,
    the_token_before_and_a_token,
    counted_with_the_root,
    logits,
    log_probabilities,
    residual_without_its_sum,
    row_of_another_length,
    count_and_two_more,
]


@pytest.mark.parametrize("function", GUESSED_WRONGLY, ids=lambda each: each.__name__)
def test_another_result_is_bad_input_and_no_verdict(function):
    def verify(target_probs, draft_probs, draft_tokens, rng):
        return function(target_probs, draft_probs, draft_tokens, rng)

    with pytest.raises(BadInput, match="not audited"):
        audit.examine(verify, **SMALL)


def test_a_count_that_is_never_zero_is_not_read_in_another_layout():
    torch = pytest.importorskip("torch")

    def verify(p_logits, rooted_tokens):  # of a batch of one it would see no draft, and pass
        rows, paths = p_logits[None], rooted_tokens[None]
        count = (rows[:, :-1].gather(2, paths[:, 1:, None]) > -9).long().cumprod(1).sum()
        return torch.clamp(count, max=paths.shape[1] - 1), rows[0, count].softmax(-1)

    with pytest.raises(BadInput, match="returns a count that is never 0"):
        audit.examine(verify, **SMALL)


LACKS = """
import numpy as np
import {absent}
from {absent}.parts import Config, settled
from .near import beside
from .far import *

logger = settled(__name__)

class Base(Config):
    pass

@settled("fast")
def decorated(target_probs, draft_probs, draft_tokens, rng):
    return [0]

class Verifier(Base):
    def verify(self, target_probs, draft_probs, draft_tokens, rng):
        return [0]

class Own:
    def verify(self, target_probs, draft_probs: Config, draft_tokens, rng, settings: beside = None) -> Base:
        if settings is not None:
            settings = settled(settings)
        return verify(target_probs, draft_probs, draft_tokens, rng)

def verify(target_probs, draft_probs, draft_tokens, rng):
    for n, token in enumerate(draft_tokens):
        if rng.random() * draft_probs[n, token] >= target_probs[n, token]:
            rest = np.maximum(target_probs[n] - draft_probs[n], 0)
            return [*draft_tokens[:n], rng.choice(len(rest), p=rest / rest.sum())]
    return [*draft_tokens, rng.choice(len(target_probs[-1]), p=target_probs[-1])]

def seldom(target_probs, draft_probs, draft_tokens, rng):
    {seldom}
    return verify(target_probs, draft_probs, draft_tokens, rng)
"""


@pytest.fixture
def file(tmp_path):
    def written(seldom="pass"):
        path = tmp_path / "engine.py"
        path.write_text(LACKS.replace("{absent}", "not_installed").replace("{seldom}", seldom))
        return path

    return written


@pytest.mark.parametrize("name", ["verify", "Own.verify", "seldom"])
def test_what_a_function_does_not_use_need_not_be_installed(file, name):
    report = audit.examine(load.target(f"{file()}:{name}"), **SMALL)
    assert report.lossless, report


@pytest.mark.parametrize("name", ["decorated", "Verifier.verify", "logger", "Base"])
def test_what_an_absent_import_has_made_is_bad_input(file, name):
    with pytest.raises(
        BadInput, match="cannot be imported: ModuleNotFoundError: No module named 'not_installed'"
    ):
        load.target(f"{file()}:{name}")


@pytest.mark.parametrize(
    ("used", "missing"),
    [
        ("settled(1)", "No module named 'not_installed'"),
        ("logger.info('')", "No module named 'not_installed'"),
        ("isinstance(1, Base)", "No module named 'not_installed'"),
        ("draft_tokens == Config", "No module named 'not_installed'"),
        ("beside", "relative import"),
        ("of_the_star", "relative import"),
    ],
)
@pytest.mark.parametrize("when", ["", "if len(draft_tokens) == 2 and target_probs[0, 0] == 0: "])
def test_a_name_that_is_lacking_is_bad_input_where_it_is_used(file, used, missing, when):
    # `when` is true on instances of the audit, and not in the trial calls.
    with pytest.raises(BadInput, match=f"(?s)a module that is not here.*{missing}"):
        audit.examine(load.target(f"{file(when + used)}:seldom"), **SMALL)


@pytest.mark.parametrize("loads", [load.load, loaded])
def test_what_is_not_audited_must_import_whole(file, loads):
    with pytest.raises(BadInput, match="cannot be imported: ModuleNotFoundError"):
        loads(f"{file()}:verify")


def test_code_for_tensors_is_found_without_an_import_of_torch():
    torch = pytest.importorskip("torch")
    space = {}
    exec(
        "def verify(target_probs, rooted_tokens):\n"
        "    own = target_probs.multinomial(1)[:, 0]\n"
        "    same = (own[:-1] == rooted_tokens[1:]).long().cumprod(0).sum()\n"
        "    return same, own[same]\n",
        space,
    )
    report = audit.examine(space["verify"], **SMALL)
    assert report.lossless, report
    assert report.adapter.startswith("torch function"), report
    assert torch
