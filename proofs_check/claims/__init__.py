"""The registry of claims: what the field states, each with a verdict that anyone can reproduce.

`claims.toml` is the table: statement, source, scope, verdict, and of most claims how they are checked. What
needs code of its own is a function in a file of its subject here, in `CHECKS` by the claim's name.
"""

import json
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from draftproof.proofs_check.claims.checks import EQUAL, NEVER_BELOW, Case, Lossless, related, searched
from draftproof.proofs_check.claims.claim import SIZES, Claim
from draftproof.proofs_check.claims.every_size import CodeRun, Stated
from draftproof.proofs_check.claims.topics import calls, chains, keys, selection, systems, trees
from draftproof.simulators.instances.files import parse
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.names import scheme
from draftproof.theory.targets import declared
from draftproof.theory.verifiers import named

__all__ = ["CHECKS", "CLAIMS", "Claim"]

SUBJECTS = calls, chains, keys, selection, systems, trees
CHECKS: dict[str, Callable[[], str]] = {
    key: check for subject in SUBJECTS for key, check in subject.CHECKS.items()
}
"""Claim -> its check, where that is a function of its own."""


def of_entry(key: str, entry: dict[str, Any]) -> Claim:
    """The claim of an entry of the table."""
    words = {name: entry.pop(name) for name in [*Claim.__annotations__] if name in entry}
    cases = [(int(vocab), scheme(draft)) for vocab, drafts in entry.pop("on", {}).items() for draft in drafts]
    check = checked(cases, **entry) if entry else CHECKS[key]
    verdict = getattr(check, "proves", SIZES)
    return Claim(key, check=check, **{"verdict": verdict, **words})


def checked(
    cases: list[Case],
    code: Iterable[str] = (),
    theorem: Iterable[str] | None = None,
    lossless: str = "",
    random: int = 0,
    follows: str = "",
    equal: Sequence[str] = (),
    never_below: Sequence[str] = (),
    witness: dict[str, Any] | None = None,
) -> Callable[[], str]:
    """The check of an entry that says how: the table's head has the words in which it does."""
    if code:
        return CodeRun(tuple(code))
    if theorem is not None:
        return Stated(tuple(theorem))
    if follows:
        return Lossless(follows, *cases, law=declared(follows))
    if equal or never_below:
        instance = None if witness is None else parse(json.dumps(witness))
        return related(EQUAL if equal else NEVER_BELOW, equal or never_below, cases, random, instance)
    if random:
        return searched(lambda instance: judge(instance, named(lossless)).lossless, cases, random)
    return Lossless(lossless, *cases)


TABLE = Path(__file__).with_name("claims.toml")
CLAIMS: dict[str, Claim] = {
    key: of_entry(key, entry) for key, entry in tomllib.loads(TABLE.read_text(encoding="utf-8")).items()
}
"""Key -> claim."""
