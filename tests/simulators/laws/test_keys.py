"""Laws over keys: schemes by verifiers, the findings, and settings that are broken on purpose."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from runpy import run_path

import pytest
from flint import fmpq

from draftproof.simulators.laws.decode import decode
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.laws.verdicts.keys import given_keys, judge_keys, texts
from draftproof.theory.drafts.names import scheme as draft
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.keys import SCHEMES, keys
from draftproof.theory.keys.keyed import CONTEXTS, Keyed, won
from draftproof.theory.keys.tournament import bits
from draftproof.theory.numbers import exact
from draftproof.theory.rows import normalise
from draftproof.theory.selection import named as selection
from draftproof.theory.selection.batch import Batch
from draftproof.theory.shared.coins import Coins
from draftproof.theory.table import Table
from draftproof.theory.verifiers import VERIFIERS as ALL
from draftproof.theory.verifiers import named

DOCS = Path(__file__).parents[3] / "docs"
TREE = "tree+:[[[]],[]]"
VERIFIERS = {"token": "chain:2", "block": "chain:2", "traversal": TREE, "specinfer": TREE, "priority": TREE}


def instance(seed, spelled="chain:2", vocab=2, most=4):
    """Rows by the last token, of small random weights."""
    rng = Random(seed)

    def rows():
        def row():
            weights = [rng.randint(1, most) for _ in range(vocab)]
            return [fmpq(w, sum(weights)) for w in weights]

        return Table.exact(vocab, {prefix: row() for prefix in ((), *((x,) for x in range(vocab)))})

    return Instance(rows(), rows(), draft(spelled))


def of_rows(p, q, spelled="chain:2"):
    """An instance of p(0) and q(0), at the start, after 0 and after 1."""
    tables = [
        Table.exact(2, {at: [x, 1 - exact(x)] for at, x in zip(((), (0,), (1,)), row, strict=True)})
        for row in (p, q)
    ]
    return Instance(tables[0], tables[1], draft(spelled))


@pytest.mark.parametrize("deduplicate", CONTEXTS)
@pytest.mark.parametrize("name", [name for name, scheme in SCHEMES.items() if not scheme.rows])
@pytest.mark.parametrize("verifier", VERIFIERS)
def test_what_is_declared_lossless_is(verifier, name, deduplicate):
    setting = keys(f"{name},{deduplicate}")
    rule = named(verifier)
    for seed in range(3):
        found, _ = judge_keys(instance(seed, VERIFIERS[verifier]), rule, setting, 3)
        assert found.lossless or not found.declared
        if deduplicate == "drafted":
            assert found.declared
            assert found.again == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, scheme in SCHEMES.items() if scheme.rows])
@pytest.mark.parametrize("verifier", VERIFIERS)
def test_rows_that_are_changed_are_a_target_whatever_the_verifier(verifier, name):
    given = instance(1, VERIFIERS[verifier])
    for deduplicate in CONTEXTS:
        found, _ = judge_keys(given, named(verifier), keys(f"{name},{deduplicate}"), 2)
        assert found.lossless or not found.declared
        assert found.declared or deduplicate != "committed"
        assert found.again == 0


def test_three_tokens_of_vocabulary_three():
    for given in (THREE, instance(5, "chain:1", vocab=3)):
        assert judge_keys(given, named("token"), keys("dual-key"), 2)[0].lossless
    assert judge_keys(THREE, named("token"), ONE_KEY, 1)[0].total_variation == fmpq(1, 30)


def test_without_keys_it_is_decoding_as_it_was():
    given, rule = instance(2), named("hsd-released")
    fresh = replace(SCHEMES["gumbel"], extra="")
    assert texts(given, rule, fresh, 3)[0] == decode(given, rule, 3, 3).first(3)


BLOCK = of_rows(["1/2", "1/2", "1/2"], [0, 0, "2/3"])
FIFTHS = of_rows(["3/5", "4/5", "1/5"], ["1/5", "2/5", "3/5"])
LOOKBACK = of_rows(["1/5", "1/5", "4/5"], ["4/5", "1/5", "4/5"])


@pytest.mark.parametrize(
    ("given", "verifier", "words", "tokens", "distance"),
    [
        (BLOCK, "block", "dual-key", 2, "1/32"),
        (BLOCK, "block", "dual-key,drafted", 2, "0"),
        (BLOCK, "token", "dual-key", 2, "0"),
        (FIFTHS, "block", "dual-key", 4, "1708/16875"),
        (FIFTHS, "block", "dual-key,drafted", 4, "0"),
        (LOOKBACK, "token", "dual-key,lookback", 4, "288/3125"),
        (LOOKBACK, "token", "dual-key,lookback,drafted", 4, "0"),
        (LOOKBACK, "token", "gumbel,lookback", 4, "0"),
    ],
)
def test_the_findings(given, verifier, words, tokens, distance):
    found, _ = judge_keys(given, named(verifier), keys(words), tokens)
    assert found.total_variation == fmpq(*map(int, distance.split("/")))
    assert found.declared == found.lossless


@pytest.mark.parametrize(
    ("verifier", "words", "distance"),
    [
        ("block", "dual-key", "47/4096"),
        ("block", "dual-key,drafted", "0"),
        ("token", "dual-key", "0"),
        ("token", "dual-key,lookback", "5/256"),
        ("token", "dual-key,lookback,drafted", "0"),
        ("token", "keyed-acceptance", "0"),
        ("block", "gumbel", "0"),
    ],
)
def test_the_findings_at_three_tokens_with_gumbel_max(command, verifier, words, distance):
    file = DOCS / "watermark-three.json"
    asked = ("--verifier", verifier, "--keys", words, "--iterations", 4, "--json")
    status, out, _ = command("law", file, *asked)
    assert (status, json.loads(out)["total_variation"]) == (int(distance != "0"), distance)
    assert distance in (DOCS / "keys.md").read_text(encoding="utf-8")


PLACED = replace(SCHEMES["gumbel"], accept="R", deduplicate="none", width=9)
MATCH = named("sampling-match")


def beside():
    """A request alone, with another drafter, with shorter drafts, and in two batches with selection."""
    a, b, c = (instance(seed) for seed in (1, 2, 3))
    batches = [Batch((other, a), selection("tetris"), 2) for other in (b, c)]
    return [a, replace(b, target=a.target), replace(a, draft=draft("chain:1")), *batches]


def of_the_seed(rule, cases):
    each = given_keys(cases, rule, PLACED, 1)
    return all(len({*laws}) == 1 and len(laws[0]) == 1 for _, laws in each)


def test_with_keys_by_place_a_text_is_a_function_of_the_key_whatever_is_beside_it():
    assert of_the_seed(MATCH, beside())
    assert not of_the_seed(named("token"), beside()[:2])
    assert not of_the_seed(named("token"), beside()[3:])


class OfANeighbour(Coins):
    """Takes the coin that was read last by anybody, a neighbour's in a batch, else its own."""

    last = None

    def choose(self, row, name):
        before, self.last = self.last or name, name
        return super().choose(row, before)


