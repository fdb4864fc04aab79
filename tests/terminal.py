"""Commands whose standard error is a terminal."""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress


def on_terminal(*arguments: object, until: bytes | None = None) -> tuple[int, str, bytes]:
    """(exit status, standard output, what the terminal showed) of a command line.

    With `until` Ctrl-C comes once the terminal shows this pattern; to the whole group, as a terminal
    sends it.
    """
    terminal, other_end = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "draftproof", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=other_end,
        text=True,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(other_end)
    shown = b""
    with suppress(OSError):  # which ends what a terminal had to say
        while more := os.read(terminal, 4096):
            shown += more
            if until and re.search(until, shown):
                os.killpg(process.pid, signal.SIGINT)
                until = None
    os.close(terminal)
    out, _ = process.communicate(timeout=60)
    return process.returncode, out, shown
