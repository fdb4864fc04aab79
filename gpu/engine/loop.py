"""The speculative loop, one for all drafters, structures and verifiers."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise, product, repeat
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.drafters.structures import DDTree, Sampled
from draftproof.gpu.engine.output import Step, Texts
from draftproof.gpu.engine.selection import Selection
from draftproof.gpu.engine.verdict import Verdict, judged
from draftproof.gpu.network.models import Model
from draftproof.gpu.network.passes import Reader, padded
from draftproof.gpu.network.session import Accepted, Draft, Session, Structure
from draftproof.gpu.sampling.history import History
from draftproof.gpu.sampling.rows import PLAIN, Sampling
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import ERRORS, Verifier
from draftproof.theory.errors import BadInput

NO_DRAFT = Sampled("plain", Tree.chain(0))
PHASES: tuple[str, ...] = "draft", "target", "verify", "rest"

Decode: TypeAlias = Callable[..., Iterator[Step]]
"""`generate` with target, drafter, verifier and structure already given."""


@torch.inference_mode()
def generate(
    target: Model,
    drafter: Drafter | None,
    prompts: Sequence[Sequence[int]],
    *,
    verifier: Verifier,
    structure: Structure | None,
    sampling: Sampling = PLAIN,
    draft_sampling: Sampling | None = None,
    selection: Selection | None = None,
    batch: int | None = None,
    max_new_tokens: int = 128,
    stop: Sequence[str] = (),
    ignore_end: bool = False,
    seed: int | Sequence[int] = 0,
    timed: bool = False,
    keep_rows: bool = True,
) -> Iterator[Step]:
    """Continues the prompts (token ids), step by step, until every text has ended.

    With `drafter` and `structure` None this is plain decoding in the same loop. `draft_sampling` is the
    drafter's, if it is not the target's. A `selection` chooses which drafted tokens are verified. At most
    `batch` texts are decoded at once, by default all; when one ends, the next prompt takes its row. A text
    ends at an end token (unless `ignore_end`), at a stop string, after `max_new_tokens`, or where the context
    ends. Prompt b's noise depends only on (seed, b), or on seed[b]. On a GPU the phases are timed only if
    `timed` is set, which waits for the device after each step. Later steps never overwrite a step that was
    yielded; without `keep_rows` they may overwrite its draft and logits, which saves copies on a GPU. Raises
    BadInput for an empty or too long prompt, for a verifier, structure, drafter and selection that do not fit
    each other, and for processors that leave nothing of a row.
    """
    _check(target, prompts)
    if (
        drafter is not None
        and structure is not None
        and (reason := misfit(verifier, structure, drafter, target))
    ):
        raise BadInput(reason)
    if selection is not None and (reason := cannot_select(verifier, structure)):
        raise BadInput(reason)
    if batch is not None and selection is not None and selection.batch is not None:
        raise BadInput("a selection within groups of prompts needs all of them at once")
    for name, number in (("max_new_tokens", max_new_tokens), ("batch", batch)):
        if number is not None and number < 1:
            raise BadInput(f"{name} must be at least 1, not {number}")
    first = len(prompts) if batch is None else batch
    if any(len(prompt) < 2 for prompt in prompts[first:]):
        raise BadInput(f"a prompt of one token cannot wait for its turn; --batch {len(prompts)} starts all")
    structure = structure or NO_DRAFT
    limits = [min(max_new_tokens, target.context - len(prompt)) for prompt in prompts]
    texts = Texts(limits, frozenset() if ignore_end else target.ends, stop, target.tokenizer.decode)
    noise = Noise.seeded(seed, len(prompts), target.device)
    rules = sampling, draft_sampling or sampling, selection
    return _Decoder(
        target, drafter, prompts, verifier, structure, *rules, texts, noise, first, timed, keep_rows
    ).steps()


class _Decoder:
    """The state of a run: `options` are passed to every target pass, `last` [B, 1] is each row's last token.

    `going` are the rows of the batch whose texts have not ended, in order, and `texts.going` the prompts
    whose texts they are. `waiting` prompts take the rows of texts that ended. Where whole steps are recorded
    (`whole`), an ended row stays in the batch, its text unchanged, until at most half of the rows are going.
    """

    def __init__(
        self,
        target: Model,
        drafter: Drafter | None,
        prompts: Sequence[Sequence[int]],
        verifier: Verifier,
        structure: Structure,
        sampling: Sampling,
        draft_sampling: Sampling,
        selection: Selection | None,
        texts: Texts,
        noise: "Noise",
        first: int,
        timed: bool,
        keep_rows: bool,
    ) -> None:
        self.keep_rows = keep_rows
        self.target, self.drafter, self.prompts = target, drafter, prompts
        self.verifier, self.sampling, self.texts = verifier, sampling, texts
        self.draft_sampling, self.selection = draft_sampling, selection
        self.vocab, device = target.vocab, target.device
        self.structure = structure.to(device)
        self.carry = verifier.carry() if verifier.carry else None
        longest = max(map(len, prompts)) + max(row.limit for row in texts.rows)
        self.capacity = longest + 2 * structure.slots + 2
        self.options = {"output_hidden_states": True} if drafter is not None and drafter.reads_hidden else {}
        self.every, self.noise = noise, noise.of(range(min(first, len(prompts))))
        self.reader, self.session, self.history, self.last = self._begin(prompts[:first], self.capacity)
        self.clock = Clock(device, timed and device.type == "cuda")
        recorded = self.reader.recorder.active and isinstance(self.reader, Reader)
        self.whole = recorded and selection is None and self.history is None and self.carry is None
        self.waiting = range(len(prompts))[first:]
        self._go_on([(row, row) for row in range(len(self.last))])

    def _begin(
        self, prompts: Sequence[Sequence[int]], capacity: int
    ) -> tuple[Any, Session | None, History | None, Tensor]:
        """Reads prompts: a reader, a session and a history of them, and their last tokens [B, 1]."""
        known, hidden, device = [prompt[:-1] for prompt in prompts], None, self.target.device
        reader = self.target.reader(len(prompts), capacity)
        if any(known):
            ids = padded(known, device)
            hidden = reader.read(known, input_ids=ids, logits_to_keep=1, **self.options).hidden_states
        session = self.drafter.begin(prompts, capacity, hidden) if self.drafter else None
        history = None
        if processors := {*self.sampling.processors, *self.draft_sampling.processors}:
            history = History(processors, padded(prompts, device, -1), self.vocab, self.capacity)
        return reader, session, history, torch.tensor([prompt[-1:] for prompt in prompts], device=device)

    def steps(self) -> Iterator[Step]:
        try:
            while self.texts.going or self.waiting:
                yield self.step()
        finally:
            self.reader.close()
            if self.session is not None:
                self.session.close()

    @torch.inference_mode()
    def step(self) -> Step:
        """Draft, target pass, verification, commit."""
        self._join()
        self.clock.mark()
        rows, size, going = self.texts.going, self.structure.size - 1, self.index
        noise = self.noise.uniforms(2 * size + 1)
        coins, extra = noise[:, size:-1], noise[:, -1]
        draft, kept, counts = self._draft(noise[:, :size]), None, None
        tree = read = draft.tree
        if self.selection is not None:
            draft, read, kept, counts = self.selection.select(rows, draft, self._allowed(draft))
            tree = draft.tree
            coins = coins[:, : tree.size - 1]
        self.clock.mark()
        tokens = draft.tokens[:, : read.size - 1]
        if kept is not None:
            tokens = torch.where(read.levels[:, 1:] <= kept[:, None], tokens, -1)
        ids = torch.cat((self.last, tokens.clamp(min=0)), 1)
        reader, sizes = self.reader, [1 + count for count in counts or ()]
        if len(set(sizes)) > 1 and isinstance(reader, Reader) and reader.packs:
            output = reader.packed(sizes, ids, **self.options)
        else:
            shape = () if read.is_chain else (read.sees, read.levels)
            output = reader.run(read.size, 0, *shape, input_ids=ids, **self.options)
        logits = output.logits
        if self.history is not None and self.sampling.processors:
            logits = self.history.in_tree(self.sampling, logits, read, tokens)
        if tree.size > read.size:  # the last node's row is not used
            logits = torch.cat((logits, logits[:, -1:]), 1)
        if draft.rows is not None and draft.rows.shape[2] > self.vocab:  # it has no mass
            logits = pad(logits, (0, 1), value=-torch.inf)
        self.clock.mark()
        verdict = self._verify(draft, logits, coins, extra, kept)
        self.clock.mark()
        committed = self._commit(draft, verdict, output)
        outcome, used = verdict.outcome, verdict.used
        if self.reader.recorder.active:  # the next step overwrites these
            every = len(going) == len(logits)
            outcome, used = outcome.take(going), used[going] if self.carry and used is not None else None
            if self.keep_rows or not every:
                logits, draft = logits[going], draft.take(going)
            coins, extra = (coins, extra) if every else (coins[going], extra[going])
        self.clock.mark()
        seconds = dict(zip(PHASES, self.clock.read(), strict=True))
        return Step(
            rows, draft, self.sampling, logits, coins, extra, used, outcome, *committed, seconds, counts
        )

    def _draft(self, uniforms: Tensor) -> Draft:
        if self.session is not None:
            history = self.history if self.draft_sampling.processors else None
            rules = self.structure, self.draft_sampling
            return self.session.draft(*rules, uniforms, history, self.verifier.reads_leaves)
        assert isinstance(self.structure, Sampled)
        return Draft(self.structure.tree, uniforms.long(), uniforms.new_zeros(len(uniforms), 0, self.vocab))

    def _allowed(self, draft: Draft) -> Callable[[], Tensor] | None:
        """What tells which drafted tokens [B, gamma] of chains the target's processors leave."""
        if self.history is None or not self.sampling.processors:
            return None

        def left() -> Tensor:
            assert self.history is not None
            nothing = self.last.new_zeros(len(self.last), draft.tree.size, self.vocab)
            logits = self.history.in_tree(self.sampling, nothing, draft.tree, draft.tokens)
            return logits[:, :-1].gather(2, draft.tokens.clamp(min=0)[..., None])[..., 0] > -torch.inf

        return left

    def _verify(
        self, draft: Draft, logits: Tensor, coins: Tensor, extra: Tensor, kept: Tensor | None
    ) -> Verdict:
        target, tree = None, draft.tree
        if self.carry and draft.proposal is not None:
            target = self.carry.modified(self.sampling.rows(logits), draft.proposal, draft.tokens)
        kind = ("verdict", self.verifier, self.sampling, draft.heat, tree.kind)
        judge = partial(judged, self.verifier, self.sampling, tree, draft.heat)
        given = {"logits": logits, "drafted": draft.logits, "proposal": draft.rows, "target": target}
        given |= {"tokens": draft.tokens, "strata": draft.strata}
        tables = {} if tree.shared else tree.tables
        return self.reader.recorder(kind, judge, coins=coins, extra=extra, kept=kept, **given, **tables)

    def _commit(
        self, draft: Draft, verdict: Verdict, output: Any
    ) -> tuple[list[int], list[list[int]], list[str | None]]:
        """Emits the accepted tokens and advances target, drafter and noise to the next step."""
        outcome, used, tau, path, summary = verdict
        if self.carry and draft.proposal is not None and used is not None:
            self.carry.emit(used, draft.proposal, draft.tokens, tau, outcome.token)
        read = summary.tolist()
        taken = [read[row] for row in self.going]
        for error, *_ in taken:
            if error:
                raise BadInput(f"verification met an invalid row: {ERRORS[error]}")
        accepted = [count for _, count, *_ in taken]
        words = [[*along[:count], token] for _, count, token, *along in taken]
        emitted, finished, stay = self.texts.take(words)
        if stay or self.waiting:
            counts, ahead = [count + 1 for count in accepted], tau + 1
            if len(taken) < len(read):
                grown = dict(zip(self.going, zip(counts, words, strict=True), strict=True))
                counts, words = map(
                    list, zip(*(grown.get(b, (0, [])) for b in range(len(read))), strict=True)
                )
                ahead = torch.zeros_like(tau).index_copy(0, self.index, ahead[self.index])
            self.reader.advance(counts, ahead, None if draft.tree.is_chain else path)
            self.last = outcome.token[:, None]
            if self.session is not None:
                self.session.accept(Accepted(path, counts, ahead, words, draft, output.hidden_states))
            if self.history is not None:
                self.history.add(padded(words, self.last.device, -1))
        if len(stay) < len(taken) and (stay or self.waiting):
            self._leave([self.going[place] for place in stay])
        return accepted, emitted, finished

    def _leave(self, going: list[int]) -> None:
        """Goes on with these rows of the batch and, in as many others as there are prompts waiting, with
        those prompts; further rows leave it.
        """
        batch = size = len(self.last)
        needed = min(batch, len(going) + len(self.waiting))
        while self.whole and size // 2 >= needed:
            size //= 2
        ended = [row for row in range(batch) if row not in going]
        rows = sorted([*going, *ended][: size if self.whole else needed])
        if len(rows) < batch:
            self.last = self.last[rows]
            for part in (self.reader, self.session, self.noise, self.carry, self.history):
                if part is not None:
                    part.keep(rows)
            going = [rows.index(row) for row in going]
        self._go_on(list(zip(going, self.texts.going, strict=True)))

    def _join(self) -> None:
        """Gives the rows of texts that ended to prompts that wait."""
        free = [row for row in range(len(self.last)) if row not in self.going]
        rows, numbers = free[: len(self.waiting)], self.waiting[: len(free)]
        if not rows:
            return
        self.waiting = self.waiting[len(free) :]
        prompts = [self.prompts[number] for number in numbers]
        reader, session, history, last = self._begin(prompts, max(map(len, prompts)) + 2)
        self.last = self.last.index_copy(0, torch.tensor(rows, device=last.device), last)
        new: tuple[Any, ...] = reader, session, history, self.every.of(numbers)
        for part, joined in zip((self.reader, self.session, self.history, self.noise), new, strict=True):
            if part is not None:
                part.put(rows, joined)
        if self.carry is not None:
            self.carry.forget(rows)
        texts = zip(self.going, self.texts.going, strict=True)
        self._go_on(sorted([*texts, *zip(rows, numbers, strict=True)]))

    def _go_on(self, texts: list[tuple[int, int]]) -> None:
        """Goes on with these texts: the row of each, in order, and the number of its prompt."""
        self.going, self.texts.going = ([pair[k] for pair in texts] for k in range(2))
        self.index = torch.tensor(self.going, device=self.last.device)


