"""Draft structures and how they are drawn: chains, paths, fixed trees, trees of the likeliest tokens."""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from draftproof.gpu import kernels, spelling
from draftproof.gpu.draft import Tree
from draftproof.gpu.history import History, along
from draftproof.gpu.passes import Reader
from draftproof.gpu.rows import Sampling, softened
from draftproof.gpu.states import StateReader
from draftproof.gpu.strata import stratified
from draftproof.gpu.verify.residual import draws
from draftproof.gpu.verify.verifier import CHAIN, DETERMINISTIC, WITH, WITHOUT, label

STEP = 1e-9  # subtracted per node, so that a parent precedes a child of probability 1


@dataclass(frozen=True)
class Draft:
    """A drafted tree: tokens [B, N - 1], -1 where none was drawn, and the rows [B, I, V] that they were drawn
    from: as logits, which are filtered and divided by `heat`, or as probabilities in `rows`; neither for
    deterministic drafts. places [1 or B, N]: each node's slot in the drafter's KV cache, counted from the end
    of the text (0 for nodes it does not hold); None if the k-th node is at place k. strata [B, I, V]: of a
    stratified tree, as in `verify.Drafts`. confidence [B, N - 1]: of a chain, how likely the drafter thinks
    each token is to be accepted, which depends on earlier tokens only; None if it does not say.
    """

    tree: Tree
    tokens: Tensor
    rows: Tensor | None = None
    logits: Tensor | None = None
    heat: float = 1.0
    places: Tensor | None = None
    strata: Tensor | None = None
    confidence: Tensor | None = None

    @cached_property
    def proposal(self) -> Tensor | None:
        """The rows as probabilities; None for deterministic drafts."""
        return self.rows if self.logits is None else softened(self.logits, self.heat)

    def kept(self) -> "Draft":
        """The same draft with a copy of its logits, which no replay of a recording overwrites."""
        return self if self.logits is None else replace(self, logits=self.logits.clone())

    def logits_over(self, heat: float) -> Tensor | None:
        """The rows as logits that are to be divided by `heat`; None for deterministic drafts."""
        given, own = self.logits, self.heat
        if given is None:
            given, own = None if self.rows is None else self.rows.log(), 1.0
        return given if given is None or own == heat else given * (heat / own)


@dataclass(frozen=True)
class Level:
    """Nodes of one depth that a drafter reads in one pass, stored at the places first, first + 1, ...
    sees [1 or B, m, W]: as in `Tree`, by place, or None on a chain; above [1 or B, m]: the parents' indices
    in the previous level.
    """

    depth: int
    first: int
    sees: Tensor | None
    above: Tensor


@dataclass(frozen=True)
class Accepted:
    """The tokens that one step committed, which the drafter must read next.

    path [B, depth + 1]: the nodes from the root to the last accepted one, then zeros; counts: the number of
    these nodes in each row, and read [B] the same on the device; tokens: the tokens each row emitted; hidden:
    the target's hidden states at the tree's nodes, if the drafter reads them.
    """

    path: Tensor
    counts: list[int]
    read: Tensor
    tokens: list[list[int]]
    draft: Draft
    hidden: tuple[Tensor, ...] | None


class Session:
    """A drafter's state on a batch. Drafters that are networks keep their KV cache in `reader` and each row's
    input to the next draft in `last`; `recorder` may record the drawing as well.
    """

    last: Tensor

    def __init__(self, reader: Reader | StateReader) -> None:
        self.reader, self.recorder = reader, reader.recorder

    def root(self) -> Tensor:
        """Logits [B, V] of the token after each row's text."""
        raise NotImplementedError

    def extend(self, tokens: Tensor, level: Level) -> Tensor:
        """Logits [B, m, V] after each of the tokens [B, m] of a level."""
        raise NotImplementedError

    def by_depth(self) -> Tensor:
        """Logits [B, depth, V] of the next tokens, if they do not depend on each other."""
        raise NotImplementedError

    def draft(
        self, structure: "Structure", sampling: Sampling, uniforms: Tensor, history: History | None = None
    ) -> Draft:
        """Drafts for every row; uniforms [B, size - 1]. The history is that of the sampling's processors."""
        return structure.grow(self, sampling, uniforms, history)

    def accept(self, accepted: Accepted) -> None:
        """Reads the tokens that a step committed."""
        raise NotImplementedError

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows of the batch."""
        self.reader.keep(rows)
        self.last = self.last[rows]

    def close(self) -> None:
        """Ends the run."""
        self.reader.close()


def extended(session: Session, draft: Draft, sampling: Sampling, history: History | None = None) -> Draft:
    """A chain's draft with the row after its last token too."""
    gamma, last = draft.tree.depth, draft.tokens[:, -1:]
    logits = session.extend(last, Level(gamma, gamma, None, torch.zeros_like(last[:1])))
    if history is not None:
        logits = history.processed(sampling, logits, draft.tokens[:, None])
    made = sampling.filtered(logits)
    assert draft.logits is not None
    return replace(draft, logits=torch.cat((draft.logits, made), 1))


