"""The speculative loop, one for all drafters, structures and verifiers: draft, target pass, verify, commit.

studies/plain_loop.py is the same loop for one text, without a cache, batches, processors and selection.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import pad

from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.engine.decoding import NO_DRAFT, Decoding
from draftproof.gpu.engine.output import Step, Texts
from draftproof.gpu.engine.parts import Clock, Noise, Parts
from draftproof.gpu.engine.selection import Selected
from draftproof.gpu.engine.verdict import Verdict, judged
from draftproof.gpu.network.models import Model
from draftproof.gpu.network.reader import padded
from draftproof.gpu.network.session import Accepted, Draft
from draftproof.gpu.sampling.history import History
from draftproof.gpu.verify import ERRORS
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
    numbers of their prompts.
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
        self.capacity = max(map(len, given.prompts)) + max(given.limits) + 2 * self.structure.slots + 2
        self.clock = Clock(target.device, given.timed and target.device.type == "cuda")
        self.parts = self._begin(numbers)
        self.texts.going = list(numbers)

    def steps(self) -> Iterator[Step]:
        while self.texts.going:
            yield self.step()

    @torch.inference_mode()
    def step(self) -> Step:
        """Draft, target pass, verification, commit."""
        rows, size = self.texts.going, self.structure.size - 1
        self.clock.mark()
        noise = self.parts.noise.uniforms(2 * size + 1)
        drafted, selection = self._draft(noise[:, :size]), self.given.selection
        left = selection.select(rows, drafted) if selection else Selected(drafted, drafted.tree)
        draft, coins, extra = left.draft, noise[:, size : size + left.draft.tree.size - 1], noise[:, -1]
        self.clock.mark()
        logits, hidden = self._pass(left)
        self.clock.mark()
        verdict = judged(self.verifier, self.sampling, draft, logits, coins, extra, left.kept)
        self.clock.mark()
        committed = self._commit(draft, verdict, hidden)
        record = draft, self.sampling, logits, coins, extra, verdict.outcome
        self.clock.mark()
        seconds = dict(zip(PHASES, self.clock.read(), strict=True))
        return Step(rows, *record, *committed, seconds, left.counts)

    # Draft

    def _draft(self, uniforms: Tensor) -> Draft:
        """A draft of every row."""
        if self.parts.session is None:
            nothing = uniforms.new_zeros(len(uniforms), 0, self.given.target.vocab)
            return Draft(NO_DRAFT.to(uniforms.device).tree, uniforms.long(), nothing)
        history = self.parts.history if self.draft_sampling.processors else None
        return self.parts.session.draft(self.structure, self.draft_sampling, uniforms, history)

    # Target pass

    def _pass(self, left: Selected) -> tuple[Tensor, tuple[Tensor, ...] | None]:
        """(processed logits [B, N, V] at the nodes of the draft, hidden states there if they are read)."""
        read, kept, reader = left.read, left.kept, self.parts.reader
        tokens = left.draft.tokens[:, : read.size - 1]
        if kept is not None:
            tokens = torch.where(read.levels[:, 1:] <= kept[:, None], tokens, -1)
        ids = torch.cat((self.parts.last, tokens.clamp(min=0)), 1)
        shape = () if read.is_chain else (read.sees, read.levels)
        output = reader.forward(read.size, 0, *shape, input_ids=ids, **self.options)
        logits = output.logits
        if self.parts.history is not None and self.sampling.processors:
            logits = self.parts.history.in_tree(self.sampling, logits, read, tokens)
        if left.draft.tree.size > read.size:  # the last node's row is not used
            logits = torch.cat((logits, logits[:, -1:]), 1)
        rows = left.draft.rows
        if rows is not None and rows.shape[2] > self.given.target.vocab:  # a token without target mass
            logits = pad(logits, (0, 1), value=-torch.inf)
        return logits, output.hidden_states if self.options else None

    # Commit

    def _commit(
        self, draft: Draft, verdict: Verdict, hidden: tuple[Tensor, ...] | None
    ) -> tuple[list[int], list[list[int]], list[str | None]]:
        """Emits the accepted tokens and advances all parts to the next step. Returns the number of accepted
        tokens, the emitted tokens and why the text ended, of each row.
        """
        taken = verdict.summary.tolist()
        if error := next((code for code, *_ in taken if code), None):
            raise BadInput(f"verification met an invalid row: {ERRORS[error]}")
        accepted = [count for _, count, *_ in taken]
        words = [[*along[:count], token] for _, count, token, *along in taken]
        emitted, finished, stay = self.texts.take(words)
        if stay:
            self._advance(draft, verdict, hidden, words)
            if len(stay) < len(taken):
                self.parts.keep(stay)
        return accepted, emitted, finished

    def _advance(
        self, draft: Draft, verdict: Verdict, hidden: tuple[Tensor, ...] | None, words: list[list[int]]
    ) -> None:
        """Reader, session and history follow the words that the rows emitted."""
        parts, ahead, counts = self.parts, verdict.tau + 1, list(map(len, words))
        parts.noise.advance(counts, ahead)
        parts.reader.advance(counts, ahead, None if draft.tree.is_chain else verdict.path)
        parts.last = verdict.outcome.token[:, None]
        if parts.session is not None:
            parts.session.accept(Accepted(verdict.path, counts, ahead, words, draft, hidden))
        if parts.history is not None:
            parts.history.add(padded(words, parts.last.device, -1))

    # Rows that begin

    def _begin(self, numbers: Sequence[int]) -> Parts:
        """Reads these prompts."""
        target, drafter = self.given.target, self.given.drafter
        prompts = [self.given.prompts[number] for number in numbers]
        known, hidden = [prompt[:-1] for prompt in prompts], None
        reader = target.reader(len(prompts), self.capacity)
        if any(known):
            ids = padded(known, target.device)
            hidden = reader.prefill(known, input_ids=ids, logits_to_keep=1, **self.options).hidden_states
        history = None
        if processors := {*self.sampling.processors, *self.draft_sampling.processors}:
            history = History(processors, padded(prompts, target.device, -1), self.capacity)
        return Parts(
            torch.tensor([prompt[-1:] for prompt in prompts], device=target.device),
            reader,
            Noise(self.given.seed, numbers, target.device),
            drafter.begin(prompts, self.capacity, hidden) if drafter else None,
            history,
        )
