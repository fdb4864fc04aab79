"""The speculative loop, one for all drafters, structures and verifiers."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from draftproof.gpu import kernels
from draftproof.gpu.draft import Layout, Tree, emitted
from draftproof.gpu.drafters.drafter import Accepted, Drafter, Session
from draftproof.gpu.engine.carry import Carry
from draftproof.gpu.engine.output import Step, Texts
from draftproof.gpu.models import Model
from draftproof.gpu.passes import Reader, padded
from draftproof.gpu.rows import PLAIN, Sampling
from draftproof.gpu.structures import Draft, Sampled, Structure
from draftproof.gpu.verify import ERRORS, VERIFIERS, Batch, Outcome, Verifier
from draftproof.theory.errors import BadInput

NO_DRAFT = Sampled("plain", Tree.chain(0))
PHASES: tuple[str, ...] = "draft", "target", "verify", "rest"

Decode: TypeAlias = Callable[..., Iterator[Step]]
"""`generate` with a target and a drafter, a verifier and a structure."""


@torch.inference_mode()
def generate(
    target: Model,
    drafter: Drafter | None,
    prompts: Sequence[Sequence[int]],
    *,
    verifier: Verifier,
    structure: Structure | None,
    sampling: Sampling = PLAIN,
    max_new_tokens: int = 128,
    stop: Sequence[str] = (),
    ignore_end: bool = False,
    seed: int | Sequence[int] = 0,
    timed: bool = False,
) -> Iterator[Step]:
    """Continues the prompts (token ids), step by step, until every row has ended.

    With `drafter` and `structure` None this is plain decoding in the same loop. A row ends at an end
    token (unless `ignore_end`), at a stop string, after `max_new_tokens`, or where the context ends.
    Row b's noise depends on (seed, b), or on seed[b], alone. On a GPU the phases are timed only if `timed`,
    which waits for the device after each step. Steps that were yielded stay valid, whatever
    comes after. Raises BadInput for an empty or too long prompt, and for a verifier, structure and
    drafter that do not fit each other.
    """
    _check(target, prompts)
    if drafter is not None and structure is not None and (reason := misfit(verifier, structure, drafter)):
        raise BadInput(reason)
    if max_new_tokens < 1:
        raise BadInput(f"max_new_tokens must be at least 1, not {max_new_tokens}")
    device = target.device
    structure = (structure or NO_DRAFT).to(device)
    limits = [min(max_new_tokens, target.context - len(prompt)) for prompt in prompts]
    capacity = max(map(len, prompts)) + max(limits) + 2 * structure.size + 2
    reader = Reader.of(target.network, len(prompts), capacity, target.context)
    options = {"output_hidden_states": True} if drafter is not None and drafter.reads_hidden else {}
    known, hidden = [prompt[:-1] for prompt in prompts], None
    if any(known):
        output = reader.read(known, input_ids=padded(known, device), logits_to_keep=1, **options)
        hidden = output.hidden_states if options else None
    return _Decoder(
        reader=reader,
        options=options,
        vocab=target.vocab,
        session=drafter.begin(prompts, capacity, hidden) if drafter else None,
        structure=structure,
        verifier=verifier,
        carry=Carry() if verifier.modifies_target else None,
        sampling=sampling,
        noise=Noise(seed, len(prompts), device),
        texts=Texts(limits, frozenset() if ignore_end else target.ends, stop, target.tokenizer.decode),
        clock=Clock(device, timed and device.type == "cuda"),
        last=torch.tensor([prompt[-1:] for prompt in prompts], device=device),
    ).steps()


@dataclass
class _Decoder:
    """The state of a run. `options` are those of every target pass, `last` [B, 1] each row's last token."""

    reader: Reader
    options: dict[str, Any]
    vocab: int
    session: Session | None
    structure: Structure
    verifier: Verifier
    carry: Carry | None
    sampling: Sampling
    noise: "Noise"
    texts: Texts
    clock: "Clock"
    last: Tensor
    layout: Layout | None = None

    def steps(self) -> Iterator[Step]:
        try:
            while self.texts.going:
                yield self.step()
        finally:
            self.reader.close()
            if self.session is not None:
                self.session.close()

    @torch.inference_mode()
    def step(self) -> Step:
        """Draft, target pass, verification, commit."""
        rows, size = self.texts.going, self.structure.size - 1
        self.clock.mark()
        noise = self.noise.uniforms(2 * size + 1)
        coins, extra = noise[:, size:-1], noise[:, -1]
        draft = self._draft(noise[:, :size])
        self.clock.mark()
        if self.layout is None or not draft.tree.shared:
            self.layout = Layout.of(draft.tree)
        ids = torch.cat((self.last, draft.tokens.clamp(min=0)), 1)
        output = self.reader.tree(self.layout.sees, self.layout.levels, input_ids=ids, **self.options)
        logits = output.logits[..., : self.vocab]
        self.clock.mark()
        outcome, used = self._verify(draft, logits, coins, extra)
        self.clock.mark()
        committed = self._commit(draft, self.layout, outcome, used, output)
        if self.reader.recorder.active:  # the next step overwrites these
            logits, outcome = logits.clone(), outcome.clone()
            used = used.clone() if self.carry and used is not None else None
        self.clock.mark()
        seconds = dict(zip(PHASES, self.clock.read(), strict=True))
        drafted = draft.tree, self.sampling, logits, draft.proposal, draft.tokens, coins, extra
        return Step(rows, *drafted, used, outcome, *committed, seconds)

    def _draft(self, uniforms: Tensor) -> Draft:
        if self.session is not None:
            return self.session.draft(self.structure, self.sampling, uniforms)
        assert isinstance(self.structure, Sampled)
        return Draft(self.structure.tree, uniforms.long(), uniforms.new_zeros(len(uniforms), 0, self.vocab))

    def _verify(
        self, draft: Draft, logits: Tensor, coins: Tensor, extra: Tensor
    ) -> tuple[Outcome, Tensor | None]:
        target, tree = None, draft.tree
        if self.carry and draft.proposal is not None:
            target = self.carry.modified(self.sampling.rows(logits), draft.proposal, draft.tokens)
        kind = ("verdict", self.verifier, self.sampling, tree.kind)
        noise, tables = {"coins": coins, "extra": extra}, {} if tree.shared else tree.tables
        drafted = {"logits": logits, "proposal": draft.proposal, "tokens": draft.tokens, "target": target}
        judge = partial(verdict, self.verifier, self.sampling, tree)
        return self.reader.recorder(kind, judge, **drafted, **noise, **tables)

    def _commit(
        self, draft: Draft, layout: Layout, outcome: Outcome, used: Tensor | None, output: Any
    ) -> tuple[list[int], list[list[int]], list[str | None]]:
        """Emits the accepted tokens and brings target, drafter and noise to the next step."""
        tables = {"levels": layout.levels, "paths": layout.paths, "tokens": draft.tokens}
        tau, path, summary = self.reader.recorder("summary", summarised, **tables, **vars(outcome))
        if self.carry and draft.proposal is not None and used is not None:
            self.carry.emit(used, draft.proposal, draft.tokens, tau, outcome.token)
        read = summary.tolist()
        for error, *_ in read:
            if error:
                raise BadInput(f"verification met rows that are no laws: {ERRORS[error]}")
        accepted = [count for _, count, *_ in read]
        words = [tokens[: count + 1] for _, count, *tokens in read]
        emitted, finished, stay = self.texts.take(words)
        if stay:
            counts = [count + 1 for count in accepted]
            self.reader.advance(counts, tau + 1, None if draft.tree.is_chain else path)
            self.last = outcome.token[:, None]
            if self.session is not None:
                hidden = output.hidden_states if self.options else None
                self.session.accept(Accepted(path, counts, tau + 1, words, draft, hidden))
        if stay and len(stay) < len(words):
            self.last = self.last[stay]
            for part in (self.reader, self.session, self.noise, self.carry):
                if part is not None:
                    part.keep(stay)
        return accepted, emitted, finished


