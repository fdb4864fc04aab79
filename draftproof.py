"""Is this speculative-decoding verifier lossless, how far is it from optimal, and how fast does it run?

    import draftproof as dp
    dp.assert_lossless(verify)

The four folders beside this file are its subpackages, through the links in `draftproof/`:
`draftproof.theory`, `draftproof.simulators`, `draftproof.proofs_check` and `draftproof.gpu`. The public names
and the commands are imported when they are first used, so that `import draftproof` costs nothing. This file
holds no logic.
"""

import signal
import sys
from importlib.metadata import version
from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

    from draftproof.proofs_check.api import claims as claims
    from draftproof.proofs_check.api import prove as prove
    from draftproof.proofs_check.api import report as report
    from draftproof.simulators.api import check as check
    from draftproof.simulators.api import gap as gap
    from draftproof.simulators.api import law as law
    from draftproof.simulators.api import read as read
    from draftproof.simulators.api import replay as replay
    from draftproof.simulators.api import sweep as sweep
    from draftproof.simulators.api import vectors as vectors
    from draftproof.simulators.audit import assert_lossless as assert_lossless
    from draftproof.simulators.audit import examine as examine
    from draftproof.theory.drafts.best_first import BestFirst as BestFirst
    from draftproof.theory.drafts.chain import Chain as Chain
    from draftproof.theory.drafts.greedy import Greedy as Greedy
    from draftproof.theory.drafts.paths import Paths as Paths
    from draftproof.theory.drafts.spechub import SpecHub as SpecHub
    from draftproof.theory.drafts.stratified import Stratified as Stratified
    from draftproof.theory.drafts.top_k import TopK as TopK
    from draftproof.theory.drafts.tree import Tree as Tree
    from draftproof.theory.instance import Instance as Instance
    from draftproof.theory.table import Table as Table
    from draftproof.theory.verifiers import VERIFIERS

    verifiers = VERIFIERS
    __version__: str

_WHERE = {
    "BestFirst": "theory.drafts.best_first:BestFirst",
    "Chain": "theory.drafts.chain:Chain",
    "Greedy": "theory.drafts.greedy:Greedy",
    "Instance": "theory.instance:Instance",
    "Paths": "theory.drafts.paths:Paths",
    "SpecHub": "theory.drafts.spechub:SpecHub",
    "Stratified": "theory.drafts.stratified:Stratified",
    "Table": "theory.table:Table",
    "TopK": "theory.drafts.top_k:TopK",
    "Tree": "theory.drafts.tree:Tree",
    "assert_lossless": "simulators.audit:assert_lossless",
    "check": "simulators.api:check",
    "claims": "proofs_check.api:claims",
    "examine": "simulators.audit:examine",
    "gap": "simulators.api:gap",
    "law": "simulators.api:law",
    "prove": "proofs_check.api:prove",
    "read": "simulators.api:read",
    "replay": "simulators.api:replay",
    "report": "proofs_check.api:report",
    "sweep": "simulators.api:sweep",
    "vectors": "simulators.api:vectors",
    "verifiers": "theory.verifiers:VERIFIERS",
}

if not TYPE_CHECKING:  # type checkers read the imports above, and so know every name and which do not exist
    __all__ = list(_WHERE)

    def __getattr__(name: str):
        if name == "__version__":
            return version("draftproof")
        if name not in _WHERE:
            raise AttributeError(f"module 'draftproof' has no attribute {name!r}")
        value = globals()[name] = resolve_name(f"draftproof.{_WHERE[name]}")
        return value


def __dir__() -> list[str]:
    return list(_WHERE)


_COMMANDS = {
    "audit": ("simulators.commands.audit:audit", "Check somebody else's verifier by exact enumeration."),
    "check": ("simulators.commands.check:check", "Exhaustive exact losslessness checks."),
    "claims": ("proofs_check.commands.claims:claims", "Every registered theorem with its verdict."),
    "endpoint": ("simulators.commands.endpoint:endpoint", "Does a running server sample as it should?"),
    "gap": ("simulators.commands.gap:gap", "Show how far each verifier is from each certified optimum."),
    "gpu": ("gpu.commands:gpu", "Batched torch, kernels and real models, on a CPU or a GPU."),
    "law": ("simulators.commands.law:law", "Exact law of one iteration, verdict, E[tau]."),
    "prove": ("proofs_check.commands.prove:prove", "Is the verifier lossless for ALL real p and q?"),
    "report": ("proofs_check.commands.report:report", "Write one self-contained page of a sweep's results."),
    "sweep": ("simulators.commands.sweep:sweep", "Check and gap over many instances."),
    "vectors": ("simulators.commands.vectors:vectors", "Test vectors for code in other languages."),
}
"""Name -> (`module:NAME` of the command, its line in `draftproof --help`)."""


def commands() -> "click.Group":
    """The command `draftproof`, whose subcommands are imported when they are called."""
    import click

    from draftproof.simulators.commands.entry import LazyGroup

    group = LazyGroup(
        "draftproof",
        {name: (f"draftproof.{where}", line) for name, (where, line) in _COMMANDS.items()},
        help="Is this speculative-decoding verifier lossless, and how far is it from optimal?",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    return click.version_option(package_name="draftproof", message="%(version)s")(group)


def main() -> None:
    """Runs the command line and exits with its status."""
    interrupt = signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends the imports: nothing to save yet
    group = commands()
    from draftproof.simulators.commands.entry import enter

    signal.signal(signal.SIGINT, interrupt)
    sys.exit(enter(group))


if __name__ == "__main__":
    main()
