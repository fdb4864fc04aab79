"""Every edit of an operation of the translated verifiers, and what Rocq says of the edited code.

An edit is "not translated", "not proved" (another program than the one that the theorems are proved of), or
"proved". `python -m tests.proofs_check.rocq.edited` prints a table; `--write` asks Rocq anew, in 15 minutes.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from draftproof.theory.verifier import Verifier
from tests.mutants.edits import executed
from tests.mutants.syntax import edits
from tests.proofs_check.rocq.code import FILES, sources
from tests.proofs_check.rocq.compiled import Library, text_of
from tests.proofs_check.rocq.python_to_rocq import Refused, translated

DATA = Path(__file__).with_suffix(".json")
NEEDED = ("Programs", "Rules", "Python", "Numbers", "CodeFacts")
"""What the proofs about code require, in order."""
IMPORTED = {"hsd_naive": ("hsd",)}
"""File -> those whose functions it calls."""
PROOFS = ("CodeChains", "CodeTrees", "CodeNodes", "CodePriority")
BY_HAND = (
    ("token", "pairwise(draft.path)", "pairwise(draft.path[:-1])"),
    ("token", "pairwise(draft.path)", "zip(draft.path, draft.path)"),
    ("token", "            return node,", "            return child,"),
    ("token", "    leaf = draft.path[-1]", "    leaf = draft.root"),
    ("block", "pairwise(draft.path)", "zip(draft.path, draft.path)"),
    ("block", "    return rejected(", "    return leaf, target[leaf.prefix]\n    return rejected("),
    ("block", "reversed(inner), reversed(w)", "inner, w"),
    ("block", "strict=True", "strict=False"),
    ("block", "draft.path\n    w =", "draft.path\n    inner = draft.path\n    w ="),
    ("block", "        w.append(share(w[-1] * p[x], q[x]))", "        w = [share(w[-1] * p[x], q[x])]"),
    ("block", "*inner, leaf = draft.path", "inner, leaf = draft.path, draft.root"),
    ("greedy_block", "reversed(P), reversed(Q)", "reversed(Q), reversed(P)"),
    ("greedy_block", "        Q.append(Q[-1] * q[x])\n", "        Q.append(Q[-1] * q[x])\n        break\n"),
    ("hsd", "        peak = maximum(peak, R)\n        r.append", "        r.append"),
    ("hsd", "maximum(peak, R)", "minimum(peak, R)"),
    ("hsd_naive", "inner, target, R)", "inner[:-1], target, R)"),
    ("hsd_naive", "*inner, leaf = draft.path", "inner, leaf = draft.path, draft.root"),
    ("hsd_naive", "minimum(R.pop(), one(target[leaf.prefix]))", "R.pop()"),
    ("hsd_naive", "verifiers.hsd import", "verifiers.hsd_released import"),
    ("specinfer", "        else:\n            return node, p\n", ""),
    ("specinfer", "                break\n", "                return node, p\n"),
    ("rrs", "        else:\n            return node, p\n", ""),
    ("rrs", "p, q = normalise(excess(p, q)), without", "p = normalise(excess(p, q)); q = without"),
    ("traversal", "return stop\n        residual", "return f, p\n        residual"),
    ("traversal", "p, a = normalise(residual), share", "p = normalise(residual)\n        a = share"),
    ("traversal", "share(S, S + (1 - a))", "share(S, S + 1 - a)"),
    ("traversal", "            return stop\n        res", "            break\n        res"),
    ("one_hot", "        else:\n            return node, p\n", ""),
    ("nss", "        y = oracle.choose(p)", "        y = oracle.choose(node.proposal)"),
    ("nss", "            return node, point(y, p)", "            return node, p"),
    ("naive_tree", "node.children[0].token", "node.children[-1].token"),
    ("naive_tree", "child is None", "child is not None"),
    ("hu_greedy", "x, *T =", "*T, x ="),
    ("hu_greedy", "without(node.proposal, *T)", "without(node.proposal, x)"),
    ("hu_greedy", "            return node, point(y, p)", "            return node, point(x, p)"),
    ("priority", "normalise(plan.left)", "plan.left"),
    ("priority", "plan.left", "target[node.prefix]"),
    ("priority", "if oracle.accept(rate)", "if not oracle.accept(rate)"),
    ("priority", "planned(draft, node, target[node.prefix])", "planned(draft, node, node.proposal)"),
    ("priority", "plan.judged(node)", "plan.judged(draft.root)"),
    ("priority", "                break\n", "                return node, target[node.prefix]\n"),
    ("priority", "                node = child\n                break\n", "                break\n"),
)  # fmt: skip
"""(file, a piece, what an edit makes of it) that the syntax tree does not offer."""


@dataclass(frozen=True)
class Edited:
    """One edit of one file."""

    file: str
    name: str
    kind: str
    text: str

    @property
    def original(self) -> Verifier:
        return import_module(f"draftproof.theory.verifiers.{self.file}").VERIFIER

    def verifier(self) -> Verifier:
        """The edited verifier, as Python reads it."""
        return executed(import_module(f"draftproof.theory.verifiers.{self.file}"), self.text)


@cache
def edited() -> tuple[Edited, ...]:
    """The edits, in the order of the files and of their text."""

    def every() -> Iterator[Edited]:
        for file, source in sources().items():
            for each in edits(source):
                yield Edited(file, f"{file} {each}", each.kind, each.text)
            for changed, old, new in BY_HAND:
                if changed == file:
                    assert source.count(old) >= 1, (file, old)
                    name = f"{file} {old.strip()} -> {new.strip() or 'dropped'}"
                    yield Edited(file, " ".join(name.split()), "by hand", source.replace(old, new))

    return tuple(every())


@cache
def said() -> dict[str, str]:
    """Name -> what Rocq says, as it was written."""
    return {line["name"]: line["said"] for line in json.loads(DATA.read_text(encoding="utf-8"))}


@cache
def ties() -> dict[str, str]:
    """The proofs that a file's translation is a program of Programs.v, each without those of other files."""
    texts = [text_of(name) for name in PROOFS]
    proof = re.compile(r"Theorem (\w+)_code : .*?\nQed\.\n", re.DOTALL)
    found = {}
    for file in FILES:
        kept = {"greedy_block": ["greedy"], "traversal": ["traverse", "traversal"]}.get(file, [file])
        [text] = [each for each in texts if kept[-1] in proof.findall(each)]
        for each in [each[0] for each in proof.finditer(text) if each[1] not in kept]:
            text = text.replace(each, "")
        found[file] = text.replace("Numbers Code CodeFacts", "Numbers CodeFacts")
    return found


