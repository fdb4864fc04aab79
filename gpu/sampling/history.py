"""The texts of a batch as processors remember them, and rows that follow a drafted prefix."""

from collections.abc import Iterable
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import pad

from draftproof.gpu.sampling.device import refused
from draftproof.gpu.sampling.rows import Processor, Sampling
from draftproof.gpu.sampling.tree import Tree
from draftproof.theory.errors import BadInput

Emptied: TypeAlias = tuple[str, Tensor]
"""A processor's name, and the rows [B, n] whose tokens it masks all."""


class History:
    """The texts of a batch, which begin with prompts [B, T] (-1 after their end), and what was generated of
    them. `longest`: the largest number of tokens of a text with its draft.
    """

    def __init__(self, processors: Iterable[Processor], prompts: Tensor, longest: int) -> None:
        none = prompts.new_full((len(prompts), 1, longest), -1)
        begun = {False: followed(none, prompts[:, None])[:, 0], True: none[:, 0]}
        self.memory = {each: begun[each] for each in {one.ignores_prompt for one in processors}}

    def add(self, words: Tensor) -> None:
        """Adds the words [B, d] that were emitted, -1 after their end."""
        for each, memory in self.memory.items():
            self.memory[each] = followed(memory[:, None], words[:, None])[:, 0]

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows of the batch."""
        self.memory = {each: memory[rows] for each, memory in self.memory.items()}

    def processed(
        self, sampling: Sampling, logits: Tensor, words: Tensor, possible: Tensor | None = None
    ) -> Tensor:
        """The logits [B, n, V] after each of the words [B, n, d] that continue a text, processed.

        A row whose tokens are all masked is left unprocessed; BadInput if it is one of the `possible` [B, n].
        """
        logits, emptied = self._made(sampling, logits, words)
        if possible is not None:
            _must_go_on(emptied, possible)
        return logits

    def in_tree(self, sampling: Sampling, logits: Tensor, tree: Tree, tokens: Tensor) -> Tensor:
        """The target's logits [B, N, V] at the nodes of a drafted tree, processed. A row whose tokens are all
        masked is left unprocessed; BadInput if its prefix can be emitted.
        """
        logits, emptied = self._made(sampling, logits, along(tree, tokens))
        if emptied:
            parents = tree.parents.expand(len(tokens), -1)[:, 1:]
            batch = torch.arange(len(tokens), device=tokens.device)[:, None]
            forbidden = pad(logits[batch, parents, tokens.clamp(min=0)] == -torch.inf, (1, 0))
            _must_go_on(emptied, tree.drawn(tokens) & ~(tree.above & forbidden[:, None]).any(-1))
        return logits

    def _made(self, sampling: Sampling, logits: Tensor, words: Tensor) -> tuple[Tensor, list[Emptied]]:
        given = logits = logits if logits.dtype == torch.float64 else logits.float()
        texts = {each: followed(memory[:, None], words) for each, memory in self.memory.items()}
        emptied = []
        for each in sampling.processors:
            logits = _called(each, texts[each.ignores_prompt], logits)
            empty = logits.amax(-1) == -torch.inf
            emptied.append((each.name, empty))
            logits = torch.where(empty[..., None], given, logits)
        return logits, emptied


def followed(texts: Tensor, words: Tensor) -> Tensor:
    """[B, n, S]: the last S tokens, -1 before the first, of texts [B, 1, S] after each of n words [B, n, d],
    which have -1 after their end.

    >>> followed(torch.tensor([[[-1, 5]]]), torch.tensor([[[7, -1], [8, 9]]])).tolist()
    [[[5, 7], [8, 9]]]
    """
    size = texts.shape[-1]
    whole = torch.cat((texts.expand(*words.shape[:-1], size), words), -1)
    last = (words >= 0).sum(-1, keepdim=True) + torch.arange(size, device=words.device)
    return whole.gather(-1, last)


def _called(processor: Processor, texts: Tensor, logits: Tensor) -> Tensor:
    made, lengths = logits.clone(), (texts >= 0).sum(-1)
    for length in lengths.unique().tolist():
        rows = lengths == length
        with refused(f"{processor.name} fails"):
            made[rows] = processor.function(texts[rows][:, texts.shape[-1] - length :], logits[rows])
    return made


def _must_go_on(emptied: list[Emptied], possible: Tensor) -> None:
    for name, empty in emptied:
        if bool((empty & possible).any()):
            raise BadInput(f"{name} leaves no token to go on with")


def along(tree: Tree, tokens: Tensor) -> Tensor:
    """[B, N, depth]: the drafted tokens [B, N - 1] on the path to each node, -1 after its end.

    >>> along(Tree([-1, 0, 0, 1]), torch.tensor([[5, 6, 7]])).tolist()
    [[[-1, -1], [5, -1], [6, -1], [5, 7]]]
    """
    path = tree.root_paths[..., 1:].expand(len(tokens), -1, -1)
    words = tokens.gather(1, (path.flatten(1) - 1).clamp(min=0)).view(path.shape)
    inside = torch.arange(path.shape[-1], device=tokens.device) < tree.levels[..., None]
    return torch.where(inside, words, -1)
