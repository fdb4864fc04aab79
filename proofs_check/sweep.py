"""Proofs of one size as a metric of sweeps: every verifier on every draft and vocabulary."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from draftproof.proofs_check.prove import Proof, prove
from draftproof.simulators.instances.files import document
from draftproof.simulators.study.configuration import Entry
from draftproof.simulators.study.plan import SIZE, size
from draftproof.simulators.user_code import named
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput

SCHEMA = pa.schema(
    [
        ("verifier", pa.string()),
        *SIZE,
        ("declared", pa.bool_()),
        ("scope", pa.string()),
        ("verdict", pa.string()),
        ("cells", pa.int64()),
        ("parameters", pa.int64()),
        ("counterexample", pa.string()),
        ("why", pa.string()),
    ]
)


@dataclass(frozen=True)
class Prove:
    """One verifier at one size."""

    verifier: str
    draft: Scheme
    vocab: int
    seconds: float

    @property
    def evaluations(self) -> int:
        return 1

    def __call__(self) -> pa.Table:
        rule = named(self.verifier)
        try:
            found = prove(rule, self.draft, self.vocab, self.seconds)
        except BadInput as error:  # more parameters than are tried
            found = Proof(rule.name, f"vocab={self.vocab} {self.draft}", "undecided", why=str(error))
        row = {
            **vars(found),
            "verifier": self.verifier,
            **size(self.draft, self.vocab),
            "declared": rule.lossless,
            "counterexample": found.counterexample and json.dumps(document(found.counterexample)),
        }
        return pa.Table.from_pylist([row], SCHEMA)


def jobs(entry: Entry) -> Iterator[Prove]:
    """One job a verifier, draft and vocabulary."""
    for vocab in entry.vocabularies:
        for draft in entry.drafts:
            for rule in entry.fitting(draft):
                yield Prove(rule.name, draft, vocab, entry.seconds)
