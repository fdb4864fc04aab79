"""The front door: mounts each package's commands and holds no logic."""

import signal
import sys


def main() -> None:
    """The command `draftproof`."""
    heard = signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing to save yet: Ctrl-C ends the imports
    from importlib.metadata import version

    import click

    from gpu.commands import gpu
    from proofs_check.commands import COMMANDS as PROOFS
    from proofs_check.page import registry
    from simulators.audit.commands import audit
    from simulators.commands import COMMANDS as CHECKS
    from simulators.door import enter
    from simulators.gap.commands import COMMANDS as GAPS
    from simulators.report.commands import command as report
    from simulators.sweep.commands import command as sweep

    signal.signal(signal.SIGINT, heard)
    group = click.Group(
        "draftproof",
        [
            *CHECKS,
            *GAPS,
            audit,
            *PROOFS,
            sweep({"prove": "proofs_check.sweep:PROVE"}),
            report(registry),
            gpu,
        ],
        help="Is this speculative-decoding verifier lossless, and how far is it from optimal?",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    sys.exit(enter(click.version_option(version("draftproof"), message="%(version)s")(group)))


if __name__ == "__main__":
    main()
