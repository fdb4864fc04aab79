"""The command `audit`."""

import importlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from simulators.audit.adapters import ADAPTERS, adapted
from simulators.audit.targets import ROUNDOFF, Function
from simulators.audit.verdict import examine
from theory.errors import BadInput


@click.command()
@click.argument("target", metavar="TARGET")
@click.option("--vocab", type=click.IntRange(2, 8), default=3, show_default=True, help="Largest vocabulary.")
@click.option("--depth", type=click.IntRange(1, 6), default=2, show_default=True, help="Largest draft depth.")
@click.option(
    "--path", type=click.Path(path_type=Path), help="Where an adapter finds its file or repository."
)
@click.option("--dtype", type=click.Choice(list(ROUNDOFF)), help="The arithmetic that TARGET computes in.")
@click.option(
    "--iterations", type=click.IntRange(1, 3), default=1, show_default=True, help="Rounds of decoding."
)
@click.option("--seconds", type=click.FloatRange(0.1), default=10.0, show_default=True, help="Longest call.")
@click.option("--runs", type=click.IntRange(0), default=0, help="Test on N runs what cannot be enumerated.")
@click.option("--strict", is_flag=True, help="Findings at the edges fail too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def audit(
    target: str,
    vocab: int,
    depth: int,
    path: Path | None,
    dtype: str | None,
    iterations: int,
    seconds: float,
    runs: int,
    strict: bool,
    as_json: bool,
) -> int:
    """Check somebody else's verifier, exactly.

    TARGET is package.module:function, path/to/file.py:function, or the name of an adapter. The
    function is verify(target_probs, draft_probs, draft_tokens, rng) and returns the emitted tokens;
    one that uses torch's random functions needs no rng. Exit status 0 when lossless, 1 when not,
    2 for bad input, 3 when it cannot be enumerated.
    """
    with caught():
        found = (
            adapted(target, path) if target in ADAPTERS else Function(load(target), name=target, dtype=dtype)
        )
        report = examine(found, vocab=vocab, depth=depth, iterations=iterations, seconds=seconds, runs=runs)
    if as_json:
        click.echo(json.dumps(report.answer()))
        for finding in report.findings:
            click.echo(f"finding: {finding}", err=True)
        if report.undecided:
            click.echo(f"cannot be enumerated: {report.undecided}", err=True)
    else:
        click.echo(f"{report}\n  {report.seconds:.1f} s")
    return 1 if strict and report.findings and report.status == 0 else report.status


def load(target: str) -> Any:
    """The object that `package.module:name` or `path/to/file.py:name` names; BadInput when there is none."""
    place, colon, name = target.rpartition(":")
    if not colon or not place or not name:
        raise BadInput(
            f"{target[:80]}: not package.module:function, path/to/file.py:function, "
            f"or one of {', '.join(ADAPTERS)}"
        )
    try:
        module = _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    except BadInput:
        raise
    except (Exception, SystemExit) as error:
        raise BadInput(f"{place}: cannot be imported: {type(error).__name__}: {error}") from None
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise BadInput(f"{place}: has no {name!r}")
        found = getattr(found, part)
    if not callable(found):
        raise BadInput(f"{target}: is not a function")
    return found


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise BadInput(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


class caught:
    """What the target's own C code writes to standard output goes to standard error meanwhile."""

    def __enter__(self) -> None:
        sys.stdout.flush()
        self._kept = os.dup(1)
        os.dup2(2, 1)

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()
        os.dup2(self._kept, 1)
        os.close(self._kept)
