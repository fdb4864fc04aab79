"""`gap INSTANCE.json`: one instance."""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from draftproof.simulators import screen
from draftproof.simulators.check import must_apply
from draftproof.simulators.gap import table
from draftproof.simulators.gap.measure import measure
from draftproof.simulators.instances.files import read
from draftproof.theory.errors import BadInput
from draftproof.theory.verifier import Verifier


def on_instance(path: Path, verifiers: Sequence[Verifier], force: bool, as_json: bool) -> int:
    given = read(path)
    if not force:
        for verifier in verifiers:
            must_apply(verifier, given)
    with screen.console(stderr=True).status("") as status:
        try:
            found = measure(given, verifiers or None, lambda name: status.update(f"{name} on {path}"))
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from None
    if as_json:
        click.echo(json.dumps(table.document(found)))
    else:
        screen.console().print(table.one(found))
    return 0
