"""The joint law of the first tokens is the target's, over several steps: chi-square at fixed seeds."""
# ruff: noqa: E402

import itertools
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from scipy.stats import chi2

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.drafters import choose, structures
from draftproof.gpu.drafters.block_diffusion import BlockDrafter, Variant
from draftproof.gpu.drafters.drafter import ModelDrafter, NgramDrafter
from draftproof.gpu.drafters.eagle3 import FeatureDrafter
from draftproof.gpu.drafters.mtp import MtpHead
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.output import texts
from draftproof.gpu.network.models import Model
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.sampling.strata import stratified
from draftproof.gpu.verify import named
from studies.train_pair import new_block
from tests.gpu.drafters import reference
from tests.gpu.lossy import Claiming
from tests.gpu.small import CONTEXT, Numbers, network, new_head

VOCAB, LENGTH, ROWS, PROMPT = 5, 4, 6000, [1, 2, 1, 2]
SAMPLING = Sampling(1.5, top_p=0.97)


@pytest.fixture(scope="module")
def target():
    return Model("target", network(16, 2, 0, VOCAB), Numbers(), VOCAB, CONTEXT)


@pytest.fixture(scope="module")
def exact(target):
    """The law of the first tokens, by enumerating the vocabulary."""
    words = list(itertools.product(range(VOCAB), repeat=LENGTH))
    with torch.no_grad():
        ids = torch.tensor([[*PROMPT, *word] for word in words])
        rows = SAMPLING.rows(target.network(input_ids=ids, use_cache=False).logits)[:, len(PROMPT) - 1 : -1]
    return rows.double().gather(2, torch.tensor(words)[..., None])[..., 0].prod(1).numpy()


def agreement(target, exact, drafter, verifier, spelling, **options):
    """The p-value of the first tokens' law; words that it does not have are refused."""
    steps = generate(
        target,
        drafter,
        [PROMPT] * ROWS,
        verifier=named(verifier),
        structure=structure(spelling),
        **{"sampling": SAMPLING, **options},
        max_new_tokens=LENGTH,
        ignore_end=True,
        seed=5,
    )
    seen = np.array(texts(steps, ROWS)) @ VOCAB ** np.arange(LENGTH - 1, -1, -1)
    counts = np.bincount(seen, minlength=VOCAB**LENGTH)
    assert not counts[exact == 0].any()
    rare = exact * ROWS < 5  # one cell for all of them
    expected = np.append(exact[~rare], exact[rare].sum()) * ROWS
    found = np.append(counts[~rare], counts[rare].sum())
    return chi2.sf(((found - expected) ** 2 / np.maximum(expected, 1e-9)).sum(), len(expected) - 1)


def other():
    """A drafter that is right now and then."""
    return ModelDrafter(Model("other", network(16, 1, 4, VOCAB), Numbers(), VOCAB, CONTEXT))


def published(target):
    """An EAGLE-3 head with a vocabulary of three tokens."""
    about, weights = reference.eagle3(target, torch.tensor([0, 2, 3]))
    with TemporaryDirectory() as folder:
        reference.written(Path(folder), about, weights)
        return choose.published(Path(folder), target, "published")


def block(target, **parts):
    """A block drafter whose rows depend on the context."""
    torch.manual_seed(4)
    network = new_block(target.network, 4, 2, Variant(**parts)).eval().requires_grad_(False)
    for weight in network.parameters():
        weight += 0.3 * torch.randn_like(weight)
    return BlockDrafter(network, target)


def mtp(target):
    """A head for multi-token prediction with random weights."""
    head = MtpHead(new_head(target).config)
    head.lm_head = target.network.get_output_embeddings()
    return FeatureDrafter(head.eval().requires_grad_(False), target)


def drafters(target):
    torch.manual_seed(3)
    head = new_head(target)
    return {
        "published": published(target),
        "model": other(),
        "features": FeatureDrafter(head, target),
        "ngram": NgramDrafter(target),
        "block": block(target),
        "markov": block(target, markov=4),
        "refiner": block(target, markov=4, refiner=6),
        "parallel": FeatureDrafter(new_head(target, (3, 3)), target),
        "mtp": mtp(target),
    }


@pytest.mark.parametrize(
    ("which", "verifier", "spelling"),
    [
        ("model", "token", "chain:2"),
        ("features", "block", "chain:3"),
        ("model", "traversal", "paths:2x2"),
        ("features", "rrs", "tree:2x2"),
        ("model", "specinfer", "tree+:2x2"),
        ("model", "one-hot", "top-k:2x3x4"),
        ("ngram", "block", "chain:2"),
        ("model", "optimal", "strata:3x2"),
        pytest.param("published", "traversal", "tree:3x2", marks=pytest.mark.slow),
        ("features", "lifted-optimal", "strata:[[[]],[]]"),
        ("model", "lifted-optimal", "tree+:2x2"),
        ("block", "block", "chain:3"),
        pytest.param("parallel", "block", "chain:3", marks=pytest.mark.slow),
        pytest.param("refiner", "block", "chain:3", marks=pytest.mark.slow),
        pytest.param("parallel", "traversal", "tree:2x2", marks=pytest.mark.slow),
        pytest.param("mtp", "block", "chain:3", marks=pytest.mark.slow),
        pytest.param("mtp", "traversal", "tree:2x2", marks=pytest.mark.slow),
        pytest.param("refiner", "lifted-optimal", "strata:2x2", marks=pytest.mark.slow),
        pytest.param("block", "traversal", "tree:2x2", marks=pytest.mark.slow),
        pytest.param("block", "nss", "ddtree:5x3", marks=pytest.mark.slow),
        pytest.param("markov", "lifted-optimal", "strata:2x2", marks=pytest.mark.slow),
        pytest.param("features", "lifted-optimal", "strata:[[[],[]],[[]],[]]", marks=pytest.mark.slow),
    ],
)
@pytest.mark.sampled(3)
def test_the_law_of_the_first_tokens_is_the_targets(target, exact, which, verifier, spelling):
    assert agreement(target, exact, drafters(target)[which], verifier, spelling) > 1e-3


@pytest.mark.slow
def test_ratios_of_marginals_on_the_likeliest_prefixes_are_found_out(target, exact, monkeypatch):
    claiming = Claiming("ddtree:4x2", 4, 2, 4)
    monkeypatch.setitem(globals(), "structure", lambda name: claiming)
    assert agreement(target, exact, block(target), "rrs", "ddtree:4x2") < 1e-6


def test_strata_that_are_forgotten_after_drawing_are_found_out(target, exact, monkeypatch):
    def without_cuts(*given):
        mean, places, tokens = stratified(*given)
        return mean, places.floor(), tokens

    monkeypatch.setattr(structures, "stratified", without_cuts)
    assert agreement(target, exact, drafters(target)["model"], "optimal", "strata:2x1") < 1e-6
