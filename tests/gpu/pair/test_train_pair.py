"""The script that makes the pair that ships, on a few steps: what a finished folder holds, and its losses."""
# ruff: noqa: E402

import json

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from draftproof.gpu.drafters.choose import SHIPPED, pair
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.verify import named
from studies import train_pair
from studies.train_pair import DECAY, MOMENTUM, Muon, Shape, Sizes, byte_pairs, encoded, held_out, orthogonal

STEPS = 16, 8, 5
QUICK = Sizes(300, 32, 0, Shape(32, 2, 4, 2, 48), Shape(16, 1, 2, 1, 24), 4, STEPS, 3e-3)
TEXTS = [f"def f{k}(x):\n    return x + {k}\n" * 60 for k in range(60)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "pair"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train_pair, "sources", lambda limit: TEXTS)
        return out, train_pair.train(out, QUICK)


def test_a_finished_folder_is_laid_out_as_the_pair_that_ships(trained):
    out, answer = trained
    ships = json.loads((SHIPPED / "train.json").read_text(encoding="utf-8"))
    assert ships.keys() - {"block_seconds"} == answer.keys()
    assert json.loads((out / "train.json").read_text(encoding="utf-8")).keys() == answer.keys()
    for name in ("target", "drafter", "block"):
        assert {path.name for path in (out / name).iterdir()} == {
            path.name for path in (SHIPPED / name).iterdir()
        }
        ours, theirs = (json.loads((folder / name / "config.json").read_text()) for folder in (out, SHIPPED))
        assert ours.keys() == theirs.keys()
    sizes = ships["sizes"]
    assert json.loads(json.dumps(train_pair.asdict(train_pair.SHIPPED))) == sizes


def test_what_it_measured(trained):
    _, answer = trained
    assert 0 < answer["overlap"]["drafter"] <= 1
    assert len(answer["overlap"]["block"]) == QUICK.block - 1
    tokens, characters = answer["held_out_loss"], answer["nats_per_character"]
    length = tokens["target"] / characters["target"]  # of a token, in characters: the text repeats itself
    assert length == pytest.approx(answer["characters"] / answer["tokens"], rel=0.2)
    assert tokens["drafter"] / characters["drafter"] == pytest.approx(length, rel=0.01)


@pytest.mark.parametrize("name", ["block", None])
def test_a_finished_folder_decodes(trained, name):
    target, drafter = pair(str(trained[0]), name, "cpu")
    how = {"verifier": named("block"), "structure": structure("chain:2"), "max_new_tokens": 8}
    assert list(generate(target, drafter, [[5]], **how))[-1].finished[0]


def test_a_network_learns():
    torch.manual_seed(0)
    model, text = train_pair.SHIPPED.drafter.untrained(50, 16), torch.arange(16).repeat(4, 1) % 5
    losses = train_pair.fit(model, lambda batch: train_pair.text_loss(model, batch), [text] * 8, 8, 3e-3)
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize("shape", [(6, 6), (5, 17), (17, 5)])
def test_orthogonal_keeps_the_singular_vectors_and_evens_the_values(shape):
    generator = torch.Generator().manual_seed(1)
    u, _ = torch.linalg.qr(torch.randn(shape[0], min(shape), generator=generator, dtype=torch.float64))
    v, _ = torch.linalg.qr(torch.randn(shape[1], min(shape), generator=generator, dtype=torch.float64))
    values = torch.linspace(0.2, 1.0, min(shape), dtype=torch.float64)
    evened = u.T @ orthogonal(u * values @ v.T) @ v
    assert torch.allclose(evened, torch.diag(evened.diagonal()), atol=1e-12)
    assert ((evened.diagonal() > 0.5) & (evened.diagonal() < 1.5)).all()


def test_muon_is_torchs_own_but_for_rounding():
    theirs = getattr(torch.optim, "Muon", None)
    if theirs is None:
        pytest.skip("this torch has no Muon")
    generator = torch.Generator().manual_seed(2)
    start = [torch.randn(*shape, generator=generator) for shape in ((8, 24), (24, 8), (8, 24), (8, 8))]
    gradients = [[torch.randn(each.shape, generator=generator) for each in start] for _ in range(3)]

    def walked(optimizer_of):
        weights = [torch.nn.Parameter(each.clone()) for each in start]
        optimizer = optimizer_of(weights)
        for step in gradients:
            for weight, gradient in zip(weights, step, strict=True):
                weight.grad = gradient.clone()
            optimizer.step()
        return weights

    peer = walked(lambda weights: theirs(weights, lr=0.1, momentum=MOMENTUM, weight_decay=DECAY))
    ours = walked(lambda weights: Muon(weights, 0.1))
    for mine, other, before in zip(ours, peer, start, strict=True):
        assert (mine - other).norm() < 0.05 * (other - before).norm()


def test_text_comes_back_from_its_tokens_and_the_last_texts_are_held_out():
    tokenizer = byte_pairs(TEXTS, 300)
    ids = encoded(TEXTS, tokenizer)
    assert (ids == 0).sum() == len(TEXTS)
    assert tokenizer.decode(ids[: list(ids).index(0)]) == TEXTS[0]
    assert tokenizer.decode(tokenizer.encode("ünïcödé \N{SNOWMAN}")) == "ünïcödé \N{SNOWMAN}"
    known, unseen = held_out(TEXTS)
    assert known + unseen == TEXTS
    assert sum(map(len, unseen)) >= 0.02 * sum(map(len, TEXTS)) > sum(map(len, unseen[1:]))
    first = train_pair.sources(100_000)
    assert sum(map(len, first)) == 100_000
    assert len({*first}) == len(first)
