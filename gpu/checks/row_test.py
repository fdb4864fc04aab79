"""The row test: a network's rows as the engine reads them, beside plain passes without a cache."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from draftproof.gpu.checks.models.greedy import generated
from draftproof.gpu.checks.models.joint import Word, logits_after
from draftproof.gpu.checks.twin import computed_in, shortened
from draftproof.gpu.drafters.choose import SHIPPED, pair
from draftproof.gpu.drafters.drafter import Drafter, ModelDrafter
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.network.models import Model, quiet
from draftproof.gpu.sampling.device import memory_errors, out_of_memory
from draftproof.gpu.sampling.history import along
from draftproof.gpu.sampling.rows import PLAIN
from draftproof.gpu.verify.verifier import ALL, Rates, Verifier
from draftproof.theory.errors import BadInput

TREE_DRAFT, CHAIN_DRAFT = "tree:2x2", "chain:3"
NEW_TOKENS = 8
"""Tokens added to each prompt: some four steps."""

LONGEST_PROMPT = 40
"""Tokens of the longest prompt: longer than any `LENGTHS`, once they are shortened."""

ROUNDING_FACTOR = 64
"""By how many float32 errors of plain passes the engine's rows may differ from the rows of plain passes: the
engine sums in another order. Among the architectures of docs/architectures.md the difference is at most 2
such errors for attention and 18 for recurrences, which compute long and short texts by different algorithms;
a network that is read wrongly differs by tens of thousands."""

LEAST_LOG_PROBABILITY = -15.0
"""Log-probabilities below this are not compared: a drafter's rows are float32 probabilities."""


def _rates(drafts: Any) -> Rates:
    accept = torch.full_like(drafts.target[..., 0], 0.6)
    return Rates(accept, torch.zeros_like(accept))


RANDOM_WALK = Verifier(ALL, _rates, name="row test")
"""Accepts each drafted token with probability 0.6, whatever the rows are, so that rejections and acceptances
both happen. The emitted texts have no particular law."""


@dataclass(frozen=True)
class Found:
    """The outcome of a row test: the number of rows compared, the largest difference of two
    log-probabilities, and the largest difference that rounding explains; or the error message of a pass.
    """

    draft: str
    rows: int = 0
    difference: float = 0.0
    tolerance: float = 0.0
    failure: str | None = None

    @property
    def ok(self) -> bool:
        return self.failure is None and self.difference <= self.tolerance

    def __str__(self) -> str:
        if self.failure is not None:
            return f"with {self.draft} a pass fails: {self.failure}"
        return (
            f"with {self.draft}, log-probabilities are up to {self.difference:.1e} away from those of plain "
            f"passes (rounding: {self.tolerance:.1e})"
        )


def checked(model: Model) -> Model:
    """The model if trees of it, or chains alone, are read as its own rows; BadInput if neither are."""
    with quiet():
        found = compared(model, TREE_DRAFT)
        if not found.ok:
            # kinds of layers that are not attention say more than the error they raise
            model = replace(model, why=(found.failure and _other(model.network)) or str(found))
            found = compared(model, CHAIN_DRAFT)
    if found.ok:
        return replace(model, rows=str(found))
    kind = type(model.network).__name__
    raise BadInput(f"{model.name}: {kind} is not decoded as it should be: {found}")


def checked_pair(
    model: str | None,
    drafter: str | None,
    device: str | None = None,
    dtype: torch.dtype | None = None,
    test: bool = True,
) -> tuple[Model, Drafter | None]:
    """The target and the drafter of a run (`drafters.choose.pair`), after the row test; without `test`
    they are `trusted`. The pair that ships needs none: the project's own tests have it.
    """
    target, chosen = pair(model, drafter, device, dtype)
    target = _fit(target, test)
    return target, ModelDrafter(_fit(chosen.model, test)) if isinstance(chosen, ModelDrafter) else chosen


def _fit(model: Model, test: bool) -> Model:
    if SHIPPED in Path(model.name).parents:
        return model
    if not test:
        return trusted(model)
    with memory_errors("--no-row-test leaves out the test that needed it"):
        return checked(model)


def reports(models: Sequence[Model]) -> dict[str, str]:
    """What the row test finds on each model, by name."""
    done = [each if each.rows else checked(each) for each in models]
    return {each.name: f"{each.rows}{f'; chains only: {each.why}' * each.only_chains}" for each in done}