class Streamed(Coins):
    """One generator for all requests: its numbers are named by how many were drawn before."""

    drawn = 0

    def choose(self, row, name):
        self.drawn += 1
        return super().choose(row, ("stream", self.drawn))


@pytest.mark.parametrize("broken", [OfANeighbour, Streamed])
def test_a_text_that_depends_on_its_neighbours_coins_is_refused(broken, monkeypatch):
    monkeypatch.setattr("draftproof.simulators.laws.verdicts.keys.Coins", broken)
    alone, *_, first, second = beside()
    assert of_the_seed(MATCH, [alone])
    assert not of_the_seed(MATCH, [alone, first, second])


def test_a_keyed_acceptance_coin_makes_the_text_a_function_of_the_keys():
    given = instance(3)
    for verifier in ("token", "block"):
        rule = named(verifier)
        laws = list(given_keys([given], rule, keys("keyed-acceptance"), 1))
        assert all(len(law) == 1 for _, (law,) in laws)
        assert sum(mass for mass, _ in laws) == 1
        found, _ = judge_keys(given, rule, keys("keyed-acceptance"), 1, measured=True)
        assert found.strength == pytest.approx(found.most, abs=1e-12)
        assert found.expected_accepted == judge(given, rule).expected_accepted


def test_strength_is_bought_with_acceptance_on_the_curve():
    given = of_rows(["1/2"] * 3, ["1/4"] * 3)
    curve = [judge_keys(given, named("token"), keys(f"linear:{a}"), 1, True)[0] for a in ("0", "1/2", "1")]
    strengths = [each.strength or 0.0 for each in curve]
    assert strengths == sorted(strengths)
    assert curve[0].strength == 0
    assert curve[-1].strength == pytest.approx(curve[-1].most)
    extra, both = (judge_keys(given, named("token"), keys(s), 1, True)[0] for s in ("gumbel", "dual-key"))
    assert (extra.strength or 0.0) < (both.strength or 0.0)


@dataclass(frozen=True)
class Longer(Keyed):
    """Looks for a repetition of a longer context than the one that names the coin."""

    def fresh(self, context, prefix, read):
        longer = prefix[-2:]
        return longer in {prefix[:n][-2:] for n in range(len(prefix))}


@dataclass(frozen=True)
class Recent(Longer):
    """Looks one position back only."""

    def fresh(self, context, prefix, read):
        return bool(prefix) and self.context(prefix[:-1]) == context


@dataclass(frozen=True)
class Committed(Longer):
    """Looks for the context in the text, and forgets what the draft itself has added."""

    start = 1

    def fresh(self, context, prefix, read):
        return context in {self.context(prefix[:n]) for n in range(len(prefix) - self.start)}


@dataclass(frozen=True)
class ByPosition(Longer):
    """A coin is named by its position in the text alone, which a later call draws again."""

    def context(self, prefix):
        return (len(prefix),)

    def fresh(self, context, prefix, read):
        return False


@dataclass(frozen=True)
class Stale(Longer):
    """Gumbel-max whose clocks are named by the context of one position before, which are read again."""

    def context(self, prefix):
        return super().context(prefix[:-1])

    def fresh(self, context, prefix, read):
        return Keyed.context(self, prefix) in {Keyed.context(self, prefix[:n]) for n in range(len(prefix))}


