"""Options that commands share."""

from pathlib import Path

import click

FILE = click.Path(path_type=Path)

NAMED = "a name, or one of your own as file.py:name or package.module:name"
"""What names a verifier."""

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
force_option = click.option(
    "--force", is_flag=True, help="Run verifiers also on drafts they are not made for."
)
