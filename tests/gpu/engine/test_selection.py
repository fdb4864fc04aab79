"""Selection in the loop: what the exact engine keeps is kept, and a step's joint law is the exact one."""
# ruff: noqa: E402

from itertools import product

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from flint import fmpq

from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.output import texts
from draftproof.gpu.engine.selection import Selection
from draftproof.gpu.network.session import Draft
from draftproof.gpu.sampling.names import SELECTIONS
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import named
from draftproof.simulators.laws.verdicts.batches import batch_law
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.selection import named as rule
from draftproof.theory.selection.batch import Batch, presented
from draftproof.theory.table import Table
from draftproof.theory.verifiers import VERIFIERS as EXACT
from tests.gpu import tables
from tests.gpu.small import steps_of

PROMPTS = ([5], [3, 4, 5, 6, 7, 8], [9, 1, 2], [7, 7])


@pytest.mark.parametrize("name", SELECTIONS)
@pytest.mark.parametrize("budget", [0, 1, 3, 5])
def test_what_is_kept_is_what_the_exact_engine_keeps(name, budget, monkeypatch):
    """On every draft. Where p is certain of q's likeliest token, 1 - TV(p, q) is q's largest probability."""
    proposals = [{(): (5, 3), (0,): (1, 7), (1,): (3, 5)}, {(): (7, 1), (0,): (2, 6), (1,): (4, 4)}]
    requests = []
    for rows in proposals:
        q = {prefix: [fmpq(n, 8) for n in row] for prefix, row in rows.items()}
        p = {prefix: [fmpq(n == max(row) and row.index(n) == x) for x, n in enumerate(row)]
             for prefix, row in rows.items()}  # fmt: skip
        requests.append(Instance(Table(2, {k: tuple(v) for k, v in p.items()}),
                                 Table(2, {k: tuple(v) for k, v in q.items()}), Chain(2)))  # fmt: skip
    monkeypatch.setattr("draftproof.gpu.engine.selection.COST", 1 / 8)
    speed = tuple(1 / (1 + fmpq(k, 8)) for k in range(5))
    exact = Batch(tuple(requests), rule(name), budget, speed)
    selection = Selection.of(name, budget)
    for drafts in product(product(range(2), repeat=2), repeat=2):
        tokens = torch.tensor(drafts)
        rows = torch.tensor([[[float(m) for m in each.proposal[draft[:j]]] for j in range(2)]
                             for each, draft in zip(requests, drafts, strict=True)])  # fmt: skip
        draft = Draft(structure("chain:2").tree, tokens, rows)
        found = selection.select([0, 1], draft)
        shown = exact.select(drafts)
        assert found.counts == found.kept.tolist() == [each.kept for each in shown]
        for b, (request, each) in enumerate(zip(requests, shown, strict=True)):
            *above, leaf = presented(request, each).path
            assert tuple(x for x in found.draft.tokens[b].tolist() if x >= 0) == leaf.prefix
            rows = found.draft.proposal[b, : len(above)].tolist()
            assert rows == [list(map(float, node.proposal)) for node in above]
        assert found.read.size == 1 + max(found.counts)


HALF = ["1/2", "1/2"]
TARGET = [["1/4", "3/4"], ["3/4", "1/4"], ["1/4", "3/4"], ["3/4", "1/4"]]
"""Rows after tokens 0 and 1, and after the prompts 2 and 3."""


def joint(monkeypatch, name, verifier, budget, target, proposal, gamma, *points):
    """(law of the first step of two requests over all noise, the exact one)."""
    noise = list(product(tables.grid(*points), tables.grid(*points)))
    words, step = tables.first_steps(
        monkeypatch,
        [one for pair in noise for one in pair],
        tables.model(target),
        tables.drafter(proposal),
        [[2], [3]] * len(noise),
        verifier=named(verifier),
        structure=structure(f"chain:{gamma}"),
        selection=Selection.of(name, budget, batch=2),
    )
    assert step.accepted == [len(word) - 1 for word in words]
    requests = tuple(
        Instance(tables.table(target, prompt), tables.table(proposal, prompt), Chain(gamma))
        for prompt in (2, 3)
    )
    batch = Batch(requests, rule(name), budget, tuple(1 / (1 + fmpq(k, 64)) for k in range(gamma * 2 + 1)))
    return tables.law(list(zip(words[::2], words[1::2], strict=True))), batch_law(batch, EXACT[verifier])


