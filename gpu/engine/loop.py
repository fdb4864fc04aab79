"""The speculative loop, one for all drafters, structures and verifiers: draft, target pass, verify, commit.

studies/plain_loop.py is the same loop for one text, without a cache, batches, processors and selection.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias

import torch
from torch import Tensor

from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.engine.decoding import NO_DRAFT, Decoding
from draftproof.gpu.engine.output import Step, Texts
from draftproof.gpu.engine.parts import Clock, Noise
from draftproof.gpu.engine.selection import Selected
from draftproof.gpu.engine.verdict import judged
from draftproof.gpu.network.models import Model
from draftproof.gpu.network.reader import padded
from draftproof.gpu.network.session import Accepted, Draft, Session
from draftproof.gpu.sampling.history import History
from draftproof.gpu.verify import ERRORS, Outcome
from draftproof.theory.errors import BadInput

PHASES: tuple[str, ...] = "draft", "target", "verify", "rest"

Decode: TypeAlias = Callable[..., Iterator[Step]]
"""`generate` with target, drafter, verifier and structure already given."""


def generate(
    target: Model, drafter: Drafter | None, prompts: Sequence[Sequence[int]], **settings: Any
) -> Iterator[Step]:
    """Continues the prompts (token ids), step by step, until every text has ended. `settings` are the other
    fields of `Decoding`; verifier and structure are required. Raises BadInput for settings that do not fit
    each other and, while decoding, for processors that leave nothing of a row.
    """
    given = Decoding(target, drafter, prompts, **settings)
    size = given.batch or len(prompts)
    batches = (range(len(prompts))[first : first + size] for first in range(0, len(prompts), size))
    first = _Loop(given, next(batches)).steps()
    return chain(first, (step for numbers in batches for step in _Loop(given, numbers).steps()))


class _Loop:
    """The state of a batch of prompts. Its rows are the texts that have not ended; `texts.going` are the
    numbers of their prompts. `last` [B, 1] is each row's last token, which the next pass reads; `session` is
    the drafter's and `history` the processors', None where the run has none.
    """

    @torch.inference_mode()
    def __init__(self, given: Decoding, numbers: Sequence[int]) -> None:
        self.given, target, drafter = given, given.target, given.drafter
        self.verifier, self.sampling = given.verifier, given.sampling
        self.draft_sampling = given.draft_sampling or given.sampling
        self.structure = (given.structure if drafter and given.structure else NO_DRAFT).to(target.device)
        ends = frozenset() if given.ignore_end else target.ends
        self.texts = Texts(given.limits, ends, given.stop, target.tokenizer.decode)
        self.options = {"output_hidden_states": True} if drafter is not None and drafter.reads_hidden else {}
        capacity = max(map(len, given.prompts)) + max(given.limits) + 2 * self.structure.slots + 2
        self.clock = Clock(target.device, given.timed and target.device.type == "cuda")
        prompts = [given.prompts[number] for number in numbers]
        known, hidden = [prompt[:-1] for prompt in prompts], None
        self.reader: Any = target.reader(len(prompts), capacity)
        if any(known):
            ids = padded(known, target.device)
            hidden = self.reader.prefill(known, input_ids=ids, logits_to_keep=1, **self.options).hidden_states
        self.history: History | None = None
        if processors := {*self.sampling.processors, *self.draft_sampling.processors}:
            self.history = History(processors, padded(prompts, target.device, -1), capacity)
        self.last = torch.tensor([prompt[-1:] for prompt in prompts], device=target.device)
        self.noise = Noise(given.seed, numbers, target.device)
        self.session: Session | None = drafter.begin(prompts, capacity, hidden) if drafter else None
        self.texts.going = list(numbers)

    def steps(self) -> Iterator[Step]:
        while self.texts.going:
            yield self.step()

    @torch.inference_mode()
    def step(self) -> Step:
        """Draft, target pass, verification, commit."""
        rows, size = self.texts.going, self.structure.size - 1
        self.clock.mark()
        noise = self.noise.uniforms(2 * size + 1)
        drafted, selection = self._draft(noise[:, :size]), self.given.selection
        left = selection.select(rows, drafted) if selection else Selected(drafted, drafted.tree)
        draft, coins, extra = left.draft, noise[:, size : size + left.draft.tree.size - 1], noise[:, -1]
        self.clock.mark()
        logits, hidden = self._pass(left)
        self.clock.mark()
        outcome = judged(self.verifier, self.sampling, draft, logits, coins, extra, left.kept)
        self.clock.mark()
        committed = self._commit(draft, outcome, hidden)
        self.clock.mark()
        seconds = dict(zip(PHASES, self.clock.read(), strict=True))
        return Step(rows, draft, self.sampling, logits, *committed, seconds, left.counts)

    # Draft

    def _draft(self, uniforms: Tensor) -> Draft:
        """A draft of every row."""
        if self.session is None:
            nothing = uniforms.new_zeros(len(uniforms), 0, self.given.target.vocab)
            return Draft(NO_DRAFT.to(uniforms.device).tree, uniforms.long(), nothing)
        history = self.history if self.draft_sampling.processors else None
        return self.session.draft(self.structure, self.draft_sampling, uniforms, history)

    # Target pass

    def _pass(self, left: Selected) -> tuple[Tensor, tuple[Tensor, ...] | None]:
        """(processed logits [B, N, V] at the nodes of the draft, hidden states there if they are read)."""
        read, kept = left.read, left.kept
        tokens = left.draft.tokens[:, : read.size - 1]
        if kept is not None:
            tokens = torch.where(read.levels[:, 1:] <= kept[:, None], tokens, -1)
        ids = torch.cat((self.last, tokens.clamp(min=0)), 1)
        shape = () if read.is_chain else (read.sees, read.levels)
        output = self.reader.forward(read.size, 0, *shape, input_ids=ids, **self.options)
        logits = output.logits
        if self.history is not None and self.sampling.processors:
            logits = self.history.in_tree(self.sampling, logits, read, tokens)
        if left.draft.tree.size > read.size:  # the last node's row is not used
            logits = torch.cat((logits, logits[:, -1:]), 1)
        return logits, output.hidden_states if self.options else None

    # Commit

    def _commit(
        self, draft: Draft, outcome: Outcome, hidden: tuple[Tensor, ...] | None
    ) -> tuple[list[int], list[list[int]], list[str | None]]:
        """Emits the accepted tokens and advances all parts to the next step. Returns the number of accepted
        tokens, the emitted tokens and why the text ended, of each row.
        """
        tau, path, along = draft.tree.stopped(draft.tokens, outcome.node)
        first = (each[:, None] for each in (outcome.error, tau, outcome.token))
        taken = torch.cat((*first, along), 1).tolist()  # the host reads only once
        if error := next((code for code, *_ in taken if code), None):
            raise BadInput(f"verification met an invalid row: {ERRORS[error]}")
        accepted = [count for _, count, *_ in taken]
        words = [[*along[:count], token] for _, count, token, *along in taken]
        emitted, finished, stay = self.texts.take(words)
        if not stay:
            return accepted, emitted, finished
        ahead, counts = tau + 1, list(map(len, words))
        self.noise.advance(counts, ahead)
        self.reader.advance(counts, ahead, None if draft.tree.is_chain else path)
        self.last = outcome.token[:, None]
        if self.session is not None:
            self.session.accept(Accepted(path, counts, ahead, words, draft, hidden))
        if self.history is not None:
            self.history.add(padded(words, self.last.device, -1))
        if len(stay) < len(taken):
            self.last = self.last[stay]
            for part in (self.reader, self.noise, self.session, self.history):
                if part is not None:
                    part.keep(stay)
        return accepted, emitted, finished
