"""Public code of selection, verification and grammars in studies/field, on small stand-ins of our own."""

from pathlib import Path

import pytest

from draftproof.simulators import audit
from draftproof.simulators.audit import load
from draftproof.simulators.audit.targets import loops, models
from draftproof.simulators.instances.batches import witness
from draftproof.theory.errors import BadInput

pytest.importorskip("torch")

STUDIES = Path(__file__).parents[2] / "studies/field"

SGLANG = """
import torch
from sglang.srt.anything import nothing

def schedule_verify_lens_topk(*, {score}, budget, cfg):
    scores = {score}.cumprod(dim=1) if "{score}" == "confidence" else survival_probs
    places = [(-float(x), j, r) for r, row in enumerate(scores) for j, x in enumerate(row)]
    taken = [r for *_, r in sorted(places)[:budget]]
    return torch.tensor([cfg.min_verify_len + taken.count(r) for r in range(len(scores))])
"""

VLLM = """
import torch
from vllm.anything import nothing

def _assign_draft_token_budget(confidence_probs, idx_mapping, capacities, draft_budget, num_steps):
    survival = confidence_probs[idx_mapping].cumprod(dim=1)
    order = survival.flatten().argsort(descending=True, stable=True)[:draft_budget]
    capacities.copy_(torch.bincount(order // num_steps, minlength=len(capacities)))
"""

TETRIS = """
import torch
from torch_scatter import scatter_max
from vllm.spec_decode.interfaces import SpeculativeProposals

def select_proposals_no_priority(capacity: int, proposals: SpeculativeProposals):
    tokens = proposals.proposal_token_ids
    scores = proposals.proposal_logprobs.gather(-1, tokens[..., None])[..., 0].cumsum(-1)
    best = scores.flatten().topk(capacity).indices
    size = tokens.shape[1]
    proposals.proposal_lens, _ = scatter_max(best % size + 1, best // size, dim_size=len(tokens))
    return proposals
"""

BASE = """
class SpecDecodeStochasticBaseSampler:
    pass
"""

SAMPLER = """
import torch
import vllm.envs as envs
from vllm.model_executor.layers.spec_decode_base_sampler import SpecDecodeStochasticBaseSampler

class RejectionSampler(SpecDecodeStochasticBaseSampler):
    def __init__(self, use_flashinfer):
        self.use_flashinfer = use_flashinfer

    def init_gpu_tensors(self, device):
        self.device = device

    def __call__(
        self, target_with_bonus_probs, bonus_token_ids, draft_probs, draft_token_ids, proposal_lens_list, **_
    ):
        words = torch.full((len(draft_token_ids), draft_token_ids.shape[1] + 1), -1)
        for r, length in enumerate(proposal_lens_list):
            p, q = target_with_bonus_probs[r], draft_probs[r]
            for j, x in enumerate(draft_token_ids[r, :length].tolist()):
                if torch.rand(1)[0] * q[j, x] < p[j, x]:
                    words[r, j] = x
                    continue
                words[r, j] = torch.multinomial((p[j] - q[j]).clamp(min=0), 1)[0]
                break
            else:
                words[r, length] = bonus_token_ids[r, 0]
        return words
"""

WORKER = """
class SpecDecodeWorker:
    @nvtx_range("verify")
    def _verify_tokens(
        self, requests: List[SequenceGroupMetadata], scores, proposals, longest: int
    ) -> Tuple[Any, Any]:
        lengths = proposals.proposal_lens.tolist()
        (_, some), (_, none) = split_batch_by_proposal_len(requests, lengths)
        words = self.spec_decode_sampler(
            target_with_bonus_probs=scores.probs[some],
            bonus_token_ids=scores.token_ids[some, [lengths[r] for r in some]].unsqueeze(-1),
            draft_probs=proposals.proposal_probs[some],
            draft_token_ids=proposals.proposal_token_ids[some],
            proposal_lens_list=[lengths[r] for r in some],
        )
        others = scores.token_ids[none].clone()
        others[:, 1:] = -1
        words = torch.cat([words, others])
        TRACER.current_step.batched_requests
        words[some + none] = words.clone()
        return words, scores.logprobs

    def after(self):
        pass
"""

DEEPSPEC = """
def verify_draft_tokens(
    *, target_model, proposal: DraftProposal, position_ids, start, past_key_values_target: DynamicCache,
    temperature, max_proposal_tokens
) -> VerificationResult:
    p = logits_to_probs(target_model().logits, temperature)[0]
    tokens, n = proposal.verify_input_ids[0, 1:], 0
    q = proposal.draft_probs[0]
    while n < len(tokens) and torch.rand(1)[0] * q[n, tokens[n]] < p[n, tokens[n]]:
        n += 1
    row = p[n] if n == len(tokens) else (p[n] - q[n]).clamp(min=0)
    last = sample_from_probs(row[None])
    return VerificationResult(committed_tokens=torch.cat([tokens[:n], last])[None])
"""

SAMPLING = """
def logits_to_probs(logits, temperature):
    return torch.softmax(logits / temperature, dim=-1)


def sample_from_probs(probs):
    return torch.multinomial(probs, 1)[0]
"""

SSD = """
import torch
from ssd.utils.async_helpers.async_spec_helpers import apply_sampler_x_rescaling

def verify(logits_p, logits_q, speculations, temperatures_target, temperatures_draft, cache_hits=None):
    p, q, tokens = logits_p[0].softmax(-1), logits_q[0].softmax(-1), speculations[0, 1:].tolist()
    for n, x in enumerate(tokens):
        sure = torch.rand(1)[0] * q[n, x] < p[n, x] if cache_hits[0] else p[n].argmax() == x
        if not sure:
            row = (p[n] - q[n]).clamp(min=0) if cache_hits[0] else p[n]
            return [[0, *tokens[:n]]], torch.multinomial(row, 1).tolist()
    return [[0, *tokens]], torch.multinomial(p[-1], 1).tolist()
"""


