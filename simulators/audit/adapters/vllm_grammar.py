"""vLLM with a grammar: drafted tokens that the grammar forbids, as the scheduler replaces or drops them, then
`rejection_sample` of both model runners, by --path, the folder of the package `vllm`.

Version: 0.33.0 and releases near it, whose `v1/core/sched/scheduler.py` has the two methods below; needs
torch and triton, but not vLLM.
Signature: `update_draft_token_ids_in_output(draft_token_ids, scheduler_output)` cuts a draft before its first
forbidden token and pads it with -1; `update_draft_token_ids(draft_token_ids)` cuts it. `rejection_sample` as
in the adapters `vllm` and `vllm-v2`.
Checked: the law of one request at temperature 1 whose target rows are masked by the grammar, and whose
drafts are drawn from unmasked rows: `vllm-grammar`, drafts padded with -1 and verified by the first runner;
`vllm-grammar-cut` and `vllm-v2-grammar-cut`, drafts cut and verified by the first or the second. A token of
probability zero under the target counts as forbidden.
Not checked: grammars themselves, their bitmasks, which of the two methods an engine calls (padding when
scheduling is deferred), the compiled kernels, batches, drafts without probabilities.
"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from draftproof.simulators.audit.adapters.engine_code import TorchChain, method
from draftproof.simulators.audit.adapters.vllm import first_runner, second_runner
from draftproof.theory.errors import BadInput

KERNELS = {"vllm-v2-grammar-cut": "v1/worker/gpu/spec_decode/rejection_sampler_utils.py"}
FIRST = "v1/sample/rejection_sampler.py"


def made(path: Path | None, name: str, *, padded: bool) -> TorchChain:
    """The scheduler's method and a runner's function of the package at `path`."""
    import torch

    file = KERNELS.get(name, FIRST)
    if path is None or not (path / file).is_file():
        raise BadInput(f"{path or name}: this adapter needs --path, the folder that has {file}")
    replace = "update_draft_token_ids_in_output" if padded else "update_draft_token_ids"
    update = method(path / "v1/core/sched/scheduler.py", replace, {})
    target = second_runner(path / file, name, block=False) if name in KERNELS else first_runner(path / file)
    verify = target.verify

    def constrained(rows: Any, draft: Any, tokens: Any, *position: Any) -> Any:
        drafted = _updated(update, padded, tokens.tolist(), rows)
        count = len(drafted)
        if not count:
            return torch.multinomial(rows[0], 1)
        return verify(rows[: count + 1], draft[:count], torch.tensor(drafted), *position)

    target.verify = target._called = constrained
    target.name = f"{name} {replace}, rejection_sample"
    return target


def _updated(update: Any, padded: bool, tokens: list[int], rows: Any) -> list[int]:
    # The draft after the scheduler's method has applied a grammar that forbids what has probability zero.
    def valid(drafted: list[int]) -> list[int]:
        ends = (j for j, token in enumerate(drafted) if not rows[j, token] > 0)
        return drafted[: next(ends, len(drafted))]

    grammar = SimpleNamespace(validate_tokens=valid)
    request = SimpleNamespace(
        is_finished=lambda: False,
        is_prefill_chunk=False,
        spec_token_ids=[],
        structured_output_request=SimpleNamespace(grammar=grammar),
    )
    manager = SimpleNamespace(
        should_advance=lambda _: True, validate_tokens=lambda _, drafted: valid(drafted)
    )
    scheduler = SimpleNamespace(requests={"0": request}, structured_output_manager=manager)
    drafts = SimpleNamespace(req_ids=["0"], draft_token_ids=[list(tokens)])
    if not padded:
        update(scheduler, drafts)
        return request.spec_token_ids
    output = SimpleNamespace(
        scheduled_spec_decode_tokens={"0": [-1] * len(tokens)}, num_invalid_spec_tokens={}
    )
    update(scheduler, drafts, output)
    return output.scheduled_spec_decode_tokens["0"]


TARGETS = {
    "vllm-grammar": lambda path: made(path, "vllm-grammar", padded=True),
    "vllm-grammar-cut": lambda path: made(path, "vllm-grammar-cut", padded=False),
    "vllm-v2-grammar-cut": lambda path: made(path, "vllm-v2-grammar-cut", padded=False),
}
