"""The verifiers that are translated to Rocq, and their translation.

`python -m tests.proofs_check.rocq.code` renews proofs_check/rocq/Code.v.
"""

from pathlib import Path

from tests.proofs_check.rocq.python_to_rocq import translated

HOUSE = Path(__file__).parents[3]
CODE = HOUSE / "proofs_check" / "rocq" / "Code.v"
FILES = ("token", "block", "greedy_block", "hsd", "hsd_naive", "specinfer", "rrs", "traversal")
FILES += ("one_hot", "nss", "naive_tree", "hu_greedy", "priority")


def sources() -> dict[str, str]:
    """The files' text, by name."""
    folder = HOUSE / "theory" / "verifiers"
    return {name: (folder / f"{name}.py").read_text(encoding="utf-8") for name in FILES}


if __name__ == "__main__":
    CODE.write_text(translated(sources()), encoding="utf-8")
