"""Functions as public code writes them: each is audited, or not audited with the reason and the wrapper."""

import pytest

from draftproof.simulators import audit
from draftproof.simulators.audit import load
from draftproof.simulators.audit.targets.signatures import infer_signature
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.tree import Tree as Siblings
from draftproof.theory.errors import BadInput

pytest.importorskip("torch")
import torch

from tests.simulators.audit import spelled

ROWS = [scenario(name, Chain(depth), 2) for name, depth in (("toy", 1), ("reversed", 2))]
SMALL = {"instances": ROWS, "edges": False, "smallest": False}


def named(function):
    return getattr(function, "__name__", type(function).__name__)


def test_how_many_there_are():
    assert len(spelled.AUDITED) >= 25


@pytest.mark.parametrize("function", spelled.AUDITED, ids=named)
@pytest.mark.sampled(3)
def test_an_ordinary_spelling_is_audited(function):
    report = audit.examine(function, **SMALL)
    assert report.lossless, report


@pytest.mark.parametrize(
    "name",
    [
        "count_and_token",
        "count_and_token_or_none",
        "batch",
        "batch_that_draws_for_every_position",
        "flat",
        "from_logits",
        "batch_of_one",
    ],
)
def test_a_fault_is_found_in_each_layout(name, monkeypatch):
    monkeypatch.setattr(spelled, "GENEROUS", 1.25)
    report = audit.examine(getattr(spelled, name), **SMALL)
    assert report.lossless is False
    assert report.wrong is not None


@pytest.mark.parametrize("function", spelled.LOSSY, ids=named)
def test_a_fault_of_the_second_row_is_found(function):
    assert audit.examine(function, **SMALL).lossless is False


@pytest.mark.parametrize("function", spelled.NOT_AUDITED, ids=named)
@pytest.mark.sampled(3)
def test_what_cannot_be_called_is_not_audited_and_the_wrapper_is_said(function):
    with pytest.raises(BadInput, match="not audited") as raised:
        audit.examine(function, **SMALL)
    for words in ("its signature is", "cu_num_draft_tokens", "def verify("):
        assert words in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.slow
def test_arrays_that_are_handed_on_to_torch_are_followed_there():
    def verify(target_probs, draft_probs, draft_tokens, rng):
        return spelled.whole(*map(torch.as_tensor, (target_probs, draft_probs, draft_tokens)))

    def from_the_target(target_probs, draft_probs, draft_tokens, rng):
        p, q, x = map(torch.as_tensor, (target_probs, draft_probs, draft_tokens))
        return spelled.core(p, q, x, draw=lambda _: int(torch.multinomial(p[0], 1)))

    def seeded(target_probs, draft_probs, draft_tokens, rng):
        torch.manual_seed(0)
        return verify(target_probs, draft_probs, draft_tokens, rng)

    report = audit.examine(verify, **SMALL)
    assert report.lossless, report
    assert infer_signature(verify).dtype == "float32"  # the type of torch's draws
    assert infer_signature(verify, dtype="float64").dtype == "float64"
    assert not infer_signature(lambda p, q, x, rng: [0]).draws_in_torch
    assert audit.examine(from_the_target, **SMALL).wrong is not None
    report = audit.examine(seeded, **SMALL)
    assert "seeds its own generator" in [finding.kind for finding in report.findings]


@pytest.mark.parametrize("residual", [True, False])
def test_a_tree_function_that_draws_from_torch_is_followed(residual):
    def verify(target, draft, rng):
        node, emitted = draft.root, []
        while True:
            p = torch.tensor(target[node.prefix])
            for child in node.children:
                q = torch.tensor(node.proposal)
                if torch.rand(1) < p[child.token] / q[child.token]:
                    break
                p = torch.clamp(p - q, min=0) if residual else p
                p = p / p.sum()
            else:
                return [*emitted, int(torch.multinomial(p, 1))]
            emitted.append(child.token)
            node = child

    tree = audit.Tree(verify, drafts=[Siblings(((), ()), replacement=True)])
    report = audit.examine(tree, vocab=2, edges=False)
    assert report.lossless is residual, report
    assert tree.dtype == "float32"


def test_a_function_of_models_is_told_of_loops():
    def generate(input_ids, max_new_tokens):
        return []

    with pytest.raises(BadInput, match=r"def generate\(target, draft, prompt, length, gamma\).*--loop"):
        audit.examine(generate, **SMALL)


@pytest.mark.parametrize("package", [True, False])
def test_a_file_of_a_package_is_loaded_as_its_module(tmp_path, monkeypatch, package):
    rules = tmp_path / "outer" / "rules"
    rules.mkdir(parents=True)
    for folder in (rules.parent, rules):
        if package:
            (folder / "__init__.py").write_text("")
    for value in (1, 2):
        (rules / "one.py").write_text(f"value = {value}\n")
        (rules / "two.py").write_text("from .one import value\ndef verify(p, q, x, rng): return [value]\n")
        assert load.load(f"{rules / 'two.py'}:verify")(0, 0, 0, 0) == [value]
    monkeypatch.chdir(rules)
    (rules / "three.py").write_text("from .four import value\n")
    with pytest.raises(BadInput, match=r"three.py: cannot be imported: ModuleNotFoundError: .*four"):
        load.load("three.py:verify")