def misfit(verifier: Verifier, structure: Structure, drafter: Drafter, target: Model) -> str | None:
    """The reason why these cannot be combined; None if they can."""
    if target.only_chains and structure.kind != "chain":
        return f"{target.name} reads chains only, not {structure.name}: {target.why}"
    if structure.kind not in verifier.drafts:
        fit = ", ".join(verifier.drafts)
        return f"{verifier.name} is made for {fit}, not for {structure.name} ({structure.kind})"
    if drafter.only_chains and structure.kind != "chain":
        return f"{drafter.name} drafts chains, not {structure.name}"
    if isinstance(structure, DDTree) and not drafter.by_depth:
        return f"{structure.name} is for drafters whose rows depend on the depth alone, unlike {drafter.name}"
    if drafter.deepest is not None and structure.depth > drafter.deepest:
        return f"{drafter.name} drafts {drafter.deepest} tokens on a path at most, not {structure.name}"
    if verifier.modifies_target and not drafter.stateless:
        needs = "a drafter whose rows depend on the context alone"
        return f"{verifier.name} needs {needs}; {drafter.name} is not one"
    return None


def cannot_select(verifier: Verifier, structure: Structure | None) -> str | None:
    """The reason why drafts of this structure cannot be selected from; None if they can."""
    if structure is None:
        return "there is no draft to select from"
    if structure.kind != "chain":
        return f"selection is defined on chains, not on {structure.name}"
    if verifier.modifies_target:
        return f"{verifier.name} keeps state between steps, which selection would break"
    return None


