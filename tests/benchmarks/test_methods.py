"""Peers decide as their rule says: the glue gives them what they take. Skipped where a package is missing."""

import inspect
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from benchmarks import verification as methods  # noqa: E402
from benchmarks.cases import Case, make  # noqa: E402
from draftproof.gpu import kernels  # noqa: E402
from draftproof.gpu.sampling.tree import Tree  # noqa: E402
from draftproof.gpu.verify import named  # noqa: E402
from draftproof.gpu.verify.verifier import level_law, stop_law  # noqa: E402
from tests.gpu.logits import probabilities  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
GAMMA, V = 3, 40


def first_ids(out):
    """[B] accepted and [B] extra tokens of ids padded with -1."""
    count = (out >= 0).sum(1) - 1
    return count, out.gather(1, count[:, None].long())[:, 0]


KINDS = {"FlashInfer token": ("flashinfer", methods.flashinfer, lambda out: first_ids(out[0]))}
"""Package, how to make the call, and (accepted, extra token) of what it gives."""


def ready(name, case):
    """A call that gives (accepted [B], extra [B]); skips where this peer cannot run here."""
    package, maker, read = KINDS[name]
    pytest.importorskip(package, exc_type=ImportError)
    if not kernels.AVAILABLE:
        pytest.skip("needs Triton")
    if package == "flashinfer" and DEVICE.type != "cuda":
        pytest.skip("needs a GPU")
    try:
        call = maker(case)
    except (ImportError, NotImplementedError) as error:
        pytest.skip(f"not in this release: {error}")
    return lambda: read(call())


def repeated(case: Case, times: int) -> Case:
    """The case's first request, many times, each with noise of its own."""
    case = case.take(torch.zeros(times, dtype=torch.long, device=DEVICE))
    random = torch.Generator(DEVICE).manual_seed(1)
    coins = torch.rand(times, case.gamma, generator=random, device=DEVICE)
    extra = torch.rand(times, generator=random, device=DEVICE)
    return replace(case, coins=coins, extra=extra)


def tau_law(name, case):
    """The law of the accepted length of the rule, given the draft."""
    verifier = named(name.split()[-1])
    drafts = case.take(torch.tensor([0], device=DEVICE)).map_rows(probabilities)
    accept = verifier.rates(drafts).accept
    return level_law(case.tree, stop_law(verifier, case.tree, accept, drafts.drawn))[0]


@pytest.mark.parametrize("name", KINDS)
def test_acceptance_has_the_rule_s_law(name):
    """Mean accepted length within five standard deviations; the rejected token is never the extra one."""
    case = repeated(make("chain", GAMMA, V, 1, DEVICE, torch.float32), 100)
    law = tau_law(name, case)
    length = torch.arange(GAMMA + 1, device=DEVICE)
    mean = (law * length).sum()
    deviation = ((law * (length - mean) ** 2).sum() / case.B).sqrt()
    accepted, extra = ready(name, case)()
    assert 0.3 < mean < GAMMA - 0.3
    assert abs(accepted.double().mean() - mean) < 5 * deviation
    assert ((extra >= 0) & (extra < V)).all()
    rejected = accepted < GAMMA
    dropped = case.tokens.gather(1, accepted.long().clamp(max=GAMMA - 1)[:, None])[:, 0]
    assert (extra != dropped)[rejected].all()


@pytest.mark.parametrize("name", KINDS)
def test_equal_rows_accept_everything(name):
    case = make("chain", GAMMA, V, 4, DEVICE, torch.bfloat16)
    case = replace(case, target=torch.cat((case.proposal, case.target[:, -1:]), 1))
    accepted, _ = ready(name, case)()
    assert accepted.tolist() == [GAMMA] * 4


def test_flashinfer_takes_what_it_is_given():
    sampling = pytest.importorskip("flashinfer.sampling", exc_type=ImportError)
    given = inspect.signature(sampling.chain_speculative_sampling).bind(1, 2, 3, seed=0, offset=0).arguments
    assert list(given)[:3] == ["draft_probs", "draft_token_ids", "target_probs"]


def test_transformers_gives_one_request_s_tokens():
    pytest.importorskip("transformers")
    case = make("chain", GAMMA, V, 1, torch.device("cpu"), torch.float32)
    case = replace(case, target=torch.cat((case.proposal, case.target[:, -1:]), 1))
    ids, accepted = methods.transformers(case)()
    assert int(accepted) == GAMMA
    assert ids[0, :GAMMA].tolist() == case.tokens[0].tolist()
    assert case.tree.is_chain
    assert isinstance(case.tree, Tree)