def product_of_uniforms(coins, row, name, parameter=None):
    """The token with the largest u p, not u^(1/p), at two tokens: the likelier one wins too often."""
    p, q = row
    wins = p / (2 * q) if p < q else 1 - q / (2 * p)
    return won(coins, (wins, 1 - wins), name)


def shortest(coins, row, name, parameter=None):
    """The least clock, whatever the row: argmax of the noise alone among the tokens that can be drawn."""
    return won(coins, normalise(tuple(mass**0 if mass else mass for mass in row)), name)


def skewed(coins, row, name, parameter=None):
    """A tournament's layer that divides by the mass instead of taking the mean bit away."""
    g = bits(coins, row, name)
    return normalise(tuple(mass * (1 + bit) for mass, bit in zip(row, g, strict=True)))


DUAL, ACCEPTING, ROWS = SCHEMES["dual-key"], SCHEMES["keyed-acceptance"], SCHEMES["tournament"]
ONE_KEY = replace(DUAL, extra="A", deduplicate="drafted")
THREE = context_free(["1/3"] * 3, ["2/3", "1/4", "1/12"], draft("chain:1"))
BROKEN = {
    "a repeated context is drawn again": (keys("dual-key,none"), "token", LOOKBACK),
    "discarded drafts under block verification": (DUAL, "block", BLOCK),
    "discarded drafts under traversal": (DUAL, "traversal", instance(0, TREE)),
    "deduplication by a longer context": (Longer(**vars(DUAL)), "token", LOOKBACK),
    "deduplication looks one position back": (Recent(**vars(DUAL)), "token", LOOKBACK),
    "deduplication forgets the draft's own tokens": (Committed(**vars(DUAL)), "token", LOOKBACK),
    "coins by position alone, block": (ByPosition(**vars(DUAL)), "block", FIFTHS),
    "clocks of the wrong context": (Stale(**vars(DUAL)), "token", LOOKBACK),
    "argmax of u p": (replace(DUAL, change=product_of_uniforms), "token", LOOKBACK),
    "clocks that no row divides": (replace(DUAL, change=shortest), "token", THREE),
    "one key for draft and recovery": (ONE_KEY, "token", THREE),
    "acceptance by the draft's key": (
        replace(ACCEPTING, accept="A", deduplicate="drafted"),
        "token",
        LOOKBACK,
    ),
    "acceptance by the recovery's key": (
        replace(ACCEPTING, accept="B", deduplicate="drafted"),
        "token",
        THREE,
    ),
    "a budget by discarded drafts": (keys("dual-key,lookback"), "token", LOOKBACK),
    "a tournament that is not fair": (replace(ROWS, change=skewed), "token", LOOKBACK),
    "green lists as if they followed p": (replace(SCHEMES["green"], law=None), "token", LOOKBACK),
    "acceptance coins of discarded nodes": (replace(ACCEPTING, draft="", extra=""), "block", instance(7)),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_setting_is_found(fault):
    setting, verifier, given = BROKEN[fault]
    tokens = 1 if given is THREE else 4 if given in (LOOKBACK, FIFTHS) else 3
    assert not judge_keys(given, named(verifier), setting, tokens)[0].lossless


def test_what_cannot_be_judged_is_one_line():
    with pytest.raises(BadInput, match="keeps state between calls"):
        texts(BLOCK, named("greedy-block"), keys("gumbel"), 2)


def test_coins_without_a_key_need_no_deduplication():
    assert Keyed("fresh", "ours", deduplicate="none").declared(named("block"))


@pytest.mark.slow
def test_the_page_has_the_table_as_it_is():
    page = DOCS / "keys.md"
    made = run_path(str(page.with_name("keys_table.py")))["table"]()
    assert made in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(("scheme", "cell"), [("dual-key", "92/1125"), ("keyed-acceptance", "14/125")])
def test_a_cell_of_the_table_is_what_its_command_says(command, scheme, cell):
    file = DOCS / "watermark.json"
    words = ("--verifier", "block", "--keys", scheme, "--iterations", 3, "--json")
    status, out, _ = command("law", file, *words)
    assert (status, json.loads(out)["total_variation"]) == (1, cell)
    assert f"`{scheme}`" in (page := file.with_name("keys.md").read_text(encoding="utf-8"))
    assert cell in page


@pytest.mark.slow
@pytest.mark.parametrize("spelled", ["chain:2", TREE, "tree:[[[]],[]]"])
def test_every_verifier_that_is_lossless_with_fresh_coins_is_under_keys_as_declared(spelled):
    judged = 0
    for rule in ALL.values():
        if draft(spelled).label in rule.drafts and rule.lossless and not (rule.carry or rule.rounding):
            for words in ("dual-key", "keyed-acceptance", "dual-key,drafted", "keyed-acceptance,drafted"):
                found, _ = judge_keys(instance(0, spelled), rule, keys(words), 3)
                assert found.lossless or not found.declared
                assert found.declared or "drafted" not in words
            judged += 1
    assert judged >= 8
