"""Mutants made from the syntax tree: single edits of theory/verifiers, chosen with a fixed seed.

`python -m tests.mutants.generated` prints what exact enumeration says of them, a line a verifier; with
`--write` it judges them anew and renews generated.json.
"""

import inspect
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from types import ModuleType

from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import (
    block,
    greedy_block,
    hsd,
    hsd_multidraft,
    hsd_naive,
    hu_greedy,
    k_seq,
    khisti,
    layered,
    lifted_k_seq,
    lifted_priority,
    multipath_block,
    naive_tree,
    nss,
    one_hot,
    rrs,
    spechub,
    specinfer,
    token,
    traversal,
)
from tests.mutants.checked import examined
from tests.mutants.edits import executed
from tests.mutants.guard import GUARDS, guarded
from tests.mutants.syntax import Edit, edits

DATA = Path(__file__).with_suffix(".json")
SEED = 16
EACH = 3
"""Mutants of each kind of edit, for each module."""

MODULES: tuple[ModuleType, ...] = (
    *(token, nss, one_hot, specinfer, rrs, naive_tree, hu_greedy, spechub, khisti, k_seq),
    *(block, greedy_block, hsd, hsd_naive, hsd_multidraft, multipath_block),
    *(traversal, lifted_priority, lifted_k_seq, layered),
)
WHOLE = (token, block, traversal)
"""Modules of which every edit of an operation is taken."""
OPERATIONS = {
    "arithmetic",
    "comparison",
    "arguments swapped",
    "call unwrapped",
    "not dropped",
    "replacement negated",
}

SAYS = {
    "refuted": "are refuted",
    "the same runs": "toss the original's coins and draw from its rows",
    "the same law given each draft": "stop and emit as the original does given each draft",
    "lossless": "are other lossless rules",
}
"""Verdict -> what the mutants do that have it."""


@dataclass(frozen=True)
class Generated:
    """One edit of one module."""

    module: ModuleType
    edit: Edit

    @property
    def original(self) -> Verifier:
        return self.module.VERIFIER

    @property
    def name(self) -> str:
        return f"{self.original.name} {self.edit}"

    @property
    def is_operation(self) -> bool:
        return self.module in WHOLE and self.edit.kind in OPERATIONS

    @property
    def line(self) -> str:
        """The line of the text that the edit stands in."""
        return self.text.splitlines()[int(self.edit.at.split(":")[0]) - 1].strip()

    @property
    def text(self) -> str:
        """The edited source of the module."""
        return self.edit.text

    def verifier(self) -> Verifier:
        """The edited verifier, as Python reads it."""
        return executed(self.module, self.text)

    def guarded(self) -> Verifier:
        """The edited verifier, which raises Refused where it would not stop."""
        return executed(self.module, self.text, guarded, **GUARDS)


def _chosen(module: ModuleType) -> Iterator[Generated]:
    every = edits(inspect.getsource(module))
    random = Random(f"{SEED} {module.VERIFIER.name}")
    kept = []
    for kind in sorted({edit.kind for edit in every}):
        alike = [edit for edit in every if edit.kind == kind]
        whole = module in WHOLE and kind in OPERATIONS
        kept += alike if whole else random.sample(alike, min(EACH, len(alike)))
    return (Generated(module, edit) for edit in every if edit in kept)


@cache
def mutants() -> tuple[Generated, ...]:
    """The mutants, in the order of the modules and of their text."""
    return tuple(mutant for module in MODULES for mutant in _chosen(module))


def judged(mutant: Generated) -> dict[str, str]:
    """What enumeration says: a line of generated.json.

    The verdict is "refuted", with the flaw and the instance, or how alike the mutant decides (`examined`).
    """
    flaw, where = examined(mutant.original, mutant.guarded())
    line = {"name": mutant.name, "kind": mutant.edit.kind}
    return {**line, "verdict": "refuted", "flaw": flaw, "on": where} if flaw else {**line, "verdict": where}


@cache
def verdicts() -> dict[str, dict[str, str]]:
    """Name -> the line of generated.json."""
    return {line["name"]: line for line in json.loads(DATA.read_text(encoding="utf-8"))}


def table() -> str:
    """A line a verifier: its edits, those chosen, and what enumeration says of these."""
    lines = [f"{'verifier':16} {'edits':>6} {'chosen':>7}  verdicts"]
    for module in MODULES:
        every = len(edits(inspect.getsource(module)))
        counts = Counter(verdicts()[each.name]["verdict"] for each in mutants() if each.module is module)
        said = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
        lines.append(f"{module.VERIFIER.name:16} {every:6} {counts.total():7}  {said}")
    return "\n".join([*lines, summary()])


def summary() -> str:
    """The counts over all verifiers, in a sentence."""
    counts = Counter(line["verdict"] for line in verdicts().values())
    said = ", ".join(f"{counts[verdict]} {words}" for verdict, words in SAYS.items() if counts[verdict])
    return f"{counts.total()} mutants of {len(MODULES)} verifiers: {said}."


def main(write: bool) -> None:
    if write:
        lines = map(json.dumps, map(judged, mutants()))
        DATA.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
        verdicts.cache_clear()
    print(table())


if __name__ == "__main__":
    main("--write" in sys.argv)