class Structure(Protocol):
    """A draft structure: `size` nodes with the root, longest path `depth`, `kind` as in `Verifier.drafts`."""

    name: str
    size: int
    depth: int
    kind: str

    def to(self, device: torch.device) -> Any:
        """The same structure with its tables on a device."""

    def grow(
        self, session: Session, sampling: Sampling, uniforms: Tensor, history: History | None = None
    ) -> Draft:
        """Drafts for every row of a session; uniforms [B, size - 1]."""
        ...


def structure(name: str) -> Structure:
    """The structure of that name (see `gpu.spelling.draft`); BadInput if there is none."""
    kind, given = spelling.draft(name)
    if kind == "top-k":
        return TopK(name, *given)
    if kind == "ddtree":
        from draftproof.gpu.ddtree import DDTree  # which needs this module

        return DDTree(name, *given)
    if kind == "chain":
        return Sampled(name, Tree.chain(*given))
    if kind in ("paths", "paths+"):
        return Sampled(name, Tree.paths(*given), merged=kind == "paths")
    return Sampled(name, Tree.of_shape(given, replacement=kind == "tree+", stratified=kind == "strata"))


@dataclass(frozen=True)
class Stage:
    """A level's inner nodes, and the turns in which their children are drawn, one child per node in each
    turn.

    A turn is (drawing, tokens): the nodes that still draw, as indices into those of the previous turn (None:
    all of them), and the places of their children's tokens. own: the places of the nodes' own tokens, -1 for
    the root; children [n, K]: the places of their children's tokens in drawing order, then -1; rows: the
    places of the nodes' rows among the draft's.
    """

    level: Level
    nodes: Tensor
    own: Tensor
    children: Tensor
    rows: Tensor
    turns: tuple[tuple[Tensor | None, Tensor], ...]