def verdict(
    verifier: Verifier,
    sampling: Sampling,
    tree: Tree,
    *,
    logits: Tensor,
    proposal: Tensor | None,
    tokens: Tensor,
    coins: Tensor,
    extra: Tensor,
    target: Tensor | None = None,
    **tables: Tensor,
) -> tuple[Outcome, Tensor | None]:
    """Verifies a step, by kernels if there are any; returns the outcome, and the target's rows if computed.

    logits [B, N, V] are the target's; proposal [B, I, V] are rows. `target`, if given, replaces the rows
    made from the logits, `tables` those of the tree. Nothing is read back from the device.
    """
    tree = tree.holding(tables) if tables else tree
    if target is None and has_kernels(verifier, logits.device):
        heat = sampling.temperature  # kernels divide both sides by it, but the proposal is rows already
        if not sampling.only_temperature:
            logits, heat = sampling.rows(logits).log(), 1.0
        given = None if proposal is None else proposal.log() if heat == 1 else proposal.log() * heat
        batch = Batch(tree, logits, given, tokens, coins, extra)
        return kernels.verify(verifier.name, batch, temperature=heat), None
    target = sampling.rows(logits) if target is None else target
    return verifier.verify(Batch(tree, target, proposal, tokens, coins, extra)), target


def has_kernels(verifier: Verifier, device: torch.device) -> bool:
    """Whether there are kernels for this verifier, compiled for this device."""
    ours = VERIFIERS.get(verifier.name) is verifier and verifier.name in kernels.NAMES
    return ours and kernels.AVAILABLE and device.type == "cuda"


