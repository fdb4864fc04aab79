"""Functions that take batches: among several requests, equal drafts among them, and two requests together."""

import json
import re
from itertools import combinations

import numpy as np
import pytest

from draftproof.simulators import audit
from draftproof.simulators.audit import load
from draftproof.simulators.audit.targets.batches import BESIDE, REQUESTS, beside, constant_request
from draftproof.simulators.audit.targets.signatures import infer_signature
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.laws.enumerate import drafts
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput

FEW = {"vocab": 2, "depth": 2, "edges": False}
SMALL = {
    "instances": [scenario(name, Chain(depth), 2) for name, depth in (("toy", 1), ("reversed", 2))],
    "edges": False,
    "smallest": False,
}


def drawn(row, coin):
    """The token of a row that a uniform falls on."""
    return int(np.searchsorted(np.cumsum(row / row.sum()), coin, side="right").clip(0, len(row) - 1))


def accepted(p, q, x, rng):
    """(number of accepted tokens, next token) by token verification."""
    for i, token in enumerate(x):
        if not rng.random() * q[i][token] < p[i][token]:
            rest = np.maximum(p[i] - q[i], 0)
            rest = rest if rest.any() else p[i]
            return i, int(rng.choice(len(rest), p=rest / rest.sum()))
    return len(x), int(rng.choice(len(p[-1]), p=p[-1] / p[-1].sum()))


def word(p, q, x, rng):
    n, token = accepted(p, q, x, rng)
    return [*x[:n].tolist(), token, *[-1] * (len(x) - n)]


def each_alone(target_probs, draft_probs, draft_tokens, rng):
    return np.array([word(*each, rng) for each in zip(target_probs, draft_probs, draft_tokens, strict=True)])


def cut_at_the_shortest(target_probs, draft_probs, draft_tokens, rng):
    """Every request is cut where the first of them is rejected, as batched assisted generation must."""
    given = list(zip(target_probs, draft_probs, draft_tokens, strict=True))
    found = [accepted(*each, rng) for each in given]
    n = min(kept for kept, _ in found)
    return np.array(
        [
            [*x[:n].tolist(), int(x[n]) if kept > n else token]
            for (_, _, x), (kept, token) in zip(given, found, strict=True)
        ]
    )


def cut_in_order(target_probs, draft_probs, draft_tokens, rng):
    """Every request is cut where the one before it is rejected."""
    before, words = draft_tokens.shape[1], []
    for p, q, x in zip(target_probs, draft_probs, draft_tokens, strict=True):
        n, token = accepted(p, q, x, rng)
        words.append([*x[:n].tolist(), token][: before + 1])
        before = n
    return words


def padded_to_the_longest(target_probs, draft_probs, draft_token_ids, rng):
    found = each_alone(target_probs, draft_probs, draft_token_ids, rng)
    return found[:, : (found >= 0).sum(1).max()]


def a_tuple_of_lists(target_probs, draft_probs, draft_token_ids, rng):
    return tuple(
        [x for x in row if x >= 0]
        for row in each_alone(target_probs, draft_probs, draft_token_ids, rng).tolist()
    )


def padded_with_counts(target_probs, draft_probs, draft_token_ids, num_draft_tokens, rng):
    given = zip(target_probs, draft_probs, draft_token_ids, num_draft_tokens, strict=True)
    return np.array([word(p[: n + 1], q[:n], x[:n], rng) for p, q, x, n in given])


LOSSLESS = (
    each_alone,
    cut_at_the_shortest,
    cut_in_order,
    padded_to_the_longest,
    a_tuple_of_lists,
    padded_with_counts,
)


class Kept:
    """A generator whose uniforms are drawn once for all requests, or for requests of the same key."""

    def __init__(self, rng):
        self.rng, self.known, self.key, self.at = rng, {}, 0, 0

    def of(self, key):
        self.key, self.at = key, 0
        return self

    def random(self):
        self.at += 1
        if (self.key, self.at) not in self.known:
            self.known[self.key, self.at] = self.rng.random()
        return self.known[self.key, self.at]

    def choice(self, size, p):
        return drawn(p, self.random())


def one_stream_for_all(target_probs, draft_probs, draft_tokens, rng):
    kept, given = Kept(rng), zip(target_probs, draft_probs, draft_tokens, strict=True)
    return np.array([word(*each, kept.of(0)) for each in given])


def every_second_shares(target_probs, draft_probs, draft_tokens, rng):
    kept, given = Kept(rng), zip(target_probs, draft_probs, draft_tokens, strict=True)
    return np.array([word(*each, kept.of(n % 2)) for n, each in enumerate(given)])


def first_and_last_share(target_probs, draft_probs, draft_tokens, rng):
    kept, given = Kept(rng), zip(target_probs, draft_probs, draft_tokens, strict=True)
    return np.array([word(*each, kept.of(n % (len(draft_tokens) - 1))) for n, each in enumerate(given)])


