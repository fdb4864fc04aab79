"""Searches for the instance on which one rule is furthest below another, or below an optimum: its price.

python -m studies.worst traversal > worst.json
python -m studies.worst token --against block --draft chain:3 --vocab 2
python -m studies.worst token --against block --start docs/prices/token-block-8.json --seconds 0.1

What is compared is the number of tokens that a call emits, 1 + E[tau]; on drafts of one level, a node's
acceptance E[tau]. `most` is what is proved of the worst possible (docs/prices.md).
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from random import Random
from time import monotonic

import click
from flint import fmpq

from draftproof.simulators import screen
from draftproof.simulators.instances.files import document, draft_of, read
from draftproof.simulators.instances.suite import of_depth
from draftproof.simulators.laws.check import must_fit
from draftproof.simulators.laws.optimum import best_full, best_stateless
from draftproof.simulators.laws.witness import shrink
from draftproof.simulators.screen import shown
from draftproof.simulators.study.gap import expected
from draftproof.simulators.support.make import Key, assembled, prefixes, weighted
from draftproof.simulators.user_code import named
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE
from draftproof.theory.verifier import Verifier
from studies.price_bound import NEAR, token_against_block

BOUND = 9  # the largest whole-number weight of a row
IDLE = 80  # steps without a gain before a new start
ROUNDING = fmpq(1, 10**8)
"""Shares this near to 1 count as 1: they may be the distance between an optimum's certified bounds."""

_, TREE, REPLACED, PATHS, *OTHERS = of_depth(2)
DRAFTS: tuple[Scheme, ...] = (TREE, PATHS, REPLACED, *OTHERS, Chain(3))
"""Default drafts of the search: the first that the rules are made for."""

Rows = dict[Key, list[int]]
"""Whole-number weights of every row."""


@dataclass
class Worst:
    """The best found so far: an instance, the share of tokens there, and the number of instances tried."""

    instance: Instance | None = None
    share: fmpq = ONE
    tried: int = 0
    interrupted: bool = False


OPTIMA: dict[str, Callable[[Instance], fmpq]] = {
    "stateless": lambda instance: best_stateless(instance).lower,
    "full-information": best_full,
}
"""What may stand for the better rule, by name; where it is not exact, a certified lower bound."""


def tokens(instance: Instance, name: str) -> fmpq:
    """The tokens that a call emits by a rule or an optimum; on one level, a node's acceptance.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.instance import context_free
    >>> toy = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(2))
    >>> tokens(toy, "token"), tokens(toy, "block"), tokens(toy, "stateless")
    (19/9, 20/9, 20/9)
    """
    accepted = OPTIMA[name](instance) if name in OPTIMA else expected(instance, named(name))
    return accepted + (instance.draft.depth > 1)


def share(instance: Instance, rule: str, against: str) -> fmpq:
    """The tokens of `rule` over those of `against`; 1 where the latter emits none."""
    best = tokens(instance, against)
    return tokens(instance, rule) / best if best > 0 else ONE


def search(
    rule: str,
    against: str,
    draft: Scheme,
    vocab: int,
    seconds: float,
    seed: int = 0,
    start: Instance | None = None,
    progress: Callable[[Worst], object] = lambda found: None,
) -> Worst:
    """Hill climbing over rows of small whole-number weights from random starts, of which half do not depend
    on the context, or from the rows of `start`, an instance of that draft; then the witness is made simpler
    as long as its share stays.

    `progress` is called with each new best. A KeyboardInterrupt ends the search and returns the best so far.
    Raises BadInput if a rule is not made for the draft.
    """
    begun = monotonic()
    found, rng = Worst(), Random(seed)
    for each in rules_of(rule, against):
        must_fit(each, [draft])

    def share_of(instance: Instance) -> fmpq:
        now = share(instance, rule, against)
        found.tried += 1
        if found.instance is None or now < found.share:
            found.instance, found.share = instance, now
            progress(found)
        return now

    def of(rows: Rows) -> fmpq:
        exact = {key: weighted(weights) for key, weights in rows.items()}
        return share_of(assembled(exact, vocab, draft, "found"))

    try:
        if start is not None:
            share_of(start)
        while not found.tried or monotonic() < begun + seconds * 0.8:
            rows = drawn(rng, draft, vocab, context_free=rng.random() < 0.5)
            here, idle = of(rows), 0
            while idle < IDLE and monotonic() < begun + seconds * 0.8:
                moved = moves(rng, rows if rng.random() < 0.6 else moves(rng, rows))
                now = of(moved)
                idle = 0 if now < here else idle + 1
                if now <= here:
                    rows, here = moved, now
        if found.instance is not None and found.share < ONE - ROUNDING:
            as_bad = lambda each: each.draft == draft and share(each, rule, against) <= found.share  # noqa: E731
            found.instance = shrink(found.instance, as_bad, seconds * 0.2)
            found.share = share(found.instance, rule, against)
    except KeyboardInterrupt:
        found.interrupted = True
    return found


def drawn(rng: Random, draft: Scheme, vocab: int, context_free: bool) -> Rows:
    """Random weights of every row above the draft's depth; the target's rows at that depth do not matter."""
    above = prefixes(vocab, 0 if context_free else draft.depth - 1)
    return {(which, prefix): _weights(rng, vocab) for prefix in above for which in "pq"}