def summarised(
    *, levels: Tensor, paths: Tensor, tokens: Tensor, node: Tensor, token: Tensor, error: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """tau and path as in `draft.emitted`, and [B, depth + 3] for one read by the host: error, tau, words."""
    tau, path, words = emitted(levels, paths, tokens, node, token)
    return tau, path, torch.cat((error[:, None], tau[:, None], words), 1)


def misfit(verifier: Verifier, structure: Structure, drafter: Drafter) -> str | None:
    """Why the three do not fit each other; None if they do."""
    if structure.kind not in verifier.drafts:
        fit = ", ".join(verifier.drafts)
        return f"{verifier.name} is made for {fit}, not for {structure.name} ({structure.kind})"
    if drafter.only_chains and structure.kind != "chain":
        return f"{drafter.name} drafts chains, not {structure.name}"
    if verifier.modifies_target and not drafter.stateless:
        return (
            f"{verifier.name} needs a drafter whose rows depend on the context alone; {drafter.name} is none"
        )
    return None


def fitting(
    structures: Sequence[Structure], verifiers: Sequence[Verifier], drafter: Drafter
) -> list[tuple[Structure, Verifier]]:
    """The pairs that fit each other, structure by structure; BadInput if there are none."""
    found = [
        (shape, each) for shape in structures for each in verifiers if misfit(each, shape, drafter) is None
    ]
    if not found:
        raise BadInput(f"no verifier asked for is made for these drafts of {drafter.name}")
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
    """Uniform float32 numbers in [0, 1); row b's depend on (seed, b), or on its own seed, alone.

    >>> both, alone = Noise(7, 2, torch.device("cpu")), Noise(7, 1, torch.device("cpu"))
    >>> torch.equal(both.uniforms(3)[:1], alone.uniforms(3))
    True
    """

    def __init__(self, seed: int | Sequence[int], rows: int, device: torch.device) -> None:
        pairs = (
            ((seed, row) for row in range(rows)) if isinstance(seed, int) else ((each, 0) for each in seed)
        )
        self.streams = [np.random.default_rng(pair) for pair in pairs]
        self.device = device

    def uniforms(self, count: int) -> Tensor:
        """The next `count` numbers of every row, [B, count]."""
        drawn = np.stack([stream.random(count, dtype=np.float32) for stream in self.streams])
        return torch.from_numpy(drawn).to(self.device, non_blocking=True)

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows."""
        self.streams = [self.streams[row] for row in rows]


class Clock:
    """Seconds between marks, by the host's clock or by GPU events; only reading the latter waits."""

    def __init__(self, device: torch.device, of_device: bool) -> None:
        self.stream = torch.cuda.current_stream(device) if of_device else None
        self.marks: list[Any] = []

    def mark(self) -> None:
        if self.stream is None:
            self.marks.append(time.perf_counter())
        else:
            self.marks.append(self.stream.record_event(torch.cuda.Event(enable_timing=True)))

    def read(self) -> list[float]:
        """The times between the marks since the last reading."""
        marks, self.marks = self.marks, []
        if self.stream is None:
            return [after - before for before, after in pairwise(marks)]
        marks[-1].synchronize()
        return [before.elapsed_time(after) / 1e3 for before, after in pairwise(marks)]
