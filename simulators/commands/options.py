"""Options that commands share."""

from pathlib import Path

import click

from draftproof.simulators import screen

FILE = click.Path(path_type=Path)

NAMED = "a name, or one of your own as file.py:name or package.module:name"
"""What names a verifier."""

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
format_option = click.option(
    "--format",
    type=click.Choice(screen.STYLES),
    expose_value=False,
    callback=lambda context, option, value: screen.use(value),
    help="Tables in Markdown or LaTeX.",
)
force_option = click.option(
    "--force", is_flag=True, help="Run verifiers also on drafts they are not made for."
)