def judged(file: str, text: str, folder: Path) -> str:
    """What Rocq says of the file's edited text."""
    try:
        code = translated({**{each: sources()[each] for each in IMPORTED.get(file, ())}, file: text})
    except Refused:
        return "not translated"
    (folder / "Both.v").write_text(code + ties()[file], encoding="utf-8")
    done = subprocess.run(["coqc", "-q", "Both.v"], cwd=folder, capture_output=True, check=False)
    return "not proved" if done.returncode else "proved"


def table() -> str:
    """A line a file: its edits, and what Rocq says of them."""
    lines = [f"{'file':14} {'edits':>5} {'not translated':>15} {'not proved':>11} {'proved':>7}"]
    for file in FILES:
        counts = Counter(said()[each.name] for each in edited() if each.file == file)
        numbers = [counts[word] for word in ("not translated", "not proved", "proved")]
        lines.append(f"{file:14} {counts.total():5} {numbers[0]:15} {numbers[1]:11} {numbers[2]:7}")
    return "\n".join(lines)


def main(write: bool) -> None:
    if write:
        ties()
        with TemporaryDirectory() as folder:
            Library(Path(folder) / "compiled").into(Path(folder), *NEEDED)
            found = [judged(each.file, each.text, Path(folder)) for each in edited()]
        pairs = zip(edited(), found, strict=True)
        lines = [{"name": each.name, "kind": each.kind, "said": answer} for each, answer in pairs]
        DATA.write_text("[\n" + ",\n".join(map(json.dumps, lines)) + "\n]\n", encoding="utf-8")
        said.cache_clear()
    print(table())


if __name__ == "__main__":
    main("--write" in sys.argv)
