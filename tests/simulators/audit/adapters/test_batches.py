"""Adapters of selection rules and of research code, on small stand-ins of our own."""

import pytest

from draftproof.simulators import audit
from draftproof.simulators.audit.adapters import adapted
from draftproof.simulators.instances.batches import witness
from draftproof.theory.errors import BadInput

pytest.importorskip("torch")

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


def report_on(name, path, **options):
    return audit.examine(adapted(name, path), vocab=2, depth=options.pop("depth", 2), edges=False, **options)


@pytest.mark.parametrize("score", ["confidence", "survival_probs"])
def test_sglang_topk(tmp_path, score):
    path = written(tmp_path, {"schedule.py": SGLANG.replace("{score}", score)}) / "schedule.py"
    report = report_on("sglang-topk", path)
    assert report.lossless, report
    assert report.adapter == "sglang-topk"
    path.write_text(path.read_text().replace("(-float(x), j, r)", "(-float(x), -j, r)"))
    report = report_on("sglang-topk", path)
    assert report.status == 1, report


def test_vllm_budget(tmp_path):
    path = written(tmp_path, {"adaptive.py": VLLM}) / "adaptive.py"
    report = report_on("vllm-budget", path)
    assert report.lossless, report
    deeper = "survival.add(torch.arange(num_steps) * 1e-5).flatten().argsort("
    path.write_text(VLLM.replace("survival.flatten().argsort(", deeper))
    report = report_on("vllm-budget", path)
    assert report.status == 1, report


def tetris(folder):
    layers = "vllm/model_executor/layers"
    return written(
        folder,
        {
            "vllm/spec_decode/tetris.py": TETRIS,
            "vllm/spec_decode/spec_decode_worker.py": WORKER,
            f"{layers}/spec_decode_base_sampler.py": BASE,
            f"{layers}/rejection_sampler.py": SAMPLER,
        },
    )


@pytest.mark.parametrize("name", ["tetris", "tetris-verified"])
def test_tetris(tmp_path, name):
    report = report_on(name, tetris(tmp_path), instances=[witness("tetris")], smallest=False)
    assert (report.status, float(report.total_variation)) == (1, pytest.approx(1 / 6)), report
    one = tmp_path / "vllm/spec_decode/tetris.py"
    one.write_text(TETRIS.replace("[..., 0].cumsum(-1)", "[..., 0].cumsum(-1) * 0"))  # the order of requests
    report = report_on(name, tmp_path, depth=1)
    assert report.lossless, report


def test_a_verification_with_a_fault_of_its_own(tmp_path):
    folder = tetris(tmp_path)
    sampler = folder / "vllm/model_executor/layers/rejection_sampler.py"
    sampler.write_text(SAMPLER.replace("(p[j] - q[j]).clamp(min=0)", "p[j]"))
    one = tmp_path / "vllm/spec_decode/tetris.py"
    one.write_text(TETRIS.replace("[..., 0].cumsum(-1)", "[..., 0].cumsum(-1) * 0"))
    assert report_on("tetris-verified", folder, depth=1).status == 1


def test_deepspec(tmp_path):
    files = {"eval/base_evaluator.py": DEEPSPEC, "utils/sampling.py": SAMPLING}
    path = written(tmp_path, files) / "eval/base_evaluator.py"
    assert report_on("deepspec", path).lossless
    path.write_text(DEEPSPEC.replace("(p[n] - q[n]).clamp(min=0)", "p[n]"))
    assert report_on("deepspec", path).status == 1


def test_ssd(tmp_path):
    path = written(tmp_path, {"verify.py": SSD}) / "verify.py"
    assert report_on("ssd", path).lossless
    report = report_on("ssd-miss", path)
    assert (report.status, str(report.wrong.want)) == (1, "1/2"), report


@pytest.mark.parametrize(
    "name", ["sglang-topk", "vllm-budget", "tetris", "tetris-verified", "deepspec", "ssd", "ssd-miss"]
)
def test_without_the_files_it_is_bad_input(tmp_path, name):
    other = written(tmp_path, {"other.py": "def other():\n    pass\n"}) / "other.py"
    for wrong in (other, tmp_path / "missing.py", None):
        with pytest.raises(BadInput):
            adapted(name, wrong)
