"""Drafts of different lengths in one batch: rows of nodes that were not drawn are not read."""

from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="the kernels need Triton")

from draftproof.gpu.kernels import opening  # noqa: E402
from draftproof.gpu.sampling.tree import Tree  # noqa: E402
from tests.gpu.kernels.drafts import PAIR, TREE, draft  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning:triton"),
    pytest.mark.skipif(torch.cuda.is_available(), reason="loads are seen in the interpreter"),
]
LENGTHS = 0, 1, 2, 5


def poisoned(tree, V, seed=3):
    """(case, clean, wanted): drafts of a length for each request, with NaN in all rows that need not be read;
    the same without NaN; and the other rows, as (request, row) of each side.
    """
    whole = draft(tree, len(LENGTHS), V, seed)
    tokens = whole.tokens.clone()
    for b, length in enumerate(LENGTHS):
        tokens[b, length:] = -1
    clean = replace(whole, tokens=tokens)
    drawn = tree.drawn(tokens)
    asked = torch.zeros(clean.proposal.shape[:2], dtype=torch.long)
    asked = asked.scatter_add(1, tree.drawn_from.expand(len(tokens), -1), drawn[:, 1:].long()) > 0
    target = clean.target.masked_fill(~drawn[..., None], torch.nan)
    proposal = clean.proposal.masked_fill(~asked[..., None], torch.nan)
    wanted = [{(b, i) for b, i in side.nonzero().tolist()} for side in (drawn, asked)]
    return replace(clean, target=target, proposal=proposal), clean, wanted


@contextmanager
def rows_read(*sides):
    """Yields sets, one for each tensor [B, n, V]: the (request, row) of which some logit is loaded."""
    from triton.runtime.interpreter import InterpreterBuilder as Builder

    load, found = Builder.create_masked_load, [set() for _ in sides]

    def loaded(self, pointers, mask, *rest):
        at = pointers.data[mask.data != 0].astype("int64")
        for side, rows in zip(sides, found, strict=True):
            entry = (at - side.data_ptr()) // side.element_size()
            entry = entry[(entry >= 0) & (entry < side.numel())]
            rows |= {divmod(int(row), side.shape[1]) for row in set(entry // side.shape[2])}
        return load(self, pointers, mask, *rest)

    with patch.object(Builder, "create_masked_load", loaded):
        yield found


CASES = [
    ("block", Tree.chain(5), {}),
    ("traversal", Tree.of_shape(PAIR), {}),
    ("one-hot", Tree.of_shape(PAIR), {}),
    *(
        pytest.param(*case, marks=pytest.mark.slow)
        for case in (
            ("token", Tree.chain(5), {}),
            ("block", Tree.chain(5), {"top_p": 0.8}),
            ("traversal", Tree.of_shape(TREE), {}),
            ("traversal", Tree.of_shape(PAIR), {"top_k": 5, "min_p": 0.01}),
            ("rrs", Tree.of_shape(TREE), {}),
            ("specinfer", Tree.paths(3, 2), {}),
            ("nss", Tree.of_shape(TREE), {"top_p": 0.9}),
            ("optimal", Tree.paths(3, 2), {}),
        )
    ),
]


@pytest.mark.parametrize(("name", "tree", "filters"), CASES)
def test_rows_of_nodes_that_were_not_drawn_are_not_read(name, tree, filters):
    case, clean, wanted = poisoned(tree, 300)
    with rows_read(case.target, case.proposal) as read:
        got = case.run(name, draft_heat=1.0, **filters)
    want = clean.run(name, draft_heat=1.0, **filters)
    assert got.error.tolist() == [0] * len(LENGTHS)
    assert torch.equal(got.node, want.node)
    assert torch.equal(got.token, want.token)
    if name in ("one-hot", "nss"):
        wanted[1] = set()
    assert read == wanted


def test_a_first_pass_that_reads_them_all_is_noticed():
    case, _, wanted = poisoned(Tree.chain(5), 60)

    def needed(tree, tokens, b, row, N, NODES):
        return row >= 0

    with patch.object(opening, "needed", needed), rows_read(case.target, case.proposal) as read:
        case.run("block", draft_heat=1.0)
    assert all(rows < more for rows, more in zip(wanted, read, strict=True))


def test_a_tree_of_each_row_reads_what_was_drawn():
    paths, _, _ = poisoned(Tree.paths(2, 2), 60)
    tree, tokens = Tree.merged(paths.tokens.reshape(len(LENGTHS), 2, 2).mT)
    drawn = tree.drawn(tokens)
    case = replace(paths, tree=tree, tokens=tokens)
    with rows_read(case.target, case.proposal) as read:
        assert not case.run("rrs").error.any()
    assert read[0] == {(b, i) for b, i in drawn.nonzero().tolist()}
