"""The Rocq sources, compiled once for all tests, and edited copies of them."""

import fcntl
import re
import shutil
import subprocess
from pathlib import Path

SOURCES = Path(__file__).parents[3] / "proofs_check" / "rocq"
ORDER = (
    *("Programs", "Rules", "Python", "OptimalPlan", "Numbers", "Code", "CodeFacts", "CodeChains"),
    *("CodeTrees", "CodeNodes", "CodePriority", "Means", "Keys", "Lossless", "Traversal"),
    *("RecursiveRejection", "Chains", "Paths", "BlockOptimal", "Texts", "GreedyBlock", "GreedyText"),
    *("GreedyAccepts", "Hsd", "HsdFacts", "HsdMeans", "HsdDrawn", "HsdMultidraft", "Bounds", "Selection"),
    *("TopDown", "Lift", "Nodes", "Plans", "Priority", "PriorityNodes", "Optimal", "OptimalProper"),
    *("Elimination", "OptimalOrders", "OptimalDownhill", "OptimalBalance", "OptimalSteps", "OptimalAlpha"),
    *("MaxFlow", "Alpha", "KSeq", "KSeqPlans", "RecursivePrice", "TraversalAbove", "Layered"),
    *(
        "CodeLossless",
        "CodeNaive",
        "CodeAccepts",
        "CodeFair",
        "BestPath",
        "Multipath",
        "KeyedChains",
        "Races",
    ),
)
"""The files, each after those that it requires."""
REQUIRED = re.compile(r"^Require Import (.*)\.$", re.MULTILINE)


def text_of(name: str) -> str:
    return (SOURCES / f"{name}.v").read_text(encoding="utf-8")


def needed(name: str) -> list[str]:
    """The file `name` and before it what it requires, in order."""
    required = " ".join(REQUIRED.findall(text_of(name))).split()
    before = {each for other in required if other in ORDER for each in needed(other)}
    return [each for each in ORDER if each in before] + [name]


def coqc(folder: Path, file: str) -> str:
    """What Rocq says of a file that it accepts."""
    done = subprocess.run(["coqc", "-q", file], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Library:
    """Compiled files in a folder that processes share; each is compiled by the first that needs it."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def into(self, folder: Path, *names: str) -> None:
        """Puts compiled files, and what they require, into another folder."""
        wanted = {each for name in names for each in needed(name)}
        for name in (each for each in ORDER if each in wanted):
            with (self.folder / f"{name}.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not (self.folder / f"{name}.compiled").exists():
                    shutil.copy(SOURCES / f"{name}.v", self.folder)
                    coqc(self.folder, f"{name}.v")
                    (self.folder / f"{name}.compiled").touch()
            if not (folder / f"{name}.vo").exists():
                (folder / f"{name}.vo").symlink_to(self.folder / f"{name}.vo")


def joined(texts: dict[str, str]) -> str:
    """Files as one, in order: a module each. So what they all require is loaded once."""

    def imported(match: re.Match[str]) -> str:
        names = match[1].split()
        inner = [name for name in names if name in texts]
        outer = [name for name in names if name not in texts]
        return "".join(
            f"{word} {' '.join(some)}. "
            for word, some in (("Require Import", outer), ("Import", inner))
            if some
        )

    return "".join(
        f"Module {name}.\n{REQUIRED.sub(imported, text)}\nEnd {name}.\n" for name, text in texts.items()
    )
