"""Drafts of a fixed shape, drawn from the drafter's rows."""

from dataclasses import dataclass
from functools import cached_property, partial

import torch
from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.drafters.drafter import Draft, Grower, Level
from draftproof.gpu.engine.sampling import Sampling
from draftproof.gpu.layout import Layout
from draftproof.gpu.verify.residual import draw
from draftproof.gpu.verify.verifier import WITHOUT, label


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
        self.kind = label(tree)
        self.moved: dict[torch.device, Sampled] = {}

    def to(self, device: torch.device) -> "Sampled":
        """The same structure with its tables on a device, always the same one."""
        if self.tree.parents.device == device:
            return self
        if device not in self.moved:
            self.moved[device] = self._on(self.tree.to(device))
        return self.moved[device]

    def _on(self, tree: Tree) -> "Sampled":
        return Sampled(self.name, tree)

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
        for number, stage in enumerate(self.stages):
            if stage.level.depth:
                logits = session.extend(tokens[:, stage.nodes - 1].clamp(min=0), stage.level)
            else:
                logits = session.root()[:, None]
            made, tokens = session.recorder(
                ("draw", self.tree.kind, number, sampling),
                partial(self._draw, stage, sampling),
                logits=logits,
                tokens=tokens,
                uniforms=uniforms,
            )
            rows.append(made)
        proposal = torch.cat(rows, 1)
        if self.reordered is not None:
            proposal = proposal[:, self.reordered]
        return Draft(self.tree, tokens.clone(), proposal, self.places)

    def _draw(
        self, stage: Stage, sampling: Sampling, logits: Tensor, tokens: Tensor, uniforms: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The rows of a stage's nodes, and the tokens with their children, drawn in turns, what was drawn
        taken out if it must be.
        """
        made = rows = sampling.rows(logits)
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
        return made, tokens


class Paths(Sampled):
    """K i.i.d. paths, merged by prefix into a tree without replacement."""

    def __init__(self, name: str, count: int, gamma: int) -> None:
        super().__init__(name, Tree.paths(count, gamma))
        self.count, self.kind = count, WITHOUT

    def _on(self, tree: Tree) -> "Paths":
        moved = Paths(self.name, self.count, self.depth)
        moved.tree = tree
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
