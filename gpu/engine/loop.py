"""The speculative loop, one for all drafters, structures and verifiers."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import torch
from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.drafters.drafter import Accepted, Draft, Drafter, Session, Structure
from draftproof.gpu.engine.carry import Carry
from draftproof.gpu.engine.clock import Clock
from draftproof.gpu.engine.fits import must_fit
from draftproof.gpu.engine.noise import Noise
from draftproof.gpu.engine.reader import Reader, padded
from draftproof.gpu.engine.sampling import PLAIN, Sampling
from draftproof.gpu.engine.step import Step
from draftproof.gpu.engine.stops import Texts
from draftproof.gpu.engine.verdict import recorded, told
from draftproof.gpu.layout import Layout
from draftproof.gpu.models import Model
from draftproof.gpu.structures.sampled import Sampled
from draftproof.gpu.verify import ERRORS, Outcome, Verifier
from draftproof.theory.errors import BadInput

Decode: TypeAlias = Callable[..., Iterator[Step]]
"""`generate` with a target and a drafter, a verifier and a structure."""

PLAIN_DRAFT = Sampled("plain", Tree.chain(0))


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
    token (not with `ignore_end`), at a stop string, after `max_new_tokens`, or where the context ends.
    Row b's noise depends on (seed, b), or on seed[b], alone. On a GPU, phases are told apart in time
    only if `timed`, which waits for the device between them. What was yielded is final, whatever
    comes after. Raises BadInput for an empty or too long prompt, and for what does not go together.
    """
    must_fit(target, drafter, prompts, verifier, structure)
    if max_new_tokens < 1:
        raise BadInput(f"max_new_tokens must be at least 1, not {max_new_tokens}")
    limits = [min(max_new_tokens, target.context - len(prompt)) for prompt in prompts]
    room = max(map(len, prompts)) + max(limits)
    texts = Texts(limits, frozenset() if ignore_end else target.ends, stop, target.tokenizer.decode)
    return _steps(_Decoder(target, drafter, prompts, room, verifier, structure, sampling, texts, seed, timed))


def _steps(decoder: "_Decoder") -> Iterator[Step]:
    try:
        while decoder.texts.going:
            yield decoder.step()
    finally:
        decoder.close()


class _Decoder:
    """The state of a run: what was read, what was emitted, who is still going."""

    @torch.inference_mode()
    def __init__(
        self,
        target: Model,
        drafter: Drafter | None,
        prompts: Sequence[Sequence[int]],
        room: int,
        verifier: Verifier,
        structure: Structure | None,
        sampling: Sampling,
        texts: Texts,
        seed: int | Sequence[int],
        timed: bool,
    ) -> None:
        device = target.device
        self.structure = (structure or PLAIN_DRAFT).to(device)
        self.verifier, self.sampling, self.texts, self.vocab = verifier, sampling, texts, target.vocab
        self.clock = Clock(device, timed and device.type == "cuda")
        self.noise = Noise(seed, len(prompts), device)
        self.carry = Carry() if verifier.name == "greedy-block" else None
        room += 2 * self.structure.size + 2
        self.reader = Reader.of(target.network, len(prompts), room, target.context)
        self.hidden = {"output_hidden_states": True} if drafter is not None and drafter.reads_hidden else {}
        known = [prompt[:-1] for prompt in prompts]
        hidden = None
        if any(known):
            seen = self.reader.read(known, input_ids=padded(known, device), logits_to_keep=1, **self.hidden)
            hidden = seen.hidden_states if self.hidden else None
        self.last = torch.tensor([prompt[-1:] for prompt in prompts], device=device)
        self.session: Session | None = drafter.begin(prompts, room, hidden) if drafter else None
        self.layout = Layout.of(self.structure.tree) if isinstance(self.structure, Sampled) else None

    @torch.inference_mode()
    def step(self) -> Step:
        """Draft, target pass, verification; then everybody follows."""
        self.clock.mark()
        drafted = self.structure.size - 1
        noise = self.noise.uniforms(2 * drafted + 1)
        draft = self._draft(noise[:, :drafted])
        self.clock.mark()
        layout = self._layout(draft.tree)
        ids = torch.cat((self.last, draft.tokens.clamp(min=0)), 1)
        seen = self.reader.tree(layout.sees, layout.levels, input_ids=ids, **self.hidden)
        logits = seen.logits[..., : self.vocab]
        self.clock.mark()
        coins, extra, target = noise[:, drafted:-1], noise[:, -1], None
        if self.carry and draft.proposal is not None:
            target = self.carry.modified(self.sampling.rows(logits), draft.proposal, draft.tokens)
        outcome, used = recorded(
            self.reader.recorder, self.verifier, self.sampling, draft, logits, coins, extra, target
        )
        self.clock.mark()
        rows = self.texts.going
        accepted, emitted, finished = self._follow(draft, layout, used, outcome, seen)
        if self.reader.recorder.active:  # the next step overwrites what this one made
            logits, outcome = logits.clone(), outcome.clone()
            used = used.clone() if self.carry and used is not None else None
        self.clock.mark()
        return Step(
            rows,
            draft.tree,
            self.sampling,
            logits,
            draft.proposal,
            draft.tokens,
            coins,
            extra,
            used,
            outcome,
            accepted,
            emitted,
            finished,
            dict(zip(("draft", "target", "verify", "rest"), self.clock.read(), strict=True)),
        )

    def _draft(self, uniforms: Tensor) -> Draft:
        if self.session is None:
            assert isinstance(self.structure, Sampled)
            empty = uniforms.new_zeros(len(uniforms), 0, self.vocab)
            return Draft(self.structure.tree, uniforms.long(), empty)
        return self.session.draft(self.structure, self.sampling, uniforms)

    def _layout(self, tree: Tree) -> Layout:
        if self.layout is None or not tree.shared:
            return Layout.of(tree)
        return self.layout

    def _follow(
        self, draft: Draft, layout: Layout, used: Tensor | None, outcome: Outcome, seen: object
    ) -> tuple[list[int], list[list[int]], list[str | None]]:
        """Records what was emitted and brings target, drafter and noise to the next step."""
        levels, paths, tokens = layout.levels, layout.paths, draft.tokens
        tau, path, words = self.reader.recorder(
            "told", told, levels=levels, paths=paths, tokens=tokens, **vars(outcome)
        )
        if self.carry and draft.proposal is not None and used is not None:
            self.carry.emit(used, draft.proposal, draft.tokens, tau, outcome.token)
        said = words.tolist()
        for error, *_ in said:
            if error:
                raise BadInput(f"verification met rows that are no laws: {ERRORS[error]}")
        accepted = [count for _, count, *_ in said]
        said = [word[: count + 1] for _, count, *word in said]
        emitted, finished, stay = self.texts.take(said)
        if stay:
            counts = [count + 1 for count in accepted]
            self.reader.advance(counts, tau + 1, None if draft.tree.is_chain else path)
            self.last = outcome.token[:, None]
            if self.session is not None:
                hidden = getattr(seen, "hidden_states", None)
                self.session.accept(Accepted(path, counts, tau + 1, said, draft, hidden))
            if len(stay) < len(said):
                self._keep(stay)
        return accepted, emitted, finished

    def _keep(self, stay: list[int]) -> None:
        self.last = self.last[stay]
        for each in (self.reader, self.session, self.noise, self.carry):
            if each is not None:
                each.keep(stay)

    def close(self) -> None:
        """The run is over."""
        self.reader.give_back()
        if self.session is not None:
            self.session.close()
