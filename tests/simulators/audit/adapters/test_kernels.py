"""Studies of Triton kernels, on kernels of our own with the same signatures, and on the real files.

A process of its own, because Triton interprets only where it was told to before it was imported.
The real files are those of the clones that DRAFTPROOF_FIELD names; the tests skip without them.
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
"""Engine -> one edit of its stand-in that makes it lossy."""

REUSED = "tl.load(pos_ptr + i), includes_zero", "tl.load(pos_ptr), includes_zero"
"""An edit of the stand-in for vllm-v2: all positions are given the coin of the first."""

REFILLED = (
    "    _recover(ids,",
    "    draft_probs = draft_probs * (draft_token_ids >= 0)[:, None]\n    _recover(ids,",
)
"""An edit of the stand-in for vllm: a forbidden draft counts as absent, and its token comes from p."""

STUDIES = f"{Path(__file__).parents[4]}/studies/field"
PADDED, CUT = (f"{STUDIES}/vllm_grammar.py:{name}" for name in ("padded", "cut"))

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

TARGETS = {
    "sglang": "sglang_chain.py:token",
    "sglang-block": "sglang_chain.py:block",
    "vllm": "vllm_kernels.py:first",
    "vllm-v2": "vllm_kernels.py:second",
    "vllm-v2-block": "vllm_kernels.py:block",
    "lmdeploy": "lmdeploy_cuda.py:verify",
}
"""What is audited -> its target in studies/field."""

VLLM = "vllm-project/vllm/vllm/v1"
PLACES = {
    "sglang": "sgl-project/sglang/python/sglang/kernels/ops/speculative/reject_sampling.py",
    "vllm": f"{VLLM}/sample/rejection_sampler.py",
    "vllm-v2": f"{VLLM}/worker/gpu/spec_decode/rejection_sampler_utils.py",
    "lmdeploy": "InternLM/lmdeploy/lmdeploy/pytorch/kernels/cuda/rejection_sampling.py",
}
"""Engine -> where its file is among clones."""


def stand_in(name):
    return HERE / f"{name.replace('-', '_')}_like.py"


def placed(folder, name, text):
    """A folder of clones with the text as an engine's file, and what is read beside it."""
    beside = {f"{VLLM}/core/sched/scheduler.py": SCHEDULER} if name == "vllm" else {}
    beside |= {PLACES[name].replace("kernels", "backends"): BACKEND} if name == "lmdeploy" else {}
    for place, content in {PLACES[name]: text, **beside}.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(content)
    return folder


def audits(pairs):
    """[(status, total variation, report)] of (target, folder of clones) pairs."""
    words = [str(word) for pair in pairs for word in pair]
    command = [sys.executable, "-m", "tests.simulators.audit.adapters.peers.audits", *words]
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """(engine or target, edited or not) -> its audit, all from one process."""
    folder, pairs = tmp_path_factory.mktemp("clones"), {}

    def judged(name, how, text, target="", engine=""):
        engine = engine or name
        place = placed(folder / f"{len(pairs)}", engine, text)
        pairs[name, how] = (target or f"{STUDIES}/{TARGETS[name]}", place)

    texts = {name: stand_in(name).read_text() for name in BIASED}
    for name, (good, bad) in BIASED.items():
        assert good in texts[name]
        judged(name, False, texts[name])
        judged(name, True, texts[name].replace(good, bad))
        judged(name, None, "nothing = 0")
    assert REUSED[0] in texts["vllm-v2"]
    judged("vllm-v2", "reused", texts["vllm-v2"].replace(*REUSED))
    for target in (PADDED, CUT):
        judged(target, False, texts["vllm"], target, "vllm")
    judged(PADDED, "refilled", texts["vllm"].replace(*REFILLED), PADDED, "vllm")
    for name in ("sglang-block", "vllm-v2-block"):
        judged(name, False, texts[name.removesuffix("-block")], engine=name.removesuffix("-block"))
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
@pytest.mark.parametrize("name", TARGETS)
def test_the_real_file(name):
    folder = os.environ.get("DRAFTPROOF_FIELD")
    place = PLACES[name.removesuffix("-block")]
    if not folder or not Path(folder, place).is_file():
        pytest.skip(f"DRAFTPROOF_FIELD names no folder with {place}")
    [[status, _, said]] = audits([(f"{STUDIES}/{TARGETS[name]}", folder)])
    assert status == 0, said
