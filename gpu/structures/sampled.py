"""Drafts of a fixed shape, drawn from the drafter's rows."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from gpu.draft import Tree
from gpu.drafters.draft import Draft, Grower, Level
from gpu.engine.layout import Layout
from gpu.engine.sampling import Sampling
from gpu.verify.residual import draw
from gpu.verify.verifier import CHAIN, WITH, WITHOUT


@dataclass(frozen=True)
class Turn:
    """One drawing: which of a level's nodes draw (indices among those before), and which children."""

    among: Tensor | None
    children: Tensor


@dataclass(frozen=True)
class Stage:
    """A level's inner nodes, and the turns in which their children are drawn."""

    level: Level
    nodes: Tensor
    turns: tuple[Turn, ...]


class Sampled:
    """A fixed tree; siblings with or without replacement, as the tree says."""

    def __init__(self, name: str, tree: Tree) -> None:
        self.name, self.tree = name, tree
        self.size, self.depth = tree.size, tree.depth
        self.kind = CHAIN if tree.is_chain else WITH if tree.replacement else WITHOUT

    def to(self, device: torch.device) -> "Sampled":
        """The same structure with its tables on a device."""
        return self if self.tree.parents.device == device else Sampled(self.name, self.tree.to(device))

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The tree level by level. Inner nodes take places level by level, leaves none."""
        device = self.tree.parents.device
        parents, levels = self.tree.parents[0].tolist(), self.tree.levels[0].tolist()
        children = [[i for i in range(1, self.size) if parents[i] == node] for node in range(self.size)]
        rows = [[node for node in self.tree.inner or () if levels[node] == d] for d in range(self.depth)]
        order = [node for row in rows for node in row]
        sees = Layout.of(self.tree).sees[0].cpu()
        columns = torch.tensor([0, *(1 + node for node in order), self.size + 1])
        sees = sees[torch.tensor(order)][:, columns].to(device)
        stages, first = [], 0
        for depth, row in enumerate(rows):
            above = [rows[depth - 1].index(parents[node]) if depth else 0 for node in row]
            level = Level(
                depth, first, sees[None, first : first + len(row)], torch.tensor([above], device=device)
            )
            stages.append(Stage(level, torch.tensor(row, device=device), _turns(row, children, device)))
            first += len(row)
        return tuple(stages)

    @cached_property
    def places(self) -> Tensor | None:
        """[1, N]: where a drafter's cache holds each node; None for a chain, where that is its own number."""
        if self.tree.is_chain:
            return None
        order = torch.cat([stage.nodes for stage in self.stages])
        places = torch.zeros(1, self.size, dtype=torch.long, device=order.device)
        places[0, order] = torch.arange(len(order), device=order.device)
        return places

    @cached_property
    def reordered(self) -> Tensor | None:
        """Where the k-th inner node's row lies among the rows stage by stage; None where it is the k-th."""
        order = torch.cat([stage.nodes for stage in self.stages])
        sort = order.argsort()
        return None if bool((order == order[sort]).all()) else sort

    def grow(self, session: Grower, sampling: Sampling, uniforms: Tensor) -> Draft:
        """Draws the tree, level by level."""
        tokens = torch.full_like(uniforms, -1, dtype=torch.long)
        rows = []
        for stage in self.stages:
            if stage.level.depth:
                logits = session.extend(tokens[:, stage.nodes - 1].clamp(min=0), stage.level)
            else:
                logits = session.root()[:, None]
            rows.append(sampling.rows(logits))
            self._draw(stage, rows[-1], tokens, uniforms)
        proposal = torch.cat(rows, 1)
        if self.reordered is not None:
            proposal = proposal[:, self.reordered]
        return Draft(self.tree, tokens, proposal, self.places)

    def _draw(self, stage: Stage, rows: Tensor, tokens: Tensor, uniforms: Tensor) -> None:
        """Draws the children of a stage's nodes in turns, what was drawn taken out if it must be."""
        drawn = tokens[:, stage.nodes - 1] >= 0 if stage.level.depth else None
        for turn in stage.turns:
            if turn.among is not None:
                rows = rows[:, turn.among]
                drawn = drawn if drawn is None else drawn[:, turn.among]
            new = draws(rows, uniforms[:, turn.children - 1])
            if drawn is not None:
                new = torch.where(drawn, new, -1)
            tokens[:, turn.children - 1] = new
            if turn is not stage.turns[-1] and not self.tree.replacement:
                rows = rows.scatter(2, new.clamp(min=0)[..., None], 0.0)


class Paths(Sampled):
    """K i.i.d. paths, merged by prefix into a tree without replacement."""

    def __init__(self, name: str, count: int, gamma: int) -> None:
        super().__init__(name, Tree.paths(count, gamma))
        self.count, self.kind = count, WITHOUT

    def to(self, device: torch.device) -> "Paths":
        """The same structure with its tables on a device."""
        if self.tree.parents.device == device:
            return self
        moved = Paths(self.name, self.count, self.depth)
        moved.tree = self.tree.to(device)
        return moved

    def grow(self, session: Grower, sampling: Sampling, uniforms: Tensor) -> Draft:
        """Draws the paths and merges them; a later copy of a node is not drawn."""
        draft = super().grow(session, sampling, uniforms)
        tree, tokens = Tree.merged(draft.tokens.view(len(draft.tokens), self.count, self.depth))
        return Draft(tree, tokens, draft.proposal, draft.places)


def draws(rows: Tensor, uniforms: Tensor) -> Tensor:
    """[B, m] tokens drawn from rows [B, m, V], -1 where a row is empty."""
    flat = rows.flatten(0, 1)
    tokens = draw(flat, uniforms.flatten())
    return torch.where(flat.amax(-1) > 0, tokens, -1).view(uniforms.shape)


def _turns(row: list[int], children: list[list[int]], device: torch.device) -> tuple[Turn, ...]:
    turns, had = [], row
    for rank in range(max(len(children[node]) for node in row)):
        have = [node for node in had if len(children[node]) > rank]
        among = None if have == had else torch.tensor([had.index(node) for node in have], device=device)
        turns.append(Turn(among, torch.tensor([children[node][rank] for node in have], device=device)))
        had = have
    return tuple(turns)
