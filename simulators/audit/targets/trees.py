"""Foreign verifiers of drafts of any kind."""

import inspect
from collections.abc import Callable
from typing import Any

from draftproof.simulators.audit.door import Watch
from draftproof.simulators.audit.randomness.generator import Generator
from draftproof.simulators.audit.randomness.sources import Source
from draftproof.simulators.audit.targets.answers import emitted
from draftproof.simulators.audit.targets.target import Draw
from draftproof.theory.draft import Draft, Node
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows


class Tree:
    """verify(target, draft, rng) on drafts of any kind: `target` gives the float row after a prefix,
    `draft` is a `draftproof.theory.draft.Draft` with float rows; returned are the emitted tokens.
    """

    adapter, dtype = "tree function", "float64"
    slow = logits = whole = False
    draw: Draw | None = None

    def __init__(self, verify: Callable[..., Any], *, name: str = ""):
        self.verify = verify
        self.name = name or getattr(verify, "__qualname__", type(verify).__name__)
        self.namespace: dict[str, Any] = getattr(inspect.unwrap(verify), "__globals__", {})

    def fresh(self) -> None:
        pass

    def prepare(self, target: Rows, draft: Draft) -> Any:
        root, made = _in_floats(draft.root)
        paths = tuple(tuple(made[id(node)] for node in path) for path in draft.paths)
        floats = Draft(root, replacement=draft.replacement, paths=paths if draft.merged else None)
        return _Floats(target), floats, target.vocab, max(map(len, paths))

    def call(self, watch: Watch, source: Source, prepared: Any, position: int = 0) -> Prefix:
        rows, draft, vocab, most = prepared
        watch.current.start(source)
        return emitted(watch.call(lambda: self.verify(rows, draft, Generator(source))), vocab, most)


class _Floats:
    def __init__(self, target: Rows):
        self.target, self.vocab = target, target.vocab
        self._rows: dict[Prefix, tuple[float, ...]] = {}

    def __getitem__(self, prefix: Prefix) -> tuple[float, ...]:
        if prefix not in self._rows:
            self._rows[prefix] = tuple(map(float, self.target[prefix]))
        return self._rows[prefix]


def _in_floats(root: Node) -> tuple[Node, dict[int, Node]]:
    made: dict[int, Node] = {}

    def copied(node: Node) -> Node:
        row = None if node.proposal is None else tuple(map(float, node.proposal))
        made[id(node)] = new = Node(node.prefix, row, tuple(map(copied, node.children)), node.shape)
        return new

    return copied(root), made
