"""Draft structures by name, and how chains, paths and fixed trees are drawn."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional

from draftproof.gpu.drafters.likeliest import TopK
from draftproof.gpu.network.session import Draft, Level, Session, Structure
from draftproof.gpu.sampling import names as spelling
from draftproof.gpu.sampling.history import History, along
from draftproof.gpu.sampling.rows import PLAIN, Sampling, softened
from draftproof.gpu.sampling.strata import stratified
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify.residual import draws
from draftproof.gpu.verify.verifier import CHAIN, WITH, WITHOUT, label


def structure(name: str) -> Structure:
    """The structure of that name (see `gpu.spelling.draft`); BadInput if there is none."""
    kind, given = spelling.draft(name)
    if kind == "top-k":
        return TopK(name, *given)
    if kind == "ddtree":
        tokens, depth = given
        return TopK(name, tokens, depth, tokens)
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
    the root.
    """

    level: Level
    nodes: Tensor
    own: Tensor
    turns: tuple[tuple[Tensor | None, Tensor], ...]


class _Known(Session):
    """Logits [B, I, V] of a tree's inner nodes, level by level."""

    def __init__(self, logits: Tensor) -> None:
        self.logits = logits

    def root(self) -> Tensor:
        return self.logits[:, 0]

    def extend(self, tokens: Tensor, level: Level) -> Tensor:
        return self.logits[:, level.first : level.first + tokens.shape[1]]


class Sampled(Structure):
    """A fixed tree, numbered level by level, that is drawn with or without replacement; or, if `merged`,
    i.i.d. paths that are merged by prefix after drawing, which makes a tree without replacement.
    """

    def __init__(self, name: str, tree: Tree, merged: bool = False) -> None:
        self.name, self.tree, self.merged = name, tree, merged
        self.size, self.depth = tree.size, tree.depth
        self.kind = WITHOUT if merged else label(tree)

    def to(self, device: torch.device) -> "Sampled":
        """The same structure with its tables on a device."""
        there = self.tree.parents.device == device
        return self if there else Sampled(self.name, self.tree.to(device), self.merged)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The tree level by level."""
        device = self.tree.parents.device
        parents = self.tree.parents[0].tolist()
        order = torch.cat(self.tree.generations)  # the k-th is at place k of a drafter's KV cache
        columns = functional.pad(1 + order, (1, 1))
        columns[-1] = self.size + 1
        sees = self.tree.sees[:, order][..., columns]
        stages, above, first = [], [0], 0
        for depth, nodes in enumerate(self.tree.generations):
            inner = nodes.tolist()
            up = torch.tensor([[above.index(parents[node]) for node in inner]], device=device)
            seen = None if self.tree.is_chain else sees[:, first : first + len(inner)]
            level = Level(depth, first, seen, up)
            children = self.tree.children[0, nodes] - 1
            turns, before = [], torch.ones_like(nodes, dtype=torch.bool)
            for at in children[:, (children >= 0).any(0)].unbind(1):
                drawing = at >= 0
                among = drawing[before].nonzero()[:, 0]
                turns.append((None if drawing.equal(before) else among, at[drawing]))
                before = drawing
            stages.append(Stage(level, nodes, nodes - 1, tuple(turns)))
            above, first = inner, first + len(inner)
        return tuple(stages)

    def grow(
        self, session: Session, sampling: Sampling, uniforms: Tensor, history: History | None = None
    ) -> Draft:
        """Draws the tree level by level with a session's rows; uniforms [B, size - 1], one per node."""
        logits, uniforms = session.root()[:, None], uniforms.double()[..., None]
        missing = logits.shape[-1]  # in the place of a token that is not drawn, until all are
        tokens = torch.full_like(uniforms, missing, dtype=torch.long)
        made, strata = [], []
        for stage in self.stages:
            if stage.level.depth:
                own = tokens[:, stage.own, 0]
                logits = session.extend(own.clamp(max=missing - 1), stage.level)
            if history is not None:
                words = along(self.tree, torch.where(tokens < missing, tokens, -1)[..., 0])
                words = words[:, stage.nodes, : stage.level.depth]
                logits = history.processed(sampling, logits, words, (words >= 0).all(-1))
            new, places, tokens = self._draw(stage, sampling, logits, tokens, uniforms)
            made.append(new)
            strata += [] if places is None else [places]
        tree, tokens = self.tree, torch.where(tokens < missing, tokens, -1)[..., 0]
        rows, among = (torch.cat(each, 1) if each else None for each in (made, strata))
        places = None if tree.is_chain else tree.rows
        if self.merged:
            tree, tokens = Tree.merged(tokens.view(len(tokens), self.depth, -1).mT)
        if among is not None:
            return Draft(tree, tokens, rows, places=places, strata=among)
        return Draft(tree, tokens, logits=rows, heat=sampling.heat, places=places)

    def drawn(self, logits: Tensor, uniforms: Tensor) -> Draft:
        """Draws the tree from the logits [B, I, V] of its nodes with children; uniforms [B, N - 1]."""
        return self.grow(_Known(logits), PLAIN, uniforms)

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
            drawn = tokens[:, stage.own] < V
        if self.tree.stratified:
            return self._draw_strata(stage, rows, drawn, tokens, uniforms)
        for drawing, at in stage.turns:
            if drawing is not None:
                rows = rows[:, drawing]
                drawn = drawn if drawn is None else drawn[:, drawing]
            new = draws(rows, uniforms[:, at])
            tokens[:, at] = new if drawn is None else torch.where(drawn, new, V)
            if at is not stage.turns[-1][1] and not self.tree.replacement:
                rows = rows.scatter(2, new.clamp(max=V - 1), 0.0)
        return made, None, tokens

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
