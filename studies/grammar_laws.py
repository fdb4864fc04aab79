"""The two laws that a grammar can mean: rows without forbidden tokens, and p given a valid whole text.

    python -m studies.grammar_laws docs/grammar.json
    python -m studies.grammar_laws docs/grammar.json --verifier block --tokens 4

How far apart they are over the whole text, exactly, and E[tau] of a verifier against each.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click
from flint import fmpq

from draftproof.simulators.instances.files import read
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.screen import shown
from draftproof.theory.instance import Instance
from draftproof.theory.law import WORDS, law_of
from draftproof.theory.targets.processors import Mask, Processed, Processor
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import named


class OtherLaw(NamedTuple):
    """The law that a verdict is about, the other one that the grammar can mean, how far apart they are over
    the whole text, and E[tau] against each.
    """

    judged: str
    other: str
    total_variation: fmpq
    expected_accepted: fmpq
    of_other: fmpq


def other_law(instance: Instance, verifier: Verifier, tokens: int) -> OtherLaw | None:
    """What else the target's masks can mean; None without a mask, and for more than WORDS texts. A mask that
    states no length is compared with the law given a valid text of so many tokens.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.instance import context_free
    >>> from draftproof.theory.targets.processors import processed
    >>> from draftproof.theory.verifiers import named
    >>> once = Mask("a", {"a": {"0": "b", "1": "c"}, "b": {"0": "b"}, "c": {"0": "c", "1": "c"}})
    >>> half = context_free(["1/2", "1/2"], ["1/2", "1/2"], Chain(1))
    >>> other_law(processed(half, [(once, "both")]), named("token"), 2).total_variation
    1/6
    """
    steps = getattr(instance.target, "processors", ())
    stated = [each.whole for each in steps if isinstance(each, Mask)]
    length = max((whole or 0 for whole in stated), default=0) or tokens
    if not stated or instance.vocab**length > WORDS:
        return None
    whole = None if any(stated) else length
    others = [replace(each, whole=whole) if isinstance(each, Mask) else each for each in steps]
    other = replace(instance, target=Processed(instance.target, others))
    apart = law_of(instance.target, length).total_variation(law_of(other.target, length))
    accepted = (judge(each, verifier).expected_accepted for each in (instance, other))
    return OtherLaw(meant(steps), meant(others), apart, *accepted)


def meant(steps: Sequence[Processor]) -> str:
    """The law that masks among these steps mean."""
    return next(each.meant for each in steps if isinstance(each, Mask))


@click.command()
@click.argument("instance", type=click.Path(path_type=Path))
@click.option("--verifier", default="token")
@click.option("--tokens", type=click.IntRange(1), help="Of a whole text, by default what one call can emit.")
def main(instance: Path, verifier: str, tokens: int | None) -> None:
    """Prints both laws of the masks of an instance."""
    given = read(instance)
    found = other_law(given, named(verifier), tokens or given.draft.depth + 1)
    if found is None:
        raise click.UsageError(f"{instance} has no mask, or its texts are too many")
    click.echo(f"{found.judged}: E[tau] {shown(found.expected_accepted)}")
    click.echo(f"{found.other}: E[tau] {shown(found.of_other)}")
    click.echo(f"total variation {shown(found.total_variation)}")


if __name__ == "__main__":
    main()
