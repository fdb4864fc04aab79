"""Adapters of Triton kernels, on kernels of our own with the same signatures, and on the real files.

A process of its own, because Triton interprets only where it was told to before it was imported.
The real files are those of the folder that DRAFTPROOF_PEERS names; the tests skip without it.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

HERE = Path(__file__).parent / "peers"

BIASED = {
    "sglang": ("row = tl.maximum(row - tl.load(q_ptr", "row = tl.maximum(row + tl.load(q_ptr"),
    "vllm": ("tl.maximum(p - q, 0.0) * tl.load(noise_ptr", "p * tl.load(noise_ptr"),
    "vllm-v2": ("logits + tldevice.log1p(-ratio)", "logits"),
    "lmdeploy": ("tl.load(coins_ptr + pos) * tl.load(q_ptr", "tl.load(coins_ptr) * 0.5 * tl.load(q_ptr"),
}
"""Adapter -> one edit of its stand-in that makes it lossy."""

REUSED = "tl.load(pos_ptr + i), includes_zero", "tl.load(pos_ptr), includes_zero"
"""An edit of the stand-in for vllm-v2: all positions are given the coin of the first."""

REFILLED = (
    "    _recover(ids,",
    "    draft_probs = draft_probs * (draft_token_ids >= 0)[:, None]\n    _recover(ids,",
)
"""An edit of the stand-in for vllm: a forbidden draft counts as absent, and its token comes from p."""

PADDED, CUT = (
    f"{Path(__file__).parents[4]}/studies/field/vllm_grammar.py:{name}" for name in ("padded", "cut")
)

SCHEDULER = """
class Scheduler:
    def update_draft_token_ids(self, draft_token_ids: "DraftTokenIds") -> None:
        for name, drafted in zip(draft_token_ids.req_ids, draft_token_ids.draft_token_ids):
            request = self.requests[name]
            request.spec_token_ids = self.structured_output_manager.validate_tokens(request, drafted)

    def update_draft_token_ids_in_output(self, draft_token_ids, scheduler_output):
        for name, drafted in zip(draft_token_ids.req_ids, draft_token_ids.draft_token_ids):
            valid = self.structured_output_manager.validate_tokens(self.requests[name], drafted)
            scheduler_output.scheduled_spec_decode_tokens[name] = valid + [-1] * (len(drafted) - len(valid))

    def shutdown(self):
        pass
"""

BACKEND = """
def _allocate_outputs(draft_token_ids):
    return draft_token_ids.new_empty((len(draft_token_ids), draft_token_ids.shape[1] + 1))


class CudaRejectionSamplingImpl:
    def forward_greedy(self, target_token_ids, draft_token_ids):
        pass

    def forward(self, target_logits, draft_token_ids, bonus_token_ids, *, is_greedy, draft_probs):
        out = _allocate_outputs(draft_token_ids)
        random_rejection_sample(out, draft_token_ids, draft_probs, target_logits.softmax(-1), bonus_token_ids)
        return out, None, None
"""

PEERS = {
    "sglang": "reject_sampling.py",
    "sglang-block": "reject_sampling.py",
    "vllm": "vllm/v1/sample/rejection_sampler.py",
    "vllm-v2": "rejection_sampler_utils.py",
    "vllm-v2-block": "rejection_sampler_utils.py",
    "lmdeploy": "backends/cuda/rejection_sampling.py",
}
"""Adapter -> how the path of its real file ends."""


def stand_in(name):
    return HERE / f"{name.replace('-', '_')}_like.py"


def engine(folder, kernels):
    """A folder with the two files of vLLM that studies/field/vllm_grammar.py reads."""
    vllm = folder / "vllm-project/vllm/vllm/v1"
    (vllm / "sample").mkdir(parents=True)
    (vllm / "core/sched").mkdir(parents=True)
    (vllm / "sample/rejection_sampler.py").write_text(kernels)
    (vllm / "core/sched/scheduler.py").write_text(SCHEDULER)
    return folder


def placed(name, folder, text):
    """The stand-in's text in a file of a folder; of LMDeploy the file of its backend, beside its kernels."""
    if name != "lmdeploy":
        folder.mkdir(exist_ok=True)
        (folder / stand_in(name).name).write_text(text)
        return folder / stand_in(name).name
    for place, content in (("kernels", text), ("backends", BACKEND)):
        (folder / place / "cuda").mkdir(parents=True)
        (folder / place / "cuda/rejection_sampling.py").write_text(content)
    return folder / "backends/cuda/rejection_sampling.py"


