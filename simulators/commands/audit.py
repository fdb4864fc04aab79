"""The command `audit`."""

import json
from collections.abc import Sequence
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
from draftproof.simulators.audit.targets.trees import Tree
from draftproof.simulators.commands.options import FILE, json_option
from draftproof.simulators.instances.files import draft_of
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.targets import declared


@click.command(context_settings={"show_default": True})
@click.argument("target", metavar="TARGET", required=False)
@click.option("--exec", "program", metavar="COMMAND", help="In place of TARGET: a program in any language.")
@click.option("--vocab", type=click.IntRange(2), default=VOCAB, help="Largest vocabulary.")
@click.option("--depth", type=click.IntRange(1), default=DEPTH, help="Largest draft depth.")
@click.option("--path", type=FILE, help="The file or repository that an adapter needs.")
@click.option(
    "--dtype",
    type=click.Choice(list(ROUNDOFF)),
    help="The arithmetic that TARGET computes in; float64 shows bias that float32 rounding hides.",
)
@click.option("--iterations", type=click.IntRange(1, 3), default=1, help="Rounds of decoding.")
@click.option(
    "--limit", type=click.IntRange(1), help="Most runs of an instance; of a loop 20,000 by default."
)
@click.option("--loop", is_flag=True, help="TARGET is a generation loop over two models.")
@click.option(
    "--selection", is_flag=True, help="TARGET selects which drafted tokens of a batch are verified."
)
@click.option("--tree", is_flag=True, help="TARGET verifies trees: verify(target, draft, rng).")
@click.option(
    "--draft",
    "drafts",
    multiple=True,
    metavar="DRAFT",
    help="With --tree: a draft that TARGET is made for, such as tree:2x2 or paths:2x2; may be repeated.",
)
@click.option("--signature", "roles", help="What the parameters are, such as tokens,q,p_logits.")
@click.option("--padding", is_flag=True, help="Also try drafts padded with -1.")
@click.option(
    "--processors", is_flag=True, help="Try rows of grammars, filters and penalties, and missing drafts."
)
@click.option("--seconds", type=click.FloatRange(0.1), default=SECONDS, help="Processor time of a call.")
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
    target: str | None,
    program: str | None,
    path: Path | None,
    dtype: str | None,
    loop: bool,
    selection: bool,
    tree: bool,
    drafts: tuple[str, ...],
    roles: str | None,
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
    declared target, and measured against p. With --exec a program gets rows, drafts and uniforms on its
    standard input, one JSON line a question, and answers with tokens. Exit status 0 when lossless, 1 when
    not, 2 for bad input, 3 when it cannot be enumerated and a test on random runs shows nothing.
    """
    if options["against"] is not None:
        declared(options["against"])  # raises BadInput before a process is started
    if options["rows"] is not None and not options["statistical"]:
        raise BadInput("--rows goes with --statistical")
    if options["statistical"] and (options["iterations"] > 1 or options["padding"] or not options["runs"]):
        raise BadInput("--statistical goes without --iterations and --padding, and needs --runs")
    if path is not None and target not in ADAPTERS:
        raise BadInput(f"--path goes with an adapter: {', '.join(ADAPTERS)}")
    style = "loop" if loop else "selection" if selection else "tree" if tree else "verify"
    if (target is None) == (program is None):
        raise BadInput("name one TARGET, or a program with --exec COMMAND")
    if program is not None:
        if style != "verify" or options["iterations"] > 1:
            raise BadInput("--exec goes without --loop, --selection, --tree and --iterations")
        target, style = program, "exec"
    assert target is not None
    if style not in ("verify", "exec") and (
        target in ADAPTERS or (options["statistical"] and not loop) or options["padding"]
    ):
        other = "" if loop else "--statistical and "
        raise BadInput(f"--{style} goes with a function, and without {other}--padding")
    if loop + selection + tree > 1:
        raise BadInput("--loop, --selection and --tree exclude each other")
    if roles is not None and (style != "verify" or target in ADAPTERS):
        raise BadInput("--signature goes with a function")
    if drafts and not tree:
        raise BadInput("--draft goes with --tree")
    schemes = [draft_of(draft) for draft in drafts]
    with screen.progress() as bar:
        task = bar.add_task("auditing", total=None)

        def progress(done: int, total: int, doing: str) -> None:
            undecided = doing.startswith("cannot be enumerated")
            if undecided:
                click.echo(doing, err=True)
            description = "auditing" if total else "testing random runs" if undecided else doing
            bar.update(task, completed=done, total=total or None, description=description)

        arguments = target, path, dtype, options, style, roles, schemes
        report = isolated(_examined, target, options["seconds"], progress, *arguments)
    if as_json:
        click.echo(json.dumps(report.answer()))
        for line in report.lines()[1:]:
            if line.startswith(("  finding", "  cannot", "  not enumerated")):
                click.echo(line.strip(), err=True)
    else:
        click.echo(f"{(strict and report.failure(strict)) or report}\n  {report.seconds:.1f} s")
    return 1 if strict and report.findings and report.status == 0 else report.status


def _examined(
    observer: Observer,
    name: str,
    path: Path | None,
    dtype: str | None,
    options: dict[str, Any],
    style: str,
    roles: str | None,
    drafts: Sequence[Scheme] = (),
) -> Report:
    target = load.target(name, path, dtype, style, roles, observer)
    if isinstance(target, Tree):
        target.drafts = drafts
    observer.loaded()
    return examine(target, observer=observer, **options)