def fitting(
    structures: Sequence[Structure], verifiers: Sequence[Verifier], drafter: Drafter, target: Model
) -> list[tuple[Structure, Verifier]]:
    """The pairs that can be combined, structure by structure; BadInput if there are none."""
    pairs = product(structures, verifiers)
    found = [(shape, each) for shape, each in pairs if misfit(each, shape, drafter, target) is None]
    if not found and target.only_chains and all(shape.kind != "chain" for shape in structures):
        raise BadInput(f"{target.name} reads chains only: {target.why}")
    if not found:
        raise BadInput(f"none of the verifiers is made for these drafts of {drafter.name}")
    return found


def _check(target: Model, prompts: Sequence[Sequence[int]]) -> None:
    if not prompts:
        raise BadInput("there is no prompt")
    for number, prompt in enumerate(prompts, 1):
        which = f"prompt {number}" if len(prompts) > 1 else "the prompt"
        if not prompt:
            raise BadInput(f"{which} is empty")
        if len(prompt) >= target.context:
            raise BadInput(
                f"{which} has {len(prompt)} tokens; {target.name} takes {target.context}, answer included"
            )


class Noise:
    """Uniform float32 numbers in [0, 1), for each row from a generator of its own."""

    def __init__(self, device: torch.device, streams: list[np.random.Generator]) -> None:
        self.device, self.streams = device, streams

    @classmethod
    def seeded(cls, seed: int | Sequence[int], rows: int, device: torch.device) -> "Noise":
        """Row b's numbers depend only on (seed, b), or on its own seed."""
        pairs = zip(repeat(seed), range(rows)) if isinstance(seed, int) else zip(seed, repeat(0))
        return cls(device, [np.random.default_rng(pair) for pair in pairs])

    def uniforms(self, count: int) -> Tensor:
        """The next `count` numbers of every row, [B, count]."""
        drawn = np.empty((len(self.streams), count), np.float32)
        for stream, row in zip(self.streams, drawn, strict=True):
            stream.random(dtype=np.float32, out=row)
        return torch.from_numpy(drawn).to(self.device, non_blocking=True)

    def of(self, numbers: Sequence[int]) -> "Noise":
        """The part of these prompts, given by number."""
        return Noise(self.device, [self.streams[number] for number in numbers])

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows."""
        self.streams = [self.streams[row] for row in rows]

    def put(self, rows: list[int], joined: "Noise") -> None:
        """Replaces these rows."""
        for row, stream in zip(rows, joined.streams, strict=True):
            self.streams[row] = stream


class Clock:
    """Seconds between marks, by the host's clock or by GPU events; reading GPU events waits for the
    device.
    """

    def __init__(self, device: torch.device, of_device: bool) -> None:
        self.stream = torch.cuda.current_stream(device) if of_device else None
        self.marks: list[Any] = []

    def mark(self) -> None:
        if self.stream is None:
            self.marks.append(time.perf_counter())
        else:
            self.marks.append(self.stream.record_event(torch.cuda.Event(enable_timing=True)))

    def read(self) -> list[float]:
        """The times between the marks since the last `read`."""
        marks, self.marks = self.marks, []
        if self.stream is None:
            return [after - before for before, after in pairwise(marks)]
        marks[-1].synchronize()
        return [before.elapsed_time(after) / 1e3 for before, after in pairwise(marks)]
