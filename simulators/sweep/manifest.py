"""What a results folder says about itself."""

import hashlib
import json
import platform
import subprocess
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from draftproof.simulators.sweep.configuration import Entry

FORMAT = 1
"""The version of the folder's own layout."""

LIBRARIES = ("numpy", "pyarrow", "python-flint", "scipy", "pot")
"""What the numbers and the files come from."""


def manifest(entries: Sequence[Entry], chunks: int) -> dict[str, Any]:
    """The manifest of a sweep: whatever could change a byte of its shards."""
    configuration = json.loads(json.dumps({"family": [entry.document() for entry in entries]}))
    return {
        "format": FORMAT,
        "draftproof": version("draftproof"),
        "commit": commit(),
        "versions": {"python": platform.python_version()} | {name: version(name) for name in LIBRARIES},
        "metrics": list(dict.fromkeys(name for entry in entries for name in entry.metrics)),
        "chunks": chunks,
        "digest": hashlib.sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest(),
        "configuration": configuration,
    }


def commit() -> str | None:
    """The commit of the clone that this runs from, with + where files were changed; None outside one."""
    clone = Path(__file__).parents[2]
    if not (clone / ".git").exists():
        return None

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(clone), *arguments], capture_output=True, text=True, check=True
        ).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None
