"""The command `audit`."""

import json
from pathlib import Path
from types import NoneType
from typing import Any, get_args

import click

from draftproof.simulators import screen
from draftproof.simulators.audit import load
from draftproof.simulators.audit.isolation import isolated
from draftproof.simulators.audit.judge.examine import examine
from draftproof.simulators.audit.judge.plan import KNOWN, checked
from draftproof.simulators.audit.judge.report import Report
from draftproof.simulators.audit.reports import checked as checked_path
from draftproof.simulators.audit.reports import written
from draftproof.simulators.audit.sandbox import Observer
from draftproof.simulators.commands.options import FILE, Option, json_option, settings
from draftproof.simulators.instances.files import draft_of
from draftproof.theory.errors import BadInput

DEFAULTED = click.core.ParameterSource.DEFAULT_MAP


def option(name: str) -> Option:
    """An option of `examine` as one of the command: its type, default and help are those of `Options`."""
    annotated, known = KNOWN[name]
    kind = next((each for each in get_args(annotated) if each is not NoneType), annotated)
    spelled = f"--{name.replace('_', '-')}"
    return click.option(
        spelled, name, type=kind, is_flag=kind is bool, default=known.default, help=known.help
    )


@click.command(context_settings={"show_default": True})
@click.argument("targets", metavar="TARGET", nargs=-1)
@click.option("--exec", "program", metavar="COMMAND", help="In place of TARGET: a program in any language.")
@option("vocab")
@option("depth")
@option("dtype")
@click.option("--loop", is_flag=True, help="TARGET is a generation loop over two models.")
@click.option("--tree", is_flag=True, help="TARGET verifies trees: verify(target, draft, rng).")
@option("iterations")
@option("statistical")
@click.option(
    "--report", "files", type=FILE, multiple=True, help="Also write JUnit (.xml) or SARIF (.sarif); again."
)
@click.option("--strict", is_flag=True, help="Findings at the edges also fail.")
@settings(
    *map(option, ("edges", "padding", "invariant", "smallest", "float32", "runs", "seconds")),
    click.option("--draft", "drafts", multiple=True, help="Drafts that a TARGET on trees is made for."),
)
@json_option
def audit(
    targets: tuple[str, ...],
    program: str | None,
    loop: bool,
    tree: bool,
    strict: bool,
    files: tuple[Path, ...],
    as_json: bool,
    **options: Any,
) -> int:
    """Check somebody else's verifier by exact enumeration.

    TARGET is package.module:function or path/to/file.py:function. The
    function is verify(target_probs, draft_probs, draft_tokens, rng) and returns the emitted tokens;
    one that uses torch's random functions needs no rng. With --loop it is generate(target, draft,
    prompt, length), with gamma where it asks for it, and returns the new tokens. A selection rule is
    select(target_probs, draft_probs, draft_tokens, capacity) of a batch of R requests and returns R
    numbers, how many drafted tokens of each are verified. With --exec a program gets rows, drafts and
    uniforms on its standard input, one JSON line a question, and answers with tokens. Exit status 0 when
    lossless, 1 when not, 2 for bad input, 3 when it cannot be enumerated and a test on random runs shows
    nothing; of several targets 1 if one is not lossless.
    """
    styles = {"exec": program is not None, "loop": loop, "tree": tree}
    style, *more = [name for name, is_asked in styles.items() if is_asked] or ["verify"]
    if more:
        raise BadInput("--exec, --loop and --tree exclude each other")
    if program is not None and click.get_current_context().get_parameter_source("targets") == DEFAULTED:
        targets = ()  # of the project
    if bool(targets) == (program is not None):
        raise BadInput("name a TARGET, or a program with --exec COMMAND")
    files = tuple(map(checked_path, files))
    asked = {name: options[name] for name in KNOWN if name in options}
    checked(asked)  # before a process is started
    rest = options["dtype"], tuple(map(draft_of, options["drafts"]))
    reports = []
    for named in dict.fromkeys(targets) if program is None else (program,):
        report = _audited(load.Subject(named, style, *rest), asked)
        report.strict = strict
        reports.append(report)
        if not as_json:
            screen.say(f"{report.failure or report}\n  {report.seconds:.1f} s")
    for path in files:
        written(path, reports)
    if as_json:
        answers = [report.to_dict() for report in reports]
        click.echo(json.dumps(answers[0] if len(answers) == 1 else {"audits": answers}))
        for line in (line for report in reports for line in report.lines()[1:]):
            if line.startswith(("  finding", "  cannot", "  not enumerated")):
                click.echo(line.strip(), err=True)
    statuses = {report.status for report in reports}
    return next(status for status in (1, 3, 0) if status in statuses)


def _audited(subject: load.Subject, asked: dict[str, Any]) -> Report:
    with screen.progress() as bar:
        task = bar.add_task("auditing", total=None)

        def progress(done: int, total: int, doing: str) -> None:
            if doing.startswith("cannot be enumerated"):
                click.echo(doing, err=True)
            description = "auditing" if total else doing.rpartition("; ")[2]
            bar.update(task, completed=done, total=total or None, description=description)

        return isolated(_examined, str(subject.named), asked["seconds"], progress, subject, asked)


def _examined(observer: Observer, subject: load.Subject, options: dict[str, Any]) -> Report:
    return examine(load.target(subject, observer), observer=observer, **options)
