"""Targets that verify one draft of any kind, a tree for instance."""

from collections.abc import Callable, Sequence
from copy import copy
from itertools import product
from typing import Any

from draftproof.simulators.audit.battery import CORE
from draftproof.simulators.audit.coins.sources import Source
from draftproof.simulators.audit.sandbox import Sandbox
from draftproof.simulators.audit.targets.base import DraftVerifier, emitted
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import SCENARIOS, scenario
from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.tree import Tree as Siblings
from draftproof.theory.errors import BadInput
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows

DRAFTS_FOR_ALL_SCENARIOS = 100
"""Most drafts of an instance on which all scenarios are tried."""


class Tree(DraftVerifier):
    """verify(target, draft, rng) on drafts of any kind: `target` maps a prefix to its float row, `draft` is a
    `draftproof.theory.draft.Draft` with float rows, and the result is the emitted tokens. `drafts` are the
    schemes that it is audited on.

    >>> Tree(lambda target, draft, rng: [0], name="first").name
    'first'
    """

    adapter, style = "tree function", "tree"

    def __init__(
        self,
        verify: Callable[..., Any],
        *,
        name: str = "",
        dtype: str | None = None,
        drafts: Sequence[Scheme] = (),
    ):
        self.drafts = drafts
        if dtype not in (None, "float64", "float32"):
            raise BadInput(f"a {self.adapter} computes in float64, or in float32 where it draws from torch")
        self.typed, self.dtype = dtype is not None, dtype or "float64"
        self.verify = self._identify(verify, name)

    def instances(self, vocab: int, depth: int, rounds: int) -> Sequence[Any]:
        """Scenarios and random instances on the target's `drafts`; without any, the chains of the battery,
        and trees of two children that are drawn independently.
        """
        if self.drafts:
            chosen: list[Any] = []
            for draft, v in product(self.drafts, range(2, vocab + 1)):
                names = SCENARIOS if draft.outcomes(v) <= DRAFTS_FOR_ALL_SCENARIOS else CORE
                chosen += [*(scenario(name, draft, v) for name in names), *Randoms(draft, v, 4)]
            return chosen
        found = list(super().instances(vocab, depth, rounds))
        if rounds > 1:
            return found
        shapes = (((), ()), (((),), ())) if depth > 1 else (((), ()),)
        trees = [Siblings(shape, replacement=True) for shape in shapes]
        return [*found, *(scenario(name, tree, vocab) for tree in trees for name in CORE)]

    def prepare(self, target: Rows, draft: Draft) -> Any:
        new: dict[int, Node] = {}
        for node in reversed([*draft.root]):  # children before parents
            row: Any = node.proposal and tuple(map(float, node.proposal))
            new[id(node)] = Node(node.prefix, row, tuple(new[id(x)] for x in node.children), node.shape)
        floats = copy(draft)
        floats.root = new[id(draft.root)]
        floats._paths = tuple(tuple(new[id(node)] for node in path) for path in draft.paths)
        return _FloatRows(target), floats, target.vocab, max(map(len, draft.paths))

    def call(self, sandbox: Sandbox, source: Source, prepared: Any, position: int = 0) -> Prefix:
        rows, draft, vocab, most = prepared
        rng = sandbox.start(source)
        return self.followed(
            lambda: sandbox.call(lambda: emitted(self.verify(rows, draft, rng), vocab, most)), source
        )


class _FloatRows(dict[Prefix, tuple[float, ...]]):
    def __init__(self, target: Rows):
        super().__init__()
        self.target, self.vocab = target, target.vocab

    def __missing__(self, prefix: Prefix) -> tuple[float, ...]:
        self[prefix] = tuple(map(float, self.target[prefix]))
        return self[prefix]
