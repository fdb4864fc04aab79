"""Selection rules as foreign functions: rules that read what they decide about are found, others pass."""

import json

import click
import numpy as np
import pytest

from draftproof.simulators import audit
from draftproof.simulators.commands.audit import audit as command
from draftproof.simulators.commands.entry import enter
from draftproof.simulators.instances.batches import witness
from draftproof.theory.errors import BadInput

GROUP = click.Group("draftproof", [command])


def scores(draft_probs, draft_tokens):
    return np.take_along_axis(draft_probs, draft_tokens[..., None], axis=2)[..., 0]


def best_first(score, capacity):
    """How many of the `capacity` largest scores each request has; equal ones in their order."""
    order = np.argsort(-score.ravel(), kind="stable")[:capacity]
    return np.bincount(order // score.shape[1], minlength=len(score))


def everything(target_probs, draft_probs, draft_tokens, capacity):
    lengths = []
    for _ in draft_tokens:
        lengths.append(min(draft_tokens.shape[1], capacity - sum(lengths)))
    return lengths


def shifted(target_probs, draft_probs, draft_tokens, capacity):
    before = np.cumprod(scores(draft_probs, draft_tokens), axis=1)
    return best_first(np.concatenate([np.ones((len(before), 1)), before[:, :-1]], axis=1), capacity)


def by_confidence(target_probs, draft_probs, draft_tokens, capacity):
    return best_first(np.minimum(target_probs[:, :-1], draft_probs).sum(-1).cumprod(1), capacity)


def at_random(target_probs, draft_probs, draft_tokens, capacity, rng):
    lengths = np.zeros(len(draft_tokens), dtype=int)
    lengths[rng.integers(len(lengths))] = min(capacity, draft_tokens.shape[1])
    return lengths


def stops_after(target_probs, draft_probs, draft_tokens, capacity):
    """Keeps tokens of one request in turn until one that is not 0, which is kept."""
    first = draft_tokens[0].tolist()
    return [
        min(capacity, next((j + 1 for j, x in enumerate(first) if x), len(first))),
        *[0] * (len(draft_tokens) - 1),
    ]


def tetris(target_probs, draft_probs, draft_tokens, capacity):
    return best_first(np.cumprod(scores(draft_probs, draft_tokens), axis=1), capacity)


def own_value(target_probs, draft_probs, draft_tokens, capacity):
    left, lengths = capacity, []
    for tokens in draft_tokens.tolist():
        lengths.append(min(left, next((j for j, x in enumerate(tokens) if x), len(tokens))))
        left -= lengths[-1]
    return lengths


def later_value(target_probs, draft_probs, draft_tokens, capacity):
    return (
        everything(target_probs, draft_probs, draft_tokens, capacity)
        if draft_tokens[0, -1] == 0
        else [0] * len(draft_tokens)
    )


def later_value_of_another(target_probs, draft_probs, draft_tokens, capacity):
    kept = min(capacity, draft_tokens.shape[1])
    lengths = [0] * len(draft_tokens)
    lengths[0 if len(lengths) == 1 or draft_tokens[0, -1] == 0 else 1] = kept
    return lengths


def tie_by_value(target_probs, draft_probs, draft_tokens, capacity):
    before = np.cumprod(scores(draft_probs, draft_tokens), axis=1)
    score = np.concatenate([np.ones((len(before), 1)), before[:, :-1]], axis=1)
    return best_first(score - 1e-9 * draft_tokens, capacity)


def unordered_ties(target_probs, draft_probs, draft_tokens, capacity):
    """Of equal survivals the one of the deeper position wins, though the first of its request is not kept."""
    survival = np.minimum(target_probs[:, :-1], draft_probs).sum(-1).cumprod(1)
    size = survival.shape[1]
    order = sorted(range(survival.size), key=lambda at: (-survival.ravel()[at], -(at % size)))[:capacity]
    return np.bincount(np.array(order, dtype=int) // size, minlength=len(survival))


@pytest.mark.parametrize("select", [everything, shifted, by_confidence, at_random, stops_after])
def test_predictable_rules_pass(select):
    report = audit.examine(audit.Selection(select))
    assert report.lossless, report
    assert report.instances > 25
    assert not report.findings, report


@pytest.mark.parametrize(
    "select", [tetris, own_value, later_value, later_value_of_another, tie_by_value, unordered_ties]
)
def test_mutants_of_selection_are_caught(select):
    report = audit.examine(audit.Selection(select))
    assert report.status == 1
    assert report.wrong.got != report.wrong.want


def test_tetris_has_the_witness_of_the_theory():
    report = audit.examine(audit.Selection(tetris), instances=[witness("tetris")])
    assert str(report.total_variation) == "1/6"
    assert report.wrong.prefix == ((), (0,))
    assert (str(report.wrong.got), str(report.wrong.want)) == ("1/3", "1/2")


def test_tensors():
    torch = pytest.importorskip("torch")

    def survivals(target_probs, draft_probs, draft_tokens, capacity):
        sure = torch.minimum(target_probs[:, :-1], draft_probs).sum(-1).cumprod(1)
        order = torch.argsort(-sure.flatten(), stable=True)[:capacity]
        return torch.bincount(order // sure.shape[1], minlength=len(sure))

    report = audit.examine(audit.Selection(survivals, tensors=True))
    assert report.lossless, report
    assert (report.adapter, report.to_dict()["error_bound"]) == ("selection rule", "0")


def verified(select, accept):
    """A function that selects and verifies: it returns the emitted tokens of each request."""

    def run(target_probs, draft_probs, draft_tokens, capacity, rng):
        words = []
        lengths = select(target_probs, draft_probs, draft_tokens, capacity)
        for p, q, tokens, length in zip(target_probs, draft_probs, draft_tokens, lengths, strict=True):
            word = []
            for j in range(length):
                x = tokens[j]
                if not rng.random() * q[j, x] < accept * p[j, x]:
                    rest = np.maximum(accept * p[j] - q[j], 0) if accept < 1 else np.maximum(p[j] - q[j], 0)
                    rest = rest if rest.any() else p[j]
                    words.append([*word, int(rng.choice(len(rest), p=rest / rest.sum()))])
                    break
                word.append(int(x))
            else:
                words.append([*word, int(rng.choice(p.shape[1], p=p[length]))])
        return words

    return run


@pytest.mark.parametrize(
    ("select", "accept", "status"), [(shifted, 1, 0), (tetris, 1, 1), (shifted, 0.75, 1)]
)
def test_a_function_that_verifies_too(select, accept, status):
    target = audit.Selection(verified(select, accept), name="verified", slow=True)
    report = audit.examine(target)
    assert report.status == status, report


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ([5, 0], "returns garbage"),
        ([0], "returns garbage"),
        ("no", "returns garbage"),
        ([[7], [0]], "leaves the vocabulary"),
    ],
)
def test_results_that_mean_nothing(result, kind):
    report = audit.examine(
        audit.Selection(lambda p, q, x, capacity: result[: len(x)], name="strange"), vocab=2, depth=1
    )
    assert report.status == 1
    assert kind in report.found


def test_coins_that_cannot_be_followed_are_undecided():
    import os

    def hidden(target_probs, draft_probs, draft_tokens, capacity):
        return [os.urandom(1)[0] % 2] * len(draft_tokens)

    report = audit.examine(audit.Selection(hidden), vocab=2, depth=1)
    assert report.status == 3
    assert "os.urandom" in report.undecided


def test_calls_that_do_not_fit():
    with pytest.raises(BadInput, match="must take target_probs"):
        audit.Selection(lambda p, q: [0])
    with pytest.raises(BadInput, match="not a function"):
        audit.Selection(3)  # type: ignore[arg-type]
    for options in ({"iterations": 2}, {"statistical": True}, {"padding": True}):
        with pytest.raises(BadInput):
            audit.examine(audit.Selection(everything), **options)


def run(*arguments):
    return enter(GROUP, ["audit", *arguments])


def test_the_command(capfd):
    assert run(f"{__file__}:shifted", "--depth", "1") == 0
    assert "lossless" in capfd.readouterr().out
    assert run(f"{__file__}:tetris", "--json") == 1
    answer = json.loads(capfd.readouterr().out)
    assert answer["witness"] == {"prefix": ["", "0"], "got": "1/3", "want": "1/2"}
    assert run(f"{__file__}:shifted", "--loop") == 2
    assert run(f"{__file__}:scores") == 2
    assert "Traceback" not in capfd.readouterr().err
