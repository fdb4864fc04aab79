"""The folder of a training run: whose it is, and files that appear there whole or not at all."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from draftproof.theory.errors import BadInput


def begun(out: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """What is written down of a run in that folder, which must be this one; nothing if none was begun."""
    if out.exists() and not out.is_dir():
        raise BadInput(f"{out}: is a file, not a folder")
    found = read(out / "train.json", None)
    if found is None:
        if out.exists() and any(out.iterdir()):
            raise BadInput(f"{out}: is not empty and holds no training run")
        return {}
    for key, value in settings.items():
        if found.get(key) != value:
            raise BadInput(f"{out}: was begun with {key} {found.get(key)}, not {value}; take another folder")
    return found


def begin(out: Path, settings: dict[str, Any]) -> None:
    """Makes the folder of a new run."""
    try:
        (out / "work").mkdir(parents=True)
        write(out / "train.json", settings)
    except OSError as error:
        raise BadInput(f"{out}: cannot be written: {error.strerror}") from None


def whole(folder: Path, save: Callable[[Path], object]) -> None:
    """Saves into a folder that appears under its name only when everything is in it."""
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    save(partial)
    partial.replace(folder)


def read(path: Path, otherwise: Any) -> Any:
    """The JSON of a file, or something else where there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return otherwise
    except ValueError as error:
        raise BadInput(f"{path}: not JSON: {error}") from None


def write(path: Path, value: Any) -> None:
    """A value as a JSON file."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    partial.replace(path)