def written(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def report_on(name, style="verify", **options):
    target = load.target(load.Subject(f"{STUDIES}/{name}", style))
    return audit.examine(target, vocab=2, depth=options.pop("depth", 2), edges=False, **options)


@pytest.fixture
def clones(tmp_path, monkeypatch):
    monkeypatch.setenv("DRAFTPROOF_FIELD", str(tmp_path))
    for module in (loops, models):
        monkeypatch.setattr(module, "PROMPT", module.PROMPT)  # studies change it
    return tmp_path


@pytest.mark.parametrize("score", ["confidence", "survival_probs"])
def test_sglang_topk(clones, score):
    name = "sgl-project/sglang/python/sglang/kernels/ops/speculative/dspark/dspark_schedule.py"
    text = SGLANG.replace("{score}", score)
    written(clones, {name: text})
    report = report_on("sglang_topk.py:select")
    assert report.lossless, report
    written(clones, {name: text.replace("(-float(x), j, r)", "(-float(x), -j, r)")})
    report = report_on("sglang_topk.py:select")
    assert report.status == 1, report


def test_vllm_budget(clones):
    name = "vllm-project/vllm/vllm/v1/worker/gpu/spec_decode/adaptive_verification.py"
    written(clones, {name: VLLM})
    report = report_on("vllm_budget.py:select")
    assert report.lossless, report
    deeper = "survival.add(torch.arange(num_steps) * 1e-5).flatten().argsort("
    written(clones, {name: VLLM.replace("survival.flatten().argsort(", deeper)})
    report = report_on("vllm_budget.py:select")
    assert report.status == 1, report


def tetris(folder, order="[..., 0].cumsum(-1)", row="(p[j] - q[j]).clamp(min=0)"):
    fork = "ZhaoxuanWu/Tetris/vllm"
    layers = f"{fork}/model_executor/layers"
    return written(
        folder,
        {
            f"{fork}/spec_decode/tetris.py": TETRIS.replace("[..., 0].cumsum(-1)", order),
            f"{fork}/spec_decode/spec_decode_worker.py": WORKER,
            f"{layers}/spec_decode_base_sampler.py": BASE,
            f"{layers}/rejection_sampler.py": SAMPLER.replace("(p[j] - q[j]).clamp(min=0)", row),
        },
    )


BY_REQUEST = "[..., 0].cumsum(-1) * 0"  # the order of requests, whatever they drafted


@pytest.mark.parametrize(("name", "style"), [("select", "verify"), ("verified", "verify")])
def test_tetris(clones, name, style):
    tetris(clones)
    report = report_on(f"tetris.py:{name}", style, instances=[witness("tetris")], smallest=False)
    assert (report.status, float(report.total_variation)) == (1, pytest.approx(1 / 6)), report
    tetris(clones, BY_REQUEST)
    report = report_on(f"tetris.py:{name}", style, depth=1)
    assert report.lossless, report


def test_a_verification_with_a_fault_of_its_own(clones):
    tetris(clones, BY_REQUEST, "p[j]")
    assert report_on("tetris.py:verified", depth=1).status == 1


def test_deepspec(clones):
    evaluator = "deepseek-ai/DeepSpec/deepspec/eval/base_evaluator.py"
    written(clones, {evaluator: DEEPSPEC, "deepseek-ai/DeepSpec/deepspec/utils/sampling.py": SAMPLING})
    assert report_on("deepspec.py:verify").lossless
    written(clones, {evaluator: DEEPSPEC.replace("(p[n] - q[n]).clamp(min=0)", "p[n]")})
    assert report_on("deepspec.py:verify").status == 1


def test_ssd(clones):
    written(clones, {"tanishqkumar/ssd/ssd/utils/verify.py": SSD})
    assert report_on("ssd.py:hit").lossless
    report = report_on("ssd.py:miss")
    assert (report.status, str(report.wrong.want)) == (1, "1/2"), report


def test_a_file_without_the_function_is_bad_input(clones):
    written(clones, {"tanishqkumar/ssd/ssd/utils/verify.py": "def other():\n    pass\n"})
    with pytest.raises(BadInput, match="no function verify"):
        load.target(f"{STUDIES}/ssd.py:hit")


def test_a_target_has_its_own_style(clones):
    tetris(clones)
    with pytest.raises(BadInput, match="is a target already"):
        load.target(load.Subject(f"{STUDIES}/tetris.py:verified", "tree"))


def test_methods_are_cut_out_without_their_decorators(tmp_path):
    methods, method = (load.load(f"{STUDIES}/engines.py:{name}") for name in ("methods", "method"))
    path = tmp_path / "engine.py"
    path.write_text(
        "import engine\nclass Other:\n    def step(self): return 1\n"
        "class Made(engine.Base):\n    @engine.compile(x=1)\n    def step(self, p: Missing) -> engine.Out:\n"
        "        return helper(p)\n"
    )
    found = methods(path, "Made", ("step",), {"helper": lambda p: p + 1})
    assert found.step(None, 1) == 2
    assert method(path, "step", {})(None) == 1
    with pytest.raises(BadInput, match="no method verify of Made"):
        methods(path, "Made", ("verify",))