COINS = {"token": (2, 2), "rrs": (2, 2), "block": (2, 4), "traversal": (2, 4), "one-hot": (4, 4)}
"""Verifier -> parts of [0, 1) that its acceptance probabilities are ends of, for each coin."""
SHORT = [("tetris", "token", 1), ("tetris-repaired", "token", 1), ("tetris-repaired", "token", 3)]
NAMES = "tetris", "tetris-repaired", "dspark", "confidence-stop"
LONG = [one for one in product(NAMES, COINS, range(4)) if one not in SHORT]


@pytest.mark.parametrize(
    ("name", "verifier", "budget"), [*SHORT, *(pytest.param(*one, marks=pytest.mark.slow) for one in LONG)]
)
def test_the_joint_law_of_a_step_is_exactly_the_exact_engines(monkeypatch, name, verifier, budget):
    points = (2, 2, *COINS[verifier], 4)
    found, exact = joint(monkeypatch, name, verifier, budget, TARGET, [HALF] * 4, 2, *points)
    assert found == exact


def test_a_bonus_after_a_token_that_was_only_judged_is_found_out(monkeypatch):
    """The row after it was never computed."""
    select = Selection.select

    def wrong(self, *given):
        found = select(self, *given)
        return found._replace(kept=found.kept + 1)

    monkeypatch.setattr(Selection, "select", wrong)
    found, exact = joint(monkeypatch, "tetris-repaired", "token", 1, TARGET, [HALF] * 4, 2, 2, 2, 2, 2, 4)
    assert found != exact


def test_tetris_is_biased_as_the_exact_engine_says_and_repaired_tetris_is_not(monkeypatch):
    """Of request 2 of docs/tetris.json, token 0 comes out first with 1/3 instead of 1/2."""
    target = [["0", "1"], ["0", "1"], ["0", "1"], ["1/2", "1/2"]]
    proposal = [HALF, HALF, HALF, ["1/3", "2/3"]]
    for name, first in (("tetris", fmpq(1, 3)), ("tetris-repaired", fmpq(1, 2))):
        found, exact = joint(monkeypatch, name, "token", 1, target, proposal, 1, 6, 4, 2)
        assert found == exact
        assert sum((mass for (_, word), mass in found.items() if word[0] == 0), fmpq(0)) == first


@pytest.mark.parametrize("which", ["near", "features", "ngram"])
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if name != "tetris-repaired"
                                  else name for name in SELECTIONS])  # fmt: skip
def test_greedy_texts_are_the_targets_own_with_every_rule(name, which):
    """Texts end at different times, and the others go on in the batch that is left."""
    options = {"sampling": Sampling(0.0), "max_new_tokens": 24}
    own = texts(steps_of("block", "", None, PROMPTS, **options), 4)
    for batch in (None, 2):
        steps = steps_of(
            "block", "chain:4", which, PROMPTS, selection=Selection.of(name, 5, batch), **options
        )
        assert texts(steps, 4) == own
        for step in steps:
            groups = {row // batch if batch else 0 for row in step.rows}
            assert sum(step.kept) <= 5 * len(groups)
    assert len({len(step.rows) for step in steps}) > 1


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"name": "tetriss"}, "no selection rule is named 'tetriss'"),
        ({"name": "lagged"}, "no selection rule is named 'lagged'"),
        ({"name": "all", "budget": -1}, "budget must be a whole number from 0, not -1"),
        ({"name": "all", "batch": 0}, "batch must be a whole number from 1, not 0"),
    ],
)
def test_what_is_no_selection_is_bad_input(settings, said):
    with pytest.raises(BadInput, match=said):
        Selection.of(**settings)


def test_rows_that_are_no_numbers_are_bad_input():
    draft = Draft(
        structure("chain:2").tree, torch.zeros(1, 2, dtype=torch.long), torch.full((1, 2, 3), torch.nan)
    )
    for name in ("tetris", "dspark", "confidence-stop"):
        with pytest.raises(BadInput, match="not a distribution"):
            Selection.of(name, 2).select([0], draft)
