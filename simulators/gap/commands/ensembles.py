"""`gap` without an instance: means over random ones."""

import json
from collections.abc import Sequence
from typing import Any

import click

from draftproof.simulators import screen
from draftproof.simulators.check import applies, must_fit
from draftproof.simulators.gap import table
from draftproof.simulators.gap.ensemble import described
from draftproof.simulators.gap.measure import Gap, applicable, measure
from draftproof.simulators.gap.summary import summarise
from draftproof.simulators.instances.mixed import Mixed
from draftproof.theory.drafts import Scheme
from draftproof.theory.verifier import Verifier


def over_ensembles(
    drafts: Sequence[Scheme], vocab: int, verifiers: Sequence[Verifier], count: int, as_json: bool
) -> int:
    families = [Mixed(draft, vocab, count) for draft in drafts]
    for verifier in verifiers:
        must_fit(verifier, drafts)
    answers: list[dict[str, Any]] = []
    with screen.progress() as bar:
        task = bar.add_task("measuring", total=len(families) * count)
        for family in families:
            fit = [each for each in verifiers or applicable(family[0]) if applies(each, family[0])]
            gaps: list[Gap] = []
            for each in family:
                gaps.append(measure(each, fit))
                bar.advance(task)
            found = summarise(gaps)
            title = f"{family.draft.label}, {described(family.draft)}, V = {vocab}: {count} random instances"
            if as_json:
                answers.append({"draft": title, "means": [vars(row) for row in found]})
            else:
                screen.console().print(table.many(title, found))
    if as_json:
        click.echo(json.dumps({"ensembles": answers}))
    return 0
