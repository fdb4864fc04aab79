"""Functions as public code writes them: each is audited, or not audited with the reason and the wrapper."""

import click
import pytest

from draftproof.simulators import audit
from draftproof.simulators.audit import load
from draftproof.simulators.audit.glue import written
from draftproof.simulators.audit.spelling import natural
from draftproof.simulators.commands.audit import audit as command
from draftproof.simulators.commands.entry import enter
from draftproof.simulators.instances.scenarios import scenario
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput

pytest.importorskip("torch")
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
    for words in ("its signature is", "cu_num_draft_tokens", "--signature", "def verify("):
        assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_signature_is_given():
    def alien(a, b, c):
        return spelled.whole(c, b, a)

    alien.__globals__.setdefault("torch", spelled.torch)
    target = natural(alien, given="tokens,q,p")
    assert audit.examine(target, **SMALL).lossless
    with pytest.raises(BadInput, match="nothing"):
        natural(alien, given="nothing")


def test_a_function_that_an_adapter_knows_is_taken_by_it():
    pytest.importorskip("transformers")
    name = "transformers.generation.utils:_speculative_sampling"
    assert load.target(name).adapter == "transformers"
    assert load.taken("x/vllm/v1/sample/rejection_sampler.py:rejection_sample")[0] == "vllm"
    assert load.taken("mine.py:verify") is None


def test_init_writes_a_wrapper_that_is_audited_and_a_test(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "import torch\nfrom tests.simulators.audit.spelled import whole\n"
        "def step(draft_token_ids, draft_probs, target_probs):\n"
        "    return whole(target_probs, draft_probs, draft_token_ids)\n"
    )
    group = click.Group("draftproof", [command])
    assert enter(group, ["audit", "mine.py:step", "--init"]) == 0
    assert "assert_lossless(verify)" in (tmp_path / "test_audited.py").read_text()
    verify = load.load(f"{tmp_path / 'audited.py'}:verify")
    assert audit.examine(verify, **SMALL).lossless
    assert "edit" not in capsys.readouterr().out
    assert enter(group, ["audit", "mine.py:step", "--init"]) == 2
    assert "exists" in capsys.readouterr().err


def test_init_makes_a_batch_where_the_function_takes_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(list(written("tests.simulators.audit.spelled:batch_of_one"))) == 3
    assert "candidate_logits=draft_probs.log()[None]," in (tmp_path / "audited.py").read_text()
    verify = load.load(f"{tmp_path / 'audited.py'}:verify")
    assert audit.examine(verify, **SMALL).lossless
    for path in tmp_path.glob("*.py"):
        path.unlink()
    *_, last = written("tests.simulators.audit.spelled:configured")
    assert last.startswith("edit audited.py")