def equal_drafts_share(target_probs, draft_probs, draft_tokens, rng):
    kept, given = Kept(rng), zip(target_probs, draft_probs, draft_tokens, strict=True)
    return np.array([word(*each, kept.of(tuple(each[2].tolist()))) for each in given])


def last_tokens_share(target_probs, draft_probs, draft_tokens, rng):
    """Only the coin of the token after the accepted ones is shared."""
    coin, words = rng.random(), []
    for p, q, x in zip(target_probs, draft_probs, draft_tokens, strict=True):
        n, _ = accepted(p, q, x, rng)
        row = np.maximum(p[n] - q[n], 0) if n < len(x) else p[n]
        words.append([*x[:n].tolist(), drawn(row if row.any() else p[n], coin)])
    return words


def recovered_tokens_share(target_probs, draft_probs, draft_tokens, rng):
    """Only the coin of the token in place of a rejected one is shared."""
    coin, words = rng.random(), []
    for p, q, x in zip(target_probs, draft_probs, draft_tokens, strict=True):
        n, token = accepted(p, q, x, rng)
        if n < len(x):
            rest = np.maximum(p[n] - q[n], 0)
            token = drawn(rest if rest.any() else p[n], coin)
        words.append([*x[:n].tolist(), token])
    return words


def first_stream_in_the_mirror(target_probs, draft_probs, draft_tokens, rng):
    """Antithetic: every second request gets 1 - u."""
    kept, words = Kept(rng), []
    for n, each in enumerate(zip(target_probs, draft_probs, draft_tokens, strict=True)):
        stream = kept.of(0)
        mirrored = type(
            "M",
            (),
            {
                "random": lambda self, n=n, s=stream: 1 - s.random() if n % 2 else s.random(),
                "choice": lambda self, size, p: drawn(p, self.random()),
            },
        )()
        words.append(word(*each, mirrored))
    return np.array(words)


def from_the_third_on(target_probs, draft_probs, draft_tokens, rng):
    rows = [target_probs[min(n, 1)] for n in range(len(target_probs))]
    return each_alone(rows, draft_probs, draft_tokens, rng)


def the_last_accepts_all(target_probs, draft_probs, draft_tokens, rng):
    words = each_alone(target_probs, draft_probs, draft_tokens, rng)
    if len(words) > 2:
        words[-1] = [*draft_tokens[-1], int(target_probs[-1, -1].argmax())]
    return words


def the_third_uses_old_rows(target_probs, draft_probs, draft_tokens, rng):
    q = draft_probs.copy()
    q[2:] = q[2:].mean(axis=(0, 1), keepdims=True)
    return each_alone(target_probs, q, draft_tokens, rng)


def from_the_fourth_on(target_probs, draft_probs, draft_tokens, rng):
    rows = [target_probs[min(n, 2)] for n in range(len(target_probs))]
    return each_alone(rows, draft_probs, draft_tokens, rng)


def equal_drafts_once(target_probs, draft_probs, draft_tokens, rng):
    known, words = {}, []
    for each in zip(target_probs, draft_probs, draft_tokens, strict=True):
        key = tuple(each[2].tolist())
        known[key] = known.get(key) or word(*each, rng)
        words.append(known[key])
    return np.array(words)


def equal_drafts_and_rows_once(target_probs, draft_probs, draft_tokens, rng):
    """A cache of whole requests: right for each of them, and wrong for two that are equal."""
    known, words = {}, []
    for each in zip(target_probs, draft_probs, draft_tokens, strict=True):
        key = b"".join(part.tobytes() for part in each)
        known[key] = known.get(key) or word(*each, rng)
        words.append(known[key])
    return np.array(words)


def equal_first_tokens_accept(target_probs, draft_probs, draft_tokens, rng):
    words = each_alone(target_probs, draft_probs, draft_tokens, rng)
    for n, x in enumerate(draft_tokens):
        if n and x[0] == draft_tokens[n - 1][0]:
            words[n] = [*x, int(rng.choice(target_probs.shape[2], p=target_probs[n, -1]))]
    return words


def equal_drafts_swap_rows(target_probs, draft_probs, draft_tokens, rng):
    rows = list(target_probs)
    for a, b in combinations(range(len(rows)), 2):
        if (draft_tokens[a] == draft_tokens[b]).all():
            rows[a], rows[b] = rows[b], rows[a]
    return each_alone(rows, draft_probs, draft_tokens, rng)


def drawn_again_at_the_shortest(target_probs, draft_probs, draft_tokens, rng):
    """Cuts at the shortest, but draws an accepted token that follows the cut again from the target."""
    given = list(zip(target_probs, draft_probs, draft_tokens, strict=True))
    found = [accepted(*each, rng) for each in given]
    n = min(kept for kept, _ in found)
    again = [int(rng.choice(len(p[n]), p=p[n])) for p, _, _ in given]
    return np.array(
        [
            [*x[:n].tolist(), new if kept > n else token]
            for (_, _, x), (kept, token), new in zip(given, found, again, strict=True)
        ]
    )


