"""The files that `audit --init` writes: a wrapper of a function, and a pytest test of the wrapper."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from draftproof.simulators.audit import load
from draftproof.simulators.audit.signatures import ROWS, TOKENS, natural, roles_of
from draftproof.theory.errors import BadInput

ARGUMENTS = {
    "p": "target_probs",
    "p_logits": "target_probs.log()",
    "q": "draft_probs",
    "q_logits": "draft_probs.log()",
    "tokens": "draft_tokens",
    "gamma": "len(draft_tokens)",
    "rng": "rng",
    "position": "0",
    "temperature": "1.0",
    "false": "False",
    "counts": "[len(draft_tokens)]",
    "ends": "torch.tensor([len(draft_tokens)])",
    "bonus": "torch.multinomial(target_probs[-1:], 1)",
}
"""What a parameter means -> the argument of the wrapper."""

WRAPPER = """\"\"\"{name} as `draftproof audit` calls it: one request, one draft.\"\"\"

{imports}

def verify(target_probs, draft_probs, draft_tokens{rng}):
    # target_probs [gamma + 1, V], draft_probs [gamma, V], draft_tokens [gamma]; the rows are what tokens are
    # drawn from, after temperature and filters.{batch}
    result = {function}(
{arguments}
    )
    return result  # the emitted tokens only: result[result >= 0] where it is padded with -1
"""

TEST = """\"\"\"The wrapper keeps the target's law.\"\"\"

import draftproof as dp
from audited import verify


def test_lossless():
    dp.assert_lossless(verify)
"""


def written(name: str) -> Iterator[str]:
    """Writes audited.py and test_audited.py for the function of that name; one line for each.

    Raises BadInput if the function cannot be loaded, or a file exists.
    """
    place, _, function = name.rpartition(":")
    verify = load.load(name)
    roles, layout = roles_of(verify) or [(each, each, False) for each in ("p", "q", "tokens")], ""
    with suppress(BadInput):
        layout = getattr(natural(verify), "layout", "single")
    batch = layout in ("batch", "one")
    module = getattr(verify, "__module__", Path(place).stem) if place.endswith(".py") else place
    rng = any(role == "rng" and not by_name for _, role, by_name in roles)
    text = WRAPPER.format(
        name=name,
        batch=" [None] makes a batch of one." if batch else "" if layout else " For a batch: row[None].",
        imports=f"{'' if rng else 'import torch'}\nfrom {module} import {function.split('.')[0]}\n".lstrip(),
        rng=", rng" if rng else "",
        function=function,
        arguments="\n".join(
            f"        {parameter}={ARGUMENTS[role]}{'[None]' * (batch and role in (*ROWS, TOKENS))},"
            for parameter, role, by_name in roles
            if role != "rng" or not by_name
        ),
    )
    files = {Path("audited.py"): text, Path("test_audited.py"): TEST}
    for path in files:
        if path.exists():
            raise BadInput(f"{path}: exists")
    for path, content in files.items():
        path.write_text(content)
        yield f"wrote {path}"
    first = "" if layout else "edit audited.py where it says so, then: "
    yield f"{first}draftproof audit audited.py:verify"
