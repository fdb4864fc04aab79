"""vLLM's watermark kernels agree with its torch forms in the interpreter, and edits of them do not.

VLLM=.../site-packages/vllm names the release; without it the tests skip. They take minutes.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

VLLM = Path(os.environ.get("VLLM", ""))
STUDY = Path(__file__).parents[2] / "studies/field/vllm_watermark_kernels.py"
MASKS, RULE = "v1/worker/gpu/sample/watermark.py", "v1/worker/gpu/spec_decode/rejection_sampler_utils.py"
FILES = (
    "v1/watermarking/prfs/base.py",
    "v1/watermarking/prfs/philox.py",
    "v1/worker/gpu/sample/gumbel.py",
    MASKS,
    RULE,
)

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not (os.environ.get("VLLM") and (VLLM / MASKS).is_file()), reason="VLLM names no vLLM"
    ),
]


def agreeing(folder):
    """How many cases agree, and how many there are, by line of the study."""
    done = subprocess.run(
        [sys.executable, str(STUDY)],
        env={**os.environ, "VLLM": str(folder), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (line.rpartition(": ") for line in done.stdout.splitlines())
    return {what: [int(n) for n in found.split(" of ")] for what, _, found in lines}


def test_the_kernels_are_the_torch_forms():
    found = agreeing(VLLM)
    assert len(found) == 4
    assert all(same == cases > 50 for same, cases in found.values()), json.dumps(found)


@pytest.mark.parametrize(
    ("file", "old", "new", "shown"),
    [
        (MASKS, "candidate_0 + 3", "candidate_0 + 4", "alone"),
        (MASKS, "(key_0 ^ offset) & _UINT32_MASK", "key_1", "alone"),
        (MASKS, "previous_pos + offset - CONTEXT_WIDTH", "previous_pos + offset", "repeated contexts"),
        (MASKS, "(prior_row >= 0) & (local_pos >= offset)", "prior_row < 0", "repeated contexts"),
        (RULE, "contexts_ptr + resample_token_idx * contexts_stride", "contexts_ptr", "token verification"),
        (RULE, "& ~skip_watermarking", "& skip_watermarking", "token verification"),
        (RULE, "watermark_key_1.to(tl.uint32)", "watermark_key_0.to(tl.uint32)", "block verification"),
    ],
)
def test_an_edit_of_a_kernel_is_found(tmp_path, file, old, new, shown):
    for each in FILES:
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(VLLM / each, tmp_path / each)
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new), encoding="utf-8")
    found = {what: same for what, (same, cases) in agreeing(tmp_path).items() if same < cases}
    assert any(what.startswith(shown) for what in found), json.dumps(found)
