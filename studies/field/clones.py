"""What the studies share: where the audited projects lie, and stand-ins for their models.

The environment variable DRAFTPROOF_FIELD names a folder with a clone of each project as OWNER/NAME, checked
out at the commit that docs/field.md names, or with a package of the index as NAME. No code of the projects
is in this folder.
"""

import os
import sys
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import MagicMock

import torch

from draftproof.simulators import audit
from draftproof.simulators.audit.targets import loops, models
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.table import Table

for module in (loops, models):
    module.PROMPT = 1  # the loops of this folder take a prompt of one token


def clone(project: str, inside: str = "") -> Path:
    """A file or folder of a project's clone; BadInput in one line if it is absent."""
    folder = os.environ.get("DRAFTPROOF_FIELD", "")
    if not folder:
        _stop(f"DRAFTPROOF_FIELD must name the folder that has the clone {project}")
    found = Path(folder, project, inside)
    if not found.exists():
        have = (
            f"clone https://github.com/{project} to"
            if "/" in project
            else f"pip install --no-deps {project} -t"
        )
        _stop(f"{found}: not there; {have} {Path(folder, project)}")
    return found


def _stop(message: str) -> NoReturn:
    if Path(sys.argv[0]).resolve().parent == Path(__file__).resolve().parent:  # a study run as a script
        print(f"draftproof: {message}", file=sys.stderr)
        raise SystemExit(2)
    raise BadInput(message)


def importable(project: str, inside: str = "", absent: tuple[str, ...] = ()) -> None:
    """Puts a project's folder first on the path; the modules `absent` become empty."""
    sys.path.insert(0, str(clone(project, inside)))
    sys.modules.update({name: MagicMock() for name in absent})


def chain(p: dict[Any, Any], q: dict[Any, Any], depth: int = 1) -> Instance:
    """A chain's instance of rows as texts or integers by prefix, as `Table.exact` takes them."""
    return Instance(*(Table.exact(len(next(iter(rows.values()))), rows) for rows in (p, q)), Chain(depth))


def judge(target: Any, *instances: Instance) -> NoReturn:
    """Audits a target on these instances, prints the report and ends with its exit status."""
    report = audit.examine(target, instances=instances, edges=False, smallest=False)
    print(f"{report}\n  {report.seconds:.1f} s")
    raise SystemExit(report.status)


class Output(dict[str, Any]):
    """What a model returns: its entries are attributes too."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


class WithoutCuda:
    """torch, whose module `cuda` does nothing."""

    cuda = MagicMock()

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)


class Unpinned:
    """torch without pinned memory, which needs an accelerator."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(torch, name)
        if name not in ("tensor", "arange", "ones", "zeros", "full", "empty"):
            return found
        return lambda *a, **k: found(*a, **{key: value for key, value in k.items() if key != "pin_memory"})


class Tokens:
    """A model without attention: a call writes token ids at positions and gives the rows after them.

    What is written at a position replaces what was there, as in a cache that is indexed by position. The
    first `skipped` tokens are no part of the text.
    """

    def __init__(self, model: Any, skipped: int = 1):
        self.model, self.skipped, self.ids = model, skipped, {}

    def at(self, positions: Any, ids: Any) -> torch.Tensor:
        """The rows of logits [T, V] after the ids [T], written at the positions [T]."""
        places = [int(place) for place in positions]
        self.ids.update(zip(places, (int(token) for token in ids), strict=True))
        return torch.stack(
            [self.model.row([self.ids[i] for i in range(self.skipped, at + 1)]) for at in places]
        )


class Padded:
    """A model whose prompt has `more` further tokens in front; its cache holds the tokens themselves."""

    def __init__(self, model: Any, more: int):
        self.model, self.skipped, self.device = model, more + 1, model.device

    def __call__(self, input_ids: torch.Tensor, past_key_values: Any = None, **_: Any) -> Any:
        seen = past_key_values[0][0].reshape(-1).tolist() if past_key_values else []
        ids = [*map(int, seen), *input_ids.reshape(-1).tolist()]
        ends = range(len(seen) + 1, len(ids) + 1)
        logits = torch.stack([self.model.row(ids[self.skipped : end]) for end in ends])[None]
        kept = torch.tensor(ids, dtype=logits.dtype)[None, None, :, None]
        return Output(logits=logits, past_key_values=((kept, kept),))