def trusted(model: Model) -> Model:
    """The model as it is; BadInput if the names of its layers tell that trees of it are not right."""
    if other := _other(model.network):
        raise BadInput(f"{model.name}: {other}; leave out --no-row-test")
    return model


def _other(network: Any) -> str | None:
    kinds = getattr(network.config.get_text_config(decoder=True), "layer_types", None) or []
    other = sorted({each for each in kinds if not each.endswith("attention") or "linear" in each})
    return f"layers of type {', '.join(other)} cannot take back rejected tokens" if other else None


def compared(model: Model, draft: str) -> Found:
    """Decodes a batch of unequal prompts, with the model as target and as drafter, and compares each row of
    both with a plain pass over the text before it; so is a row from transformers' own `generate`.

    All of it is with short lengths and in float32 or, if it is wider, the network's own type. Rounding
    explains `ROUNDING_FACTOR` times the largest difference between plain passes in float32 and in float64.
    """
    try:
        with torch.inference_mode():
            model = replace(model, network=shortened(model.network))
        with computed_in(model.network, torch.float32):
            words, ours = _decoded(model, draft)
            plain = _plain(model.network, words)
        with computed_in(model.network, torch.float64):
            error = _apart(plain, _plain(model.network, words))
    except BadInput as error:
        return Found(draft, failure=str(error))
    except Exception as error:  # whatever a network's own code raises
        if out_of_memory(error):
            raise
        said = (str(error).strip() or "no message").splitlines()[0]
        return Found(draft, failure=f"{type(error).__name__}: {said}")
    return Found(draft, len(ours), _apart(ours, plain), ROUNDING_FACTOR * error)


@torch.inference_mode()
def _decoded(model: Model, draft: str) -> tuple[list[Word], Tensor]:
    """Texts, each with the log-probabilities [V] of the next token, from which the engine drew or judged."""
    draw = torch.Generator().manual_seed(0)
    most = max(1, model.context - NEW_TOKENS)
    sizes = (min(size, most) for size in (LONGEST_PROMPT // 2, LONGEST_PROMPT, 2, LONGEST_PROMPT - 1))
    prompts = [torch.randint(model.known, (size,), generator=draw).tolist() for size in sizes]
    given: dict[str, Any] = {"verifier": RANDOM_WALK, "structure": structure(draft), "ignore_end": True}
    so_far, words, rows = [tuple(prompt) for prompt in prompts], [], []
    for step in generate(model, ModelDrafter(model), prompts, max_new_tokens=NEW_TOKENS, **given):
        tree, tokens, proposal = step.draft.tree, step.draft.tokens, step.draft.proposal
        drawn, paths = tree.drawn(tokens).tolist(), along(tree, tokens).tolist()
        places = dict(tree.reads or ())
        for b, row in enumerate(step.rows):
            for node, path in enumerate(paths[b]):
                text = (*so_far[row], *(x for x in path if x >= 0))
                if not drawn[b][node] or len(text) > model.context:  # where a text ends
                    continue
                words.append(text)
                rows.append(step.logits[b, node].double().log_softmax(-1))
                if proposal is not None and node in places:
                    words.append(text)
                    rows.append(proposal[b, places[node]].double().log())
        for row, emitted in zip(step.rows, step.emitted, strict=True):
            so_far[row] += tuple(emitted)
    how: dict[str, Any] = {"max_new_tokens": 1, "do_sample": False, "use_cache": False, "pad_token_id": 0}
    output = generated(model.network, prompts[1], **how, output_logits=True, return_dict_in_generate=True)
    words.append(tuple(prompts[1]))
    rows.append(output.logits[0][0].double().log_softmax(-1))
    return words, torch.stack(rows)


@torch.inference_mode()
def _plain(network: Any, words: Sequence[Word]) -> Tensor:
    """[n, V]: the log-probabilities after each text, from passes over whole texts without a cache."""
    by_length: dict[int, list[Word]] = defaultdict(list)
    for word in sorted(set(words)):
        by_length[len(word)].append(word)
    rows = {}
    for same in by_length.values():
        rows |= zip(same, logits_after(network, (), same, PLAIN).log_softmax(-1), strict=True)
    return torch.stack([rows[word] for word in words])


def _apart(ours: Tensor, plain: Tensor) -> float:
    """The largest difference, among tokens that are not very unlikely."""
    return float(torch.where(plain > LEAST_LOG_PROBABILITY, ours - plain, 0.0).abs().max())