def moves(rng: Random, rows: Rows) -> Rows:
    """The rows with one of them redrawn or taken from another place, or one or two of its weights changed."""
    key = rng.choice(list(rows))
    row = list(rows[key])
    kind, at, other = rng.random(), rng.randrange(len(row)), rng.randrange(len(row))
    if kind < 0.1:
        row = _weights(rng, len(row))
    elif kind < 0.25:  # p = q, or another context's row
        row = list(rows[("q" if key[0] == "p" else "p", key[1]) if kind < 0.18 else rng.choice(list(rows))])
    elif kind < 0.35:
        row[at], row[other] = row[other], row[at]
    else:
        for place in {at, other} if kind < 0.55 else {at}:
            row[place] = rng.choice(
                [0, max(0, row[place] - 1), min(BOUND, row[place] + 1), rng.randint(0, BOUND)]
            )
    return {**rows, key: row if any(row) else _weights(rng, len(row))}


def usual(*names: str) -> Scheme:
    """The default draft of the search: the first that every rule of these names is made for."""
    rules = rules_of(*names)
    return next((each for each in DRAFTS if all(each.label in rule.drafts for rule in rules)), DRAFTS[-1])


def rules_of(*names: str) -> list[Verifier]:
    """The rules among names of rules and optima; BadInput for a name of neither."""
    return [named(name) for name in names if name not in OPTIMA]


def _weights(rng: Random, vocab: int) -> list[int]:
    while not any(weights := [rng.choice((0, 1, 1, rng.randint(1, BOUND))) for _ in range(vocab)]):
        pass
    return weights


NODE = {("specinfer", optimum) for optimum in ("optimal", "optimal-transport", "stateless")}


def most(rule: str, against: str, draft: Scheme) -> fmpq | None:
    """A number that tokens of `against` over those of `rule` (on one level: acceptance) never exceed on this
    draft, for any p and q; None where no bound is known.

    >>> from draftproof.theory.drafts.chain import Chain
    >>> most("token", "block", Chain(1)), most("token", "rrs", Chain(3))
    (1, None)
    """
    if draft.kind == "chain" and rule == "token" and against in ("block", "stateless"):
        return token_against_block(draft.depth) if draft.depth in NEAR else None
    if draft.kind == "chain" and draft.depth <= 2 and (rule, against) == ("block", "full-information"):
        return token_against_block(draft.depth)  # the same supremum
    if isinstance(draft, Tree) and draft.replacement and draft.depth == 1 and (rule, against) in NODE:
        return 1 / recursive_against_optimum(len(draft.shape))
    return None


def recursive_against_optimum(k: int) -> fmpq:
    """The least share of alpha* that recursive rejection of k i.i.d. siblings accepts, in millionths, rounded
    down. What is lost, the maximum of x^k - x^(2k-1), has a rational power k - 1: so the comparison is exact.

    >>> float(recursive_against_optimum(2)), 23 / 27
    (0.851851, 0.8518518518518519)
    """
    if k == 1:
        return ONE
    power = fmpq(k - 1, 2 * k - 1) ** (k - 1) * fmpq(k, 2 * k - 1) ** k
    return next(fmpq(n, 10**6) for n in range(10**6, 0, -1) if (1 - fmpq(n, 10**6)) ** (k - 1) >= power)


@click.command()
@click.argument("rule")
@click.option("--against", default="stateless", help="The better rule, stateless or full-information.")
@click.option("--draft", help="The draft, as in an instance file [default: the first that the rules take].")
@click.option("--vocab", type=click.IntRange(1, 8), default=3, show_default=True)
@click.option("--start", type=click.Path(path_type=Path), help="Begin at this instance, with its draft.")
@click.option("--seconds", type=click.FloatRange(0.1), default=20.0, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
def main(
    rule: str, against: str, draft: str | None, vocab: int, start: Path | None, seconds: float, seed: int
) -> None:
    """Search for the instance where RULE costs most, and print it as an instance file, also after Ctrl-C."""
    if not isfinite(seconds):
        raise BadInput(f"--seconds must be a number of seconds, not {seconds}")
    given = read(start) if start else None
    if given and draft:
        raise BadInput("an instance has its own draft: no --draft")
    scheme = given.draft if given else draft_of(draft) if draft else usual(rule, against)
    with screen.console(stderr=True).status("searching") as status:

        def progress(found: Worst) -> None:
            share = float(found.share)
            status.update(f"{rule}: {share:.4f} of {against} after {found.tried:,} instances")

        found = search(rule, against, scheme, given.vocab if given else vocab, seconds, seed, given, progress)
    if found.instance is not None:
        click.echo(json.dumps(document(found.instance)))
        some, bound = found.share < 1 - ROUNDING, most(rule, against, found.instance.draft)
        price = (
            "no gap found" if not some else f"price {shown(1 / found.share)}" if found.share else "no bound"
        )
        proved = "" if bound is None else f", at most {float(bound):.6f} for all p and q"
        click.echo(f"{rule} against {against}: {price}{proved}; {found.tried:,} instances tried", err=True)
    sys.exit(130 if found.interrupted else 0)


if __name__ == "__main__":
    try:
        main()
    except BadInput as error:
        sys.exit(f"error: {error}")