def audits(pairs):
    """[(status, total variation, report)] of (adapter, file) pairs."""
    words = [str(word) for pair in pairs for word in pair]
    command = [sys.executable, "-m", "tests.simulators.audit.adapters.peers.audits", *words]
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """(adapter, edited or not) -> its audit, all from one process."""
    folder, pairs = tmp_path_factory.mktemp("biased"), {}
    for name, (good, bad) in BIASED.items():
        text = stand_in(name).read_text()
        assert good in text
        pairs[name, False] = (name, placed(name, folder / f"{name} good", text))
        pairs[name, True] = (name, placed(name, folder / f"{name} bad", text.replace(good, bad)))
    pairs["vllm-v2", "reused"] = ("vllm-v2", folder / "reused.py")
    text = stand_in("vllm-v2").read_text()
    assert REUSED[0] in text
    (folder / "reused.py").write_text(text.replace(*REUSED))
    for name in (PADDED, CUT):
        pairs[name, False] = (name, engine(folder / name.rpartition(":")[2], stand_in("vllm").read_text()))
    absent = stand_in("vllm").read_text().replace(*REFILLED)
    pairs[PADDED, "refilled"] = (PADDED, engine(folder / "refilled", absent))
    pairs["sglang-block", False] = ("sglang-block", stand_in("sglang"))
    for name in BIASED:
        pairs[name, None] = (name, HERE / "audits.py")
    pairs["vllm-v2-block", False] = ("vllm-v2-block", stand_in("vllm-v2"))
    return dict(zip(pairs, audits(pairs.values()), strict=True))


@pytest.mark.parametrize("name", BIASED)
@pytest.mark.slow
def test_kernels_are_judged_exactly(reports, name):
    status, _, said = reports[name, False]
    assert status == 0, said
    assert "bisection" not in said
    status, _, said = reports[name, True]
    assert status == 1, said
    assert "NOT lossless" in said
    assert "raises" not in said


@pytest.mark.slow
def test_noise_of_one_key_is_one_coin(reports):
    status, _, said = reports["vllm-v2", "reused"]
    assert status == 1, said
    assert '"depth": 2' in said


def test_a_forbidden_draft_is_not_an_absent_one(reports):
    status, _, said = reports[PADDED, False]
    assert status == 0, said
    for name, how in ((PADDED, "refilled"), (CUT, False)):
        status, _, said = reports[name, how]
        assert status == 1, said
        assert "NOT lossless" in said
        assert "raises" not in said


@pytest.mark.parametrize("name", ["sglang-block", "vllm-v2-block"])
def test_a_release_without_block_verification_says_so(reports, name):
    assert reports[name, False][0] == 2
    assert "block" in reports[name, False][2]


@pytest.mark.parametrize("name", BIASED)
def test_a_file_without_the_function_is_bad_input(reports, name):
    assert reports[name, None][0] == 2
    assert re.search("has no function|no such file", reports[name, None][2])


@pytest.mark.slow
@pytest.mark.parametrize("name", PEERS)
def test_the_real_file(name):
    folder = os.environ.get("DRAFTPROOF_PEERS")
    found = sorted(Path(folder).rglob(PEERS[name])) if folder else []
    if not found:
        pytest.skip(f"DRAFTPROOF_PEERS names no folder with {PEERS[name]}")
    [[status, _, said]] = audits([(name, found[0])])
    assert status == 0, said
