"""vllm-project/vllm 0.33.0 with a grammar: what the scheduler does with drafted tokens that it forbids,
then `rejection_sample` of one request at temperature 1 whose target rows are masked, its drafts drawn from
unmasked rows. A token of probability zero under the target counts as forbidden.

`update_draft_token_ids_in_output` pads with -1 (`padded`), `update_draft_token_ids` cuts the draft (`cut`,
`second_cut` for the second model runner). Not run: grammars and their bitmasks, which of the two methods an
engine calls, the compiled kernels, batches, drafts without probabilities. Needs triton.
"""

from types import SimpleNamespace

import torch
from clones import clone
from engines import method
from vllm_kernels import FIRST, SECOND, first_runner, second_runner

FOLDER = clone("vllm-project/vllm", "vllm/v1")
RUNNERS = first_runner, lambda path: second_runner(path, block=False)
FILES = FIRST, SECOND


def made(name, runner, pad):
    """The target of a runner's function on drafts that the scheduler's method has padded or cut."""
    replace = "update_draft_token_ids_in_output" if pad else "update_draft_token_ids"
    update = method(FOLDER / "core/sched/scheduler.py", replace, {})
    target = RUNNERS[runner](FOLDER / FILES[runner])
    verify = target.verify

    def constrained(rows, draft, tokens, *position):
        drafted = updated(update, pad, tokens.tolist(), rows)
        count = len(drafted)
        if not count:
            return torch.multinomial(rows[0], 1)
        return verify(rows[: count + 1], draft[:count], torch.tensor(drafted), *position)

    target.verify = target._called = constrained
    target.name = f"{name} {replace}, rejection_sample"
    return target


def updated(update, pad, tokens, rows):
    """The draft after the method has applied a grammar that forbids what has probability zero."""

    def valid(drafted):
        ends = (j for j, token in enumerate(drafted) if not rows[j, token] > 0)
        return drafted[: next(ends, len(drafted))]

    request = SimpleNamespace(
        is_finished=lambda: False,
        is_prefill_chunk=False,
        spec_token_ids=[],
        structured_output_request=SimpleNamespace(grammar=SimpleNamespace(validate_tokens=valid)),
    )
    manager = SimpleNamespace(
        should_advance=lambda _: True, validate_tokens=lambda _, drafted: valid(drafted)
    )
    scheduler = SimpleNamespace(requests={"0": request}, structured_output_manager=manager)
    drafts = SimpleNamespace(req_ids=["0"], draft_token_ids=[list(tokens)])
    if not pad:
        update(scheduler, drafts)
        return request.spec_token_ids
    output = SimpleNamespace(
        scheduled_spec_decode_tokens={"0": [-1] * len(tokens)}, num_invalid_spec_tokens={}
    )
    update(scheduler, drafts, output)
    return output.scheduled_spec_decode_tokens["0"]


def __getattr__(name):
    # Made where it is asked for: each reads files of its own.
    targets = {"padded": (0, True), "cut": (0, False), "second_cut": (1, False)}
    if name not in targets:
        raise AttributeError(name)
    return made(name, *targets[name])
