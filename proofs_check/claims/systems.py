"""Systems that claim to keep the law: cascades, prepared drafts, product rows, HSD on EAGLE-3's trees."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from draftproof.proofs_check.claims.checks import by_depth, found_in, refuted_on
from draftproof.proofs_check.claims.claim import REFUTED, Claim, unrefuted
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.systems.cascade import cascade
from draftproof.theory.systems.hsd_eagle import SMALLEST, VERIFIER
from draftproof.theory.systems.prepared import ARGMAX_MATCH, Prepared
from draftproof.theory.table import Table
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import named

TOKEN, BLOCK = named("token"), named("block")
COUNT = 60
"""Random instances of each vocabulary."""


def lossless(case: tuple[Instance, Verifier]) -> bool:
    """Whether one call of the verifier is lossless on the instance."""
    return judge(*case, 1).lossless


def first_kept(case: tuple[Instance, Verifier]) -> bool:
    """Whether the first token is always accepted too."""
    return lossless(case) and not emission(*case).stopped.get(0)


def _product_rows() -> Iterator[tuple[Instance, Verifier]]:
    trees = Tree((((),), ((),)))
    for vocab in (2, 3):
        for instance in Randoms(Chain(2), vocab, COUNT):
            yield by_depth(instance), TOKEN
            yield by_depth(instance), BLOCK
        for instance in Randoms(trees, vocab, COUNT):
            yield by_depth(instance), named("traversal")


def _any_subset() -> Iterator[tuple[Instance, Verifier]]:
    for vocab in (2, 3):
        for instance in Randoms(Chain(3 if vocab == 2 else 2), vocab, COUNT):
            yield by_depth(instance, first=True), TOKEN
            yield by_depth(instance, first=True), BLOCK


def _middles(vocab: int) -> Iterator[tuple[Instance, Table]]:
    # Instances, each with a middle model: the target of another.
    several = Randoms(Chain(2), vocab, COUNT)
    for n, instance in enumerate(several):
        yield instance, several[(n + 1) % COUNT].target


def _cascades() -> Iterator[tuple[Instance, Verifier]]:
    for instance, middle in _middles(2):
        for inner, outer in product((TOKEN, BLOCK), repeat=2):
            yield instance, cascade(middle, inner, outer)
    for instance, middle in _middles(3):
        yield instance, cascade(middle, TOKEN, TOKEN)


EVEN = Table.exact(2, {(): ["1/2", "1/2"]})
TOY = context_free(["1/3", "2/3"], ["2/3", "1/3"], Chain(1))


def _prepared() -> Iterator[tuple[Instance, Verifier]]:
    for vocab in (2, 3):
        for instance, other in _middles(vocab):
            for verifier in (TOKEN, BLOCK):
                yield replace(instance, draft=Prepared(2, other, own_rows=True)), verifier


CLAIMS = (
    Claim(
        "product-rows-lossless",
        "Drafts of product rows, which depend on the depth alone as block-diffusion drafters' do, are "
        "verified exactly by token, block and traversal verification.",
        "ringel2026ddtree, Section 2",
        "chains of 2, two paths of 2 without replacement, V = 2 and 3",
        found_in(_product_rows, lossless),
        unrefuted(360),
        seconds=2,
    ),
    Claim(
        "assd-first-token",
        "With product rows and q_1 = p_1 token and block verification are lossless, and the first token is "
        "always accepted.",
        "guo2025anysubset, any-subset speculative decoding",
        "chains of 3 at V = 2 and of 2 at V = 3",
        found_in(_any_subset, first_kept),
        unrefuted(240),
        seconds=2,
    ),
    Claim(
        "cascade-lossless",
        "In a cascade of three models, whose middle one verifies the drafter and drafts for the target, "
        "token and block verification at both levels are lossless.",
        "our derivation; docs/targets.md",
        "chains of 2, V = 2 and 3",
        found_in(_cascades, lossless),
        unrefuted(300),
        seconds=3,
    ),
    Claim(
        "cascade-drafter-rows",
        "A cascade may hand on the drafter's rows for those of its tokens that the inner level accepted.",
        "our derivation; docs/targets.md",
        "one drafted token, V = 2",
        refuted_on((TOY, cascade(EVEN, TOKEN, TOKEN, rows_of="drafter")), lossless),
        REFUTED,
        note="p = (1/3, 2/3), middle even, q = (2/3, 1/3): the inner level emits the middle model's law",
    ),
    Claim(
        "cascade-inner-lossy",
        "A cascade may have a lossy inner level, as the outer level verifies its tokens.",
        "our derivation; docs/targets.md",
        "two drafted tokens, V = 2",
        refuted_on((replace(TOY, draft=Chain(2)), cascade(EVEN, named("hsd-released"), TOKEN)), lossless),
        REFUTED,
        note="HSD as released below token verification, on the same rows",
    ),
    Claim(
        "prepared-lossless",
        "A draft that was prepared for another context is verified exactly if the verifier is told the rows "
        "that it was drawn from; a hit and a draft drawn anew are ordinary drafts.",
        "kumar2026ssd, cache misses",
        "chains of 2, V = 2 and 3",
        found_in(_prepared, lossless),
        unrefuted(240),
        seconds=2,
    ),
    Claim(
        "prepared-stale",
        "After a miss the prepared tokens may be verified with the drafter's rows of the true context.",
        "kumar2026ssd, cache misses",
        "one drafted token, V = 2",
        refuted_on((replace(TOY, draft=Prepared(1, EVEN, own_rows=False)), TOKEN), lossless),
        REFUTED,
        note="p = (1/3, 2/3), q = (2/3, 1/3), drawn from an even row",
    ),
    Claim(
        "ssd-argmax-match",
        "Where no hit is reported, a draft may be compared with the target's likeliest token and a rejected "
        "one replaced by a draw from p, at temperatures above 0.",
        "kumar2026ssd, released code (ssd/utils/verify.py)",
        "one drafted token, V = 2",
        refuted_on((context_free(["1/2", "1/2"], [1, 0], Chain(1)), ARGMAX_MATCH), lossless),
        REFUTED,
        note="p even, q = (1, 0): token 0 always, a total variation of 1/2",
    ),
    Claim(
        "hsd-eagle-lossless",
        "HSD on EAGLE-3's deterministic trees, as released, is lossless.",
        "zhou2026hsd, repository (EAGLE-3H, evaluate_posterior)",
        "a token with two children of one child each, V = 3",
        refuted_on((context_free(["1/3"] * 3, ["1/3"] * 3, TopK(SMALLEST)), VERIFIER), lossless),
        REFUTED,
        note="p even: tokens 0 1 come out with 1/17 for 1/9. The second path has two tokens below the shared "
        "one, and is judged with the ratio that the first left behind",
    ),
)