class Sampled:
    """A fixed tree, drawn with or without replacement; or, if `merged`, i.i.d. paths that are merged by
    prefix after drawing, which makes a tree without replacement.
    """

    def __init__(self, name: str, tree: Tree, merged: bool = False) -> None:
        self.name, self.tree, self.merged = name, tree, merged
        self.size, self.depth = tree.size, tree.depth
        self.kind = WITHOUT if merged else label(tree)
        self.moved: dict[torch.device, Sampled] = {}

    def to(self, device: torch.device) -> "Sampled":
        """The same structure with its tables on a device; repeated calls return the same object."""
        if self.tree.parents.device == device:
            return self
        if device not in self.moved:
            self.moved[device] = Sampled(self.name, self.tree.to(device), self.merged)
        return self.moved[device]

    @cached_property
    def order(self) -> Tensor:
        """The inner nodes level by level; the k-th is at place k of a drafter's KV cache."""
        return torch.cat(self.tree.generations)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The tree level by level."""
        device = self.tree.parents.device
        parents, levels = self.tree.parents[0].tolist(), self.tree.levels[0].tolist()
        columns = functional.pad(1 + self.order, (1, 1))
        columns[-1] = self.size + 1
        sees = self.tree.sees[:, self.order][..., columns]
        stages, above, first = [], [0], 0
        for depth, nodes in enumerate(self.tree.generations):
            inner = nodes.tolist()
            up = torch.tensor([[above.index(parents[node]) for node in inner]], device=device)
            seen = None if self.tree.is_chain else sees[:, first : first + len(inner)]
            level = Level(depth, first, seen, up)
            turns, before = [], inner
            for children in self.tree.steps:
                if levels[int(children[0])] == depth + 1:
                    drawing = [parents[child] for child in children.tolist()]
                    among = torch.tensor([before.index(node) for node in drawing], device=device)
                    turns.append((None if drawing == before else among, children - 1))
                    before = drawing
            children = (self.tree.children[0, nodes, : len(turns)] - 1).contiguous()
            tables = nodes, nodes - 1, children, self.tree.rows[0, nodes]
            stages.append(Stage(level, *tables, tuple(turns)))
            above, first = inner, first + len(inner)
        return tuple(stages)

    @cached_property
    def places(self) -> Tensor | None:
        """[1, N]: each node's place in a drafter's KV cache; None for a chain, where node k is at place k."""
        if self.tree.is_chain:
            return None
        places = self.order.new_zeros(1, self.size)
        places[0, self.order] = torch.arange(len(self.order), device=self.order.device)
        return places

    @cached_property
    def reordered(self) -> Tensor | None:
        """The index of each inner node's row among the rows in level order; None if the orders agree."""
        sort = self.order.argsort()
        return None if bool((self.order == self.order[sort]).all()) else sort

    def grow(
        self, session: Session, sampling: Sampling, uniforms: Tensor, history: History | None = None
    ) -> Draft:
        """Draws the tree level by level with a session's rows; uniforms [B, size - 1], one per node."""
        logits, uniforms = session.root()[:, None], uniforms.double()[..., None]
        missing = logits.shape[-1]  # in the place of a token that is not drawn, until all are
        tokens = torch.full_like(uniforms, missing, dtype=torch.long)
        by_kernel = not self.tree.stratified and kernels.compiled_for(logits.device)
        rows, made, strata = None, [], []
        for number, stage in enumerate(self.stages):
            if stage.level.depth:
                own = tokens.index_select(1, stage.own)[..., 0]
                logits = session.extend(own.clamp(max=missing - 1), stage.level)
            if history is not None:
                words = along(self.tree, torch.where(tokens < missing, tokens, -1)[..., 0])
                words = words[:, stage.nodes, : stage.level.depth]
                logits = history.processed(sampling, logits, words, (words >= 0).all(-1))
            kind = "draw", self.tree.kind, number, sampling
            given = {"logits": logits, "tokens": tokens, "uniforms": uniforms}
            if by_kernel:
                drawn = partial(self._draw_by_kernel, stage, sampling)
                rows, tokens = session.recorder(kind, drawn, rows=rows, **given)
                continue
            new, places, tokens = session.recorder(kind, partial(self._draw, stage, sampling), **given)
            made.append(new)
            strata += [] if places is None else [places]
        tree, tokens = self.tree, torch.where(tokens < missing, tokens, -1)[..., 0]
        rows, among = (
            torch.cat(each, 1) if each else whole for each, whole in ((made, rows), (strata, None))
        )
        if self.reordered is not None and not by_kernel:
            rows, among = (each if each is None else each[:, self.reordered] for each in (rows, among))
        if self.merged:
            tree, tokens = Tree.merged(tokens.view(len(tokens), -1, self.depth))
        if among is not None:
            return Draft(tree, tokens, rows, places=self.places, strata=among)
        return Draft(tree, tokens, logits=rows, heat=sampling.heat, places=self.places)

    def _draw(
        self, stage: Stage, sampling: Sampling, logits: Tensor, tokens: Tensor, uniforms: Tensor
    ) -> tuple[Tensor, Tensor | None, Tensor]:
        """(rows, strata, tokens): the rows of a stage's nodes as filtered logits, and `tokens` with their
        children, drawn turn by turn. If the tree is stratified the rows are probabilities, with strata.
        Tokens and uniforms are [B, N - 1, 1]; V stands for a token that is not drawn.
        """
        made, V = sampling.filtered(logits), logits.shape[-1]
        rows = softened(made, sampling.heat)
        drawn = None  # whether each node was: only here does the support run out
        if stage.level.depth and self.kind not in (CHAIN, WITH):
            drawn = tokens.index_select(1, stage.own) < V
        if self.tree.stratified:
            return self._draw_strata(stage, rows, drawn, tokens, uniforms)
        for drawing, at in stage.turns:
            if drawing is not None:
                rows = rows[:, drawing]
                drawn = drawn if drawn is None else drawn[:, drawing]
            new = draws(rows, uniforms.index_select(1, at))
            tokens.index_copy_(1, at, new if drawn is None else torch.where(drawn, new, V))
            if at is not stage.turns[-1][1] and not self.tree.replacement:
                rows = rows.scatter(2, new.clamp(max=V - 1), 0.0)
        return made, None, tokens

    def _draw_by_kernel(
        self, stage: Stage, sampling: Sampling, logits: Tensor, tokens: Tensor, uniforms: Tensor,
        rows: Tensor | None,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """As `_draw`; the rows of all stages go to one tensor, which the first one makes."""
        made = kernels.filtered(sampling, logits)
        if rows is None:
            rows = made.new_empty(len(made), len(self.order), made.shape[2])
        kernels.draw_level(
            made, sampling.heat, uniforms, stage.own, stage.children, tokens, rows, stage.rows,
            replacement=self.tree.replacement,
        )  # fmt: skip
        return rows, tokens

    def _draw_strata(
        self, stage: Stage, rows: Tensor, drawn: Tensor | None, tokens: Tensor, uniforms: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """As `_draw`, all children at once; the rows that it returns are the means of the strata."""
        below = self.tree.children[:, stage.nodes].expand(len(rows), -1, -1)
        u = uniforms[..., 0].gather(1, (below - 1).clamp(min=0).flatten(1)).view(below.shape)
        found = stratified(*(each.flatten(0, 1) for each in (rows, (below > 0).sum(2), u)))
        mean, places, new = (each.unflatten(0, rows.shape[:2]) for each in found)
        there = new >= 0 if drawn is None else (new >= 0) & drawn
        new = torch.where(there, new, rows.shape[-1])
        tokens = functional.pad(tokens[..., 0], (1, 0)).scatter(1, below.flatten(1), new.flatten(1))
        return mean, places, tokens[:, 1:, None]


class TopK:
    """The `most` likeliest nodes of a tree in which the `width` likeliest nodes of each depth were extended
    (EAGLE-2, li2024eagle2; DDTree), by the drafter's joint probability of the path at temperature 1.

    The tree is a function of the context, so only rules for deterministic drafts (one-hot, nss) are lossless.
    """

    kind = DETERMINISTIC

    def __init__(self, name: str, width: int, depth: int, most: int) -> None:
        self.name, self.width, self.depth = name, width, depth
        self.size = 1 + min(most, width + (depth - 1) * width * width)

    def to(self, device: torch.device) -> "TopK":
        """The same structure, which has no tables."""
        return self

    def grow(
        self, session: Session, sampling: Sampling, uniforms: Tensor, history: History | None = None
    ) -> Draft:
        """Extends the drafter's likeliest nodes depth by depth, then keeps the likeliest of all."""
        logits = session.root()[:, None]
        words = torch.zeros(len(logits), 1, 0, dtype=torch.long, device=logits.device)
        if history is not None:
            logits = history.processed(sampling, logits, words)
        batch, width, device = len(logits), min(self.width, logits.shape[-1]), logits.device
        own = torch.arange(width, device=device)
        score = torch.zeros(batch, 1, device=device)
        extended = torch.full((batch, 1), -1, device=device)  # candidates, by index; -1 is the root
        best = own.expand(batch, width)
        sees = torch.zeros(batch, 1, 1 + (self.depth - 1) * width + 2, dtype=torch.bool, device=device)
        sees[:, :, :2] = True  # the text and the root
        scores, ids, above, held = [], [], [], []
        for depth in range(1, self.depth + 1):
            count = sum(each.shape[1] for each in ids)
            likely = functional.log_softmax(logits.double(), dim=-1) + score.double()[..., None] - STEP
            score, tokens = (each.flatten(1) for each in likely.topk(width, dim=-1))
            scores.append(score)
            ids.append(tokens)
            above.append(extended.repeat_interleave(width, 1))
            if depth == self.depth:
                break
            if depth > 1:
                score, best = score.topk(width, dim=1)
                tokens = tokens.gather(1, best)
            parent, extended, first = best // width, count + best, 1 + (depth - 1) * width
            held.append(extended)
            sees = sees.gather(1, parent[..., None].expand(-1, -1, sees.shape[-1]))
            sees[:, own, 1 + first + own] = True
            logits = session.extend(tokens, Level(depth, first, sees, parent))
            if history is not None:
                words = words.gather(1, parent[..., None].expand(-1, -1, words.shape[-1]))
                words = torch.cat((words, tokens[..., None]), -1)
                logits = history.processed(sampling, logits, words)
        return self._likeliest(torch.cat(scores, 1), torch.cat(ids, 1), torch.cat(above, 1), held)

    def _likeliest(self, scores: Tensor, ids: Tensor, above: Tensor, held: list[Tensor]) -> Draft:
        """The tree of the likeliest candidates [B, C]; above: their parents (-1: the root); held: the
        candidates in the drafter's KV cache.
        """
        chosen = scores.topk(min(self.size - 1, scores.shape[1]), dim=1).indices.sort(1).values
        parents = _numbered(chosen, scores).gather(1, above.gather(1, chosen) + 1)
        places = _numbered(torch.cat([chosen[:, :0], *held], 1), scores).gather(1, chosen + 1)
        tree = Tree(functional.pad(parents, (1, 0)), depth=self.depth)
        return Draft(tree, ids.gather(1, chosen), places=functional.pad(places, (1, 0)))


def _numbered(chosen: Tensor, candidates: Tensor) -> Tensor:
    """[B, 1 + C]: k + 1 at index 1 + chosen[b, k], 0 elsewhere."""
    numbers = torch.arange(1, chosen.shape[1] + 1, device=chosen.device).expand_as(chosen)
    table = chosen.new_zeros(len(chosen), candidates.shape[1] + 1)
    return table.scatter(1, chosen + 1, numbers)
