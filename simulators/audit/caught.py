"""Standard output kept for the answer."""

import os
import sys


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