SHARED = (
    one_stream_for_all,
    every_second_shares,
    first_and_last_share,
    equal_drafts_share,
    last_tokens_share,
    recovered_tokens_share,
    first_stream_in_the_mirror,
    equal_drafts_and_rows_once,
)
"""Right for each request, and wrong for two together."""

LOSSY = (
    from_the_third_on,
    the_last_accepts_all,
    the_third_uses_old_rows,
    from_the_fourth_on,
    equal_drafts_once,
    equal_first_tokens_accept,
    equal_drafts_swap_rows,
    drawn_again_at_the_shortest,
)


@pytest.mark.parametrize("function", LOSSLESS, ids=lambda f: f.__name__)
def test_a_lossless_batch_is_lossless(function):
    report = audit.examine(function, **SMALL)
    assert report.lossless, report
    assert f"judged among {BESIDE} requests" in str(report)
    assert re.search(rf"two together, by their joint law, in \d+ batches of {REQUESTS}$", str(report), re.M)
    assert report.to_dict()["requests"] == BESIDE
    assert BESIDE >= 3


@pytest.mark.slow
@pytest.mark.parametrize("function", LOSSLESS, ids=lambda f: f.__name__)
def test_a_lossless_batch_is_lossless_on_all_instances(function):
    report = audit.examine(function)
    assert report.lossless, report


@pytest.mark.parametrize("function", SHARED, ids=lambda f: f.__name__)
@pytest.mark.sampled(2)
def test_what_two_requests_share_is_found(function):
    report = audit.examine(function, **FEW | {"vocab": 3, "depth": 1})
    assert report.lossless is False, report
    assert report.instance.requests, "of two requests together"
    assert len(report.wrong.prefix) == len(report.instance.requests)
    assert report.run is None, "the requests of a batch are judged together"
    json.dumps(report.to_dict())


@pytest.mark.parametrize("function", LOSSY, ids=lambda f: f.__name__)
@pytest.mark.sampled(2)
def test_a_fault_of_a_place_or_of_equal_drafts_is_found(function):
    report = audit.examine(function, **FEW)
    assert report.lossless is False, report
    assert report.wrong is not None


def test_a_batch_of_one_is_said():
    def only_one(target_probs, draft_probs, draft_tokens, rng):
        (p,), (q,), (x,) = target_probs, draft_probs, draft_tokens
        return [word(p, q, x, rng)]

    report = audit.examine(only_one, **SMALL)
    assert report.lossless
    assert "judged in a batch of one request: among 3 requests it raises: ValueError" in str(report)
    assert report.to_dict()["requests"] == 1


def test_a_batch_that_raises_at_equal_drafts_is_not_taken_for_a_batch_of_one():
    def raises(target_probs, draft_probs, draft_tokens, rng):
        if len({tuple(x) for x in draft_tokens.tolist()}) < len(draft_tokens):
            raise ValueError("equal drafts")
        return each_alone(target_probs, draft_probs, draft_tokens, rng)

    report = audit.examine(raises, **FEW)
    assert report.lossless is False
    assert str(report).startswith("raises (numpy function, batch): fails: it raises with probability")


def test_the_others_read_nothing_of_the_draft():
    rng = np.random.default_rng(0)
    for depth in (1, 2, 3):
        p, q = rng.random((depth + 1, 3)), rng.random((depth, 3))
        places = set()
        for x in np.ndindex(*[3] * depth):
            (ps, qs, xs), place = beside(p, q, np.array(x), BESIDE)
            assert (ps[place] == p).all()
            assert (xs[place] == x).all()
            others = [each for n, each in enumerate(zip(ps, qs, xs, strict=True)) if n != place]
            places.add((place, *(part.tobytes() for each in others for part in each)))
        assert len(places) == 1
    seen = {beside(rng.random((2, 3)), p[:1], np.array([0]), BESIDE)[1] for _ in range(50)}
    assert seen == set(range(BESIDE))


def test_the_others_draft_all_that_two_tokens_can_be():
    leaves = {draft.path[-1].prefix for at in range(4) for _, draft in drafts(constant_request(2, 2, at))}
    assert leaves == set(np.ndindex(2, 2))


def test_all_pairs_of_places_are_judged():
    target = infer_signature(each_alone)
    batches = list(target.batches(3, 2))
    for sizes in ((2, 1), (3, 1), (2, 2)):
        pairs = set()
        for batch in batches:
            if (batch.requests[0].vocab, batch.requests[0].draft.depth) == sizes:
                constants = [constant_request(*sizes, at) for at in range(REQUESTS)]
                pairs.add(tuple(n for n, each in enumerate(batch.requests) if each != constants[n]))
        assert pairs == set(combinations(range(REQUESTS), 2))


def test_a_selection_rule_is_known_by_its_capacity(tmp_path):
    (tmp_path / "mine.py").write_text(
        "def select(target_probs, draft_probs, draft_tokens, capacity):\n    return [0] * len(draft_tokens)\n"
    )
    target = load.target(f"{tmp_path}/mine.py:select")
    assert isinstance(target, audit.Selection)
    with pytest.raises(BadInput, match="goes without iterations"):
        audit.examine(target, iterations=2)
