"""The command `audit`."""

import json
from pathlib import Path
from typing import Any

import click

from draftproof.simulators import screen
from draftproof.simulators.audit import load
from draftproof.simulators.audit.adapters import ADAPTERS
from draftproof.simulators.audit.battery import DEPTH, VOCAB
from draftproof.simulators.audit.isolation import isolated
from draftproof.simulators.audit.judge.examine import examine
from draftproof.simulators.audit.judge.report import Report
from draftproof.simulators.audit.judge.samples import RUNS
from draftproof.simulators.audit.rounding import ROUNDOFF
from draftproof.simulators.audit.sandbox import SECONDS, Observer
from draftproof.simulators.commands.options import FILE, json_option
from draftproof.theory.errors import BadInput
from draftproof.theory.targets import declared


@click.command(context_settings={"show_default": True})
@click.argument("target", metavar="TARGET")
@click.option("--vocab", type=click.IntRange(2), default=VOCAB, help="Largest vocabulary.")
@click.option("--depth", type=click.IntRange(1), default=DEPTH, help="Largest draft depth.")
@click.option("--path", type=FILE, help="The file or repository that an adapter needs.")
@click.option(
    "--dtype",
    type=click.Choice(list(ROUNDOFF)),
    help="The arithmetic that TARGET computes in; float64 shows bias that float32 rounding hides.",
)
@click.option("--iterations", type=click.IntRange(1, 3), default=1, help="Rounds of decoding.")
@click.option("--loop", is_flag=True, help="TARGET is a generation loop over two models.")
@click.option(
    "--selection", is_flag=True, help="TARGET selects which drafted tokens of a batch are verified."
)
@click.option("--padding", is_flag=True, help="Also try drafts padded with -1.")
@click.option(
    "--processors", is_flag=True, help="Try rows of grammars, filters and penalties, and missing drafts."
)
@click.option("--seconds", type=click.FloatRange(0.1), default=SECONDS, help="Longest call.")
@click.option(
    "--statistical", is_flag=True, help="Test random runs instead of enumerating, at any vocabulary."
)
@click.option("--rows", type=FILE, help="Rows to test on: .npz with `target` and `proposal`.")
@click.option("--runs", type=click.IntRange(0), default=RUNS, help="Number of runs of a test.")
@click.option("--against", metavar="LAW", help="A declared target in place of p, such as interpolation:1/4.")
@click.option(
    "--own-bonus", is_flag=True, help="With --against: a whole accepted draft's extra token follows LAW too."
)
@click.option("--strict", is_flag=True, help="Findings at the edges also fail.")
@json_option
def audit(
    target: str,
    path: Path | None,
    dtype: str | None,
    loop: bool,
    selection: bool,
    strict: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Check somebody else's verifier by exact enumeration.

    TARGET is package.module:function, path/to/file.py:function, or the name of an adapter. The
    function is verify(target_probs, draft_probs, draft_tokens, rng) and returns the emitted tokens;
    one that uses torch's random functions needs no rng. With --loop it is generate(target, draft,
    prompt, length), with gamma where it asks for it, and returns the new tokens. With --selection it is
    select(target_probs, draft_probs, draft_tokens, capacity) of a batch of R requests and returns R
    numbers, how many drafted tokens of each are verified. With --against the law is compared with a
    declared target, and measured against p. Exit status 0 when lossless, 1 when not, 2 for bad input, 3
    when it cannot be enumerated and a test on random runs shows nothing.
    """
    if options["against"] is not None:
        declared(options["against"])  # raises BadInput before a process is started
    if options["rows"] is not None and not options["statistical"]:
        raise BadInput("--rows goes with --statistical")
    if options["statistical"] and (options["iterations"] > 1 or options["padding"] or not options["runs"]):
        raise BadInput("--statistical goes without --iterations and --padding, and needs --runs")
    if path is not None and target not in ADAPTERS:
        raise BadInput(f"--path goes with an adapter: {', '.join(ADAPTERS)}")
    style = "loop" if loop else "selection" if selection else "verify"
    if style != "verify" and (target in ADAPTERS or options["statistical"] or options["padding"]):
        raise BadInput(f"--{style} goes with a function, and without --statistical and --padding")
    if loop and selection:
        raise BadInput("--loop and --selection exclude each other")
    with screen.progress() as bar:
        task = bar.add_task("auditing", total=None)

        def progress(done: int, total: int, doing: str) -> None:
            undecided = doing.startswith("cannot be enumerated")
            if undecided:
                click.echo(doing, err=True)
            description = "auditing" if total else "testing random runs" if undecided else doing
            bar.update(task, completed=done, total=total or None, description=description)

        arguments = target, path, dtype, options, style
        report = isolated(_examined, target, options["seconds"], progress, *arguments)
    if as_json:
        click.echo(json.dumps(report.answer()))
        for line in report.lines()[1:]:
            if line.startswith(("  finding", "  cannot", "  not enumerated")):
                click.echo(line.strip(), err=True)
    else:
        click.echo(f"{report}\n  {report.seconds:.1f} s")
    return 1 if strict and report.findings and report.status == 0 else report.status


def _examined(
    observer: Observer, name: str, path: Path | None, dtype: str | None, options: dict[str, Any], style: str
) -> Report:
    try:
        target = load.target(name, path, dtype, style)
    except (KeyboardInterrupt, GeneratorExit) as error:  # raised by the target itself
        raise BadInput(f"{name}: cannot be imported: {type(error).__name__}") from None
    observer.loaded()
    return examine(target, observer=observer, **options)
