"""Laws over keys: which rules lose the law under a watermark, what repairs them, what strength costs."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import combinations, pairwise, product

from flint import fmpq

from draftproof.proofs_check.claims.checks import found_in, refuted_on
from draftproof.simulators.instances.files import read
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.decode import decode
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.laws.verdicts.keys import given_keys, judge_keys, texts
from draftproof.simulators.support.files import SHIPPED
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.names import scheme
from draftproof.theory.instance import Instance
from draftproof.theory.keys import SCHEMES, keys
from draftproof.theory.law import law_of
from draftproof.theory.rows import Row, meet, total
from draftproof.theory.selection import named as rule
from draftproof.theory.selection.batch import Batch
from draftproof.theory.targets.processors import Mask, Processed
from draftproof.theory.verifiers import named

TREE = scheme("tree+:[[[]],[]]")
VERIFIERS = {"token": Chain(2), "block": Chain(2), "traversal": TREE, "specinfer": TREE, "priority": TREE}
VERIFIERS["hsd-released"] = Chain(2)
KEYED = [name for name, keyed in SCHEMES.items() if not keyed.rows]
COUNT = 24
"""Random instances of each draft."""

Case = tuple[Instance, str, str]
"""An instance, a verifier and the words of a setting."""


WATERMARKED, LOOKED_BACK, BRACKETS = (
    read(SHIPPED / f"docs/{name}.json") for name in ("watermark", "lookback", "grammar")
)


def follows(case: Case) -> bool:
    """Whether the first four tokens follow the target over keys."""
    instance, verifier, words = case
    return judge_keys(instance, named(verifier), keys(words), 4)[0].lossless


def _cases(fresh: str, verifiers: Iterable[str] = VERIFIERS) -> Iterator[Case]:
    for verifier, name in product(verifiers, KEYED):
        for instance in Randoms(VERIFIERS[verifier], 2, COUNT):
            yield instance, verifier, f"{name},{fresh}"


def _once(case: Case) -> bool:
    # The steps of the argument: no name is read twice, and then keyed coins do what fresh ones do, with a
    # lossy verifier too.
    instance, verifier, words = case
    law, _, again = texts(instance, named(verifier), keys(words), 3)
    return not again and law == decode(instance, named(verifier), 3, 3).first(3)


def _of_the_seed(verifier: str) -> Callable[[tuple[Instance | Batch, ...]], bool]:
    # Whether with coins keyed by their place the text is a function of the key, whatever the drafter, the
    # length of its drafts and the companions.
    setting = replace(SCHEMES["gumbel"], accept="R", deduplicate="none", width=9)

    def holds(cases: tuple[Instance | Batch, ...]) -> bool:
        each = given_keys(cases, named(verifier), setting, 2)
        return all(len(laws[0]) == 1 and len({*laws}) == 1 for _, laws in each)

    return holds


def _drafters() -> Iterator[tuple[Instance | Batch, ...]]:
    for a, b in pairwise(Randoms(Chain(2), 2, COUNT // 3)):
        beside = Batch((b, a), rule("tetris"), 2)
        yield a, replace(b, target=a.target), replace(a, draft=Chain(1)), beside


def _is_match(instance: Instance) -> bool:
    one_key = replace(SCHEMES["dual-key"], extra="A")
    shared, _ = judge_keys(instance, named("sampling-match"), one_key, 1)
    return shared.expected_accepted == judge(instance, named("gls")).expected_accepted


HALVES: list[Row] = [tuple(fmpq(x != without, 2) for x in range(3)) for without in range(3)]
"""Three rows at V = 3, each even on two tokens."""


def _agree(rows: list[Row]) -> bool:
    # Whether some value of the key makes as many pairs of tokens agree as 1 - TV of the pairs in sum: the sum
    # is a mean over keys, so that it is at most the largest.
    overlaps = sum((total(meet(p, q)) for p, q in combinations(rows, 2)), fmpq(0))
    ways = product(*([x for x, mass in enumerate(row) if mass] for row in rows))
    return max(sum(x == y for x, y in combinations(way, 2)) for way in ways) >= overlaps


def _conditional(instance: Instance) -> bool:
    local = instance.target
    masks = [replace(each, whole=6) for each in getattr(local, "processors", ()) if isinstance(each, Mask)]
    return law_of(local, 6).total_variation(law_of(Processed(local, masks), 6)) < fmpq(996, 1000)


CHECKS = {
    "keys-block-committed": refuted_on((WATERMARKED, "block", "dual-key"), follows),
    "keys-node-by-node": found_in(lambda: _cases("committed", ("token", "specinfer", "priority")), follows),
    "keys-budget-discarded": refuted_on((LOOKED_BACK, "token", "dual-key,lookback"), follows),
    "keys-read-once": found_in(lambda: _cases("drafted"), _once),
    "keys-of-the-seed": found_in(_drafters, _of_the_seed("sampling-match")),
    "keys-of-the-seed-rejection": refuted_on(
        (WATERMARKED, replace(WATERMARKED, draft=Chain(1))),
        lambda pair: any(_of_the_seed(name)(pair) for name in ("token", "block", "traversal", "priority")),
    ),
    "keys-gls-is-one-coin": found_in(lambda: Randoms(Chain(1), 3, COUNT), _is_match),
    "keys-strength-and-overlap": refuted_on(HALVES, _agree),
    "masks-conditional": refuted_on(BRACKETS, _conditional),
}
