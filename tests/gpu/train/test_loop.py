"""One step of training, and the losses at the sizes of every preset."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from draftproof.gpu.drafters.features import new_head
from draftproof.gpu.train.loop import (
    DECAY,
    MOMENTUM,
    Compiler,
    Muon,
    drafter_loss,
    fit,
    halves,
    orthogonal,
    rate_at,
    rollout_loss,
    text_loss,
)
from draftproof.gpu.train.recipe import CAUSAL, PRESETS
from draftproof.theory.errors import BadInput


def test_the_rate_rises_to_its_peak_and_ends_near_zero():
    for steps in (1, 2, 7, 40, 1000):
        rates = [rate_at(step, steps, 3.0) for step in range(steps)]
        top = rates.index(max(rates))
        assert rates == sorted(rates[: top + 1]) + sorted(rates[top + 1 :], reverse=True)
        assert max(rates) == 3.0
        assert 0 < rates[-1] <= 3.0 / max(1, steps - max(1, steps // 20))


@pytest.mark.parametrize("shape", [(6, 6), (5, 17), (17, 5)])
def test_orthogonal_keeps_the_singular_vectors_and_evens_the_values(shape):
    generator = torch.Generator().manual_seed(1)
    u, _ = torch.linalg.qr(torch.randn(shape[0], min(shape), generator=generator, dtype=torch.float64))
    v, _ = torch.linalg.qr(torch.randn(shape[1], min(shape), generator=generator, dtype=torch.float64))
    values = torch.linspace(0.2, 1.0, min(shape), dtype=torch.float64)
    evened = u.T @ orthogonal((u * values @ v.T)[None])[0] @ v
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
    for dtype in (torch.float32, torch.bfloat16):
        ours = walked(lambda weights, dtype=dtype: Muon(weights, 0.1, dtype))
        for mine, other, before in zip(ours, peer, start, strict=True):
            assert (mine - other).norm() < 0.05 * (other - before).norm()


def test_a_loop_learns_in_either_precision(tmp_path, monkeypatch):
    config = PRESETS["tiny"].drafter.config(50, 16, 0)
    text = torch.arange(16).repeat(4, 1) % 5
    for half in (True, False):
        monkeypatch.setattr("draftproof.gpu.train.loop.halves", lambda device, half=half: half)
        torch.manual_seed(0)
        model = transformers.LlamaForCausalLM(config)
        losses = fit(
            model,
            lambda batch, model=model: text_loss(model, batch),
            lambda step: text,
            8,
            3e-3,
            tmp_path / "none",
            lambda *_: None,
        )
        assert losses[-1] < 0.7 * losses[0]
        assert {each.dtype for each in model.parameters()} == {torch.float32}


def test_bfloat16_is_used_only_where_the_processor_has_it(monkeypatch):
    for able, expected in (
        ({"avx2": True}, False),
        ({"avx512_bf16": True}, True),
        ({"amx_bf16": True}, True),
    ):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda able=able: able, raising=False)
        assert halves(torch.device("cpu")) is expected
    monkeypatch.delattr(torch.cpu, "get_capabilities")
    assert halves(torch.device("cpu")) is False


def test_causal_attention_is_transformers_own():
    config = PRESETS["small"].drafter.config(50, 16, 0)
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config).eval()
    batch = torch.arange(32).view(2, 16)
    with torch.no_grad():
        expected = model(input_ids=batch, use_cache=False).logits
        model.set_attn_implementation(CAUSAL)
        assert torch.allclose(model(input_ids=batch, use_cache=False).logits, expected, atol=1e-6)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_computed_at_its_true_sizes(name):
    """On tensors without numbers: shapes fit, and every learned parameter has a gradient."""
    sizes = PRESETS[name]
    with torch.device("meta"):
        target, drafter = (
            transformers.LlamaForCausalLM(shape.config(sizes.vocab, sizes.context, 0))
            for shape in (sizes.target, sizes.drafter)
        )
        for model in (target, drafter):
            model.set_attn_implementation(CAUSAL)
        head = new_head(target)
        batch = torch.zeros(sizes.batch, sizes.context, dtype=torch.long)
    losses = {
        target: lambda: text_loss(target, batch),
        drafter: lambda: drafter_loss(drafter, target, batch),
        head: lambda: rollout_loss(head, target, batch, sizes.rollouts),
    }
    for model, loss in losses.items():
        for each in (target, drafter, head):
            each.requires_grad_(each is model)
        loss().backward()
        assert all(each.grad is not None for each in model.parameters())


def test_a_checkpoint_of_another_kind_of_training_is_refused(tmp_path):
    path = tmp_path / "target.checkpoint"
    torch.save({"model": {}, "optimizer": {}, "losses": [1.0]}, path)
    model = torch.nn.Linear(2, 2)
    with pytest.raises(BadInput, match="from an incompatible version"):
        fit(model, lambda batch: model(batch).sum(), torch.zeros, 3, 1e-3, path, lambda step, loss: None)


BATCH = torch.zeros(1, 8, dtype=torch.long)


def network():
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(PRESETS["tiny"].drafter.config(50, 16, 0))


def first_losses(compiled):
    """Of two networks in turn, each asked twice."""
    networks = network(), network()
    return [text_loss(call, BATCH).item() for call in map(compiled, networks) for _ in range(2)]


def test_where_nothing_can_compile_one_line_says_so_and_networks_run_as_they_are(monkeypatch, capfd):
    asked = []

    def broken(network):
        asked.append(network)

        def call(**_):
            raise RuntimeError("Failed to find C compiler.\nMore lines.")

        return call

    monkeypatch.setattr(torch, "compile", broken)
    plain = first_losses(Compiler(torch.device("cpu")))
    assert first_losses(Compiler(torch.device("cuda"))) == plain
    assert len(asked) == 1
    assert capfd.readouterr().err == (
        "trained without torch.compile, which does not work here: Failed to find C compiler.\n"
    )


def test_a_compiled_network_fails_as_it_is(monkeypatch):
    def once(network):
        seen = []

        def call(**inputs):
            seen.append(1)
            if len(seen) > 1:
                raise RuntimeError("later")
            return network(**inputs)

        return call

    def full(**_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    for compile_, error in ((once, "later"), (lambda _: full, "memory")):
        monkeypatch.setattr(torch, "compile", compile_)
        with pytest.raises(RuntimeError, match=error):
            first_losses(Compiler(torch.device("cuda")))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_without_a_compiler_torch_cannot_compile(capfd):
    from torch._inductor import config

    torch.compiler.reset()
    plain = first_losses(Compiler(torch.device("cpu")))
    with config.patch({"cpp.cxx": (None, "/no/such/compiler")}):
        assert first_losses(Compiler(torch.device("cuda"))) == plain
    assert capfd.readouterr().err.count("\n") == 1


def test_the_rate_at_some_steps():
    rates = [rate_at(step, 40, 1.0) for step in (0, 1, 2, 20, 39)]
    assert rates == [0.5, 1.0, 1.0, 0.5263157894736842, 0.02631578947368421]


def test_orthogonal_brings_singular_values_near_one():
    torch.manual_seed(0)
    values = torch.linalg.svdvals(orthogonal(torch.randn(3, 8, 20)))
    assert ((values > 0.5) & (values < 1.5)).all()
