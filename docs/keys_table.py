"""The table of docs/keys.md: schemes by verifiers, exact. `python docs/keys_table.py` prints it."""

from pathlib import Path

from draftproof.simulators.api import read
from draftproof.simulators.laws.verdicts.keys import judge_keys
from draftproof.theory.keys import SCHEMES, keys
from draftproof.theory.verifiers import named

HERE = Path(__file__).parent
FILES = {"token": "", "block": "", "traversal": "-tree", "specinfer": "-tree", "priority": "-tree"}
TOKENS = 3


def table() -> str:
    """A row for each scheme, with committed contexts spared: total variation, E[tau], strength."""
    lines = ["| " + " | ".join(["", *FILES]) + " |", "| --- " * (1 + len(FILES)) + "|"]
    for name in SCHEMES:
        cells = [f"`{name}`"]
        for verifier, file in FILES.items():
            instance = read(HERE / f"watermark{file}.json")
            found, _ = judge_keys(instance, named(verifier), keys(name), TOKENS, measured=True)
            cell = f"{found.total_variation}, {float(found.expected_accepted):.3g}"
            cells.append(cell if found.strength is None else f"{cell}, {found.strength:.3f}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
