"""Laws over keys: schemes by verifiers, the findings, and settings that are broken on purpose."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from runpy import run_path

import pytest
from flint import fmpq

from draftproof.simulators.laws.decode import decode
from draftproof.simulators.laws.keys import given_keys, judge_keys, texts
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts.names import scheme as draft
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.keys import SCHEMES, keys
from draftproof.theory.keys.keyed import CONTEXTS, Keyed, Keys
from draftproof.theory.keys.tournament import lists
from draftproof.theory.numbers import exact
from draftproof.theory.rows import normalise
from draftproof.theory.table import Table
from draftproof.theory.verifiers import VERIFIERS as ALL
from draftproof.theory.verifiers import named

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
@pytest.mark.parametrize("name", [name for name, scheme in SCHEMES.items() if scheme.rows is None])
@pytest.mark.parametrize("verifier", VERIFIERS)
def test_what_is_declared_lossless_is(verifier, name, deduplicate):
    setting = keys(f"{name},{deduplicate}")
    rule = named(verifier)
    for seed in range(3):
        found, _ = judge_keys(instance(seed, VERIFIERS[verifier]), rule, setting, 3)
        assert found.lossless or not found.declared
        if deduplicate == "drafted" and name != "one-key":
            assert found.declared
            assert found.again == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, scheme in SCHEMES.items() if scheme.rows is not None])
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
        assert judge_keys(given, named("token"), keys("tournament"), 2)[0].lossless
    assert judge_keys(THREE, named("token"), keys("one-key"), 1)[0].total_variation == fmpq(1, 12)


def test_without_keys_it_is_decoding_as_it_was():
    given, rule = instance(2), named("hsd-released")
    fresh = replace(SCHEMES["gumbel"], extra="")
    assert texts(given, rule, Keys(fresh), 3).law == decode(given, rule, 3, 3).first(3)


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
    assert [each.strength for each in curve] == sorted(each.strength for each in curve)
    assert curve[0].strength == 0
    assert curve[-1].strength == pytest.approx(curve[-1].most)
    extra, both = (judge_keys(given, named("token"), keys(s), 1, True)[0] for s in ("gumbel", "dual-key"))
    assert extra.strength < both.strength


@dataclass(frozen=True)
class Longer(Keys):
    """Looks for a repetition of a longer context than the one that names the coin."""

    def fresh(self, context, prefix, read):
        longer = prefix[-2:]
        return longer in {prefix[:n][-2:] for n in range(len(prefix))}

    def forgets(self, context, text, read):
        return False


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


def skewed(coins, row, name, parameter=None):
    """A tournament's layer that divides by the mass instead of taking the mean bit away."""
    bits, shares = lists(row)
    g = bits[coins.choose(shares, name)]
    return normalise(tuple(mass * (1 + bit) for mass, bit in zip(row, g, strict=True)))


DUAL, ACCEPTING, ROWS = SCHEMES["dual-key"], SCHEMES["keyed-acceptance"], SCHEMES["tournament-rows"]
THREE = context_free(["1/3"] * 3, ["2/3", "1/6", "1/6"], draft("chain:1"))
BROKEN = {
    "a repeated context is drawn again": (Keys(DUAL, "none"), "token", LOOKBACK),
    "discarded drafts under block verification": (Keys(DUAL), "block", BLOCK),
    "discarded drafts under traversal": (Keys(DUAL), "traversal", instance(0, TREE)),
    "deduplication by a longer context": (Longer(DUAL), "token", LOOKBACK),
    "deduplication looks one position back": (Recent(DUAL), "token", LOOKBACK),
    "deduplication forgets the draft's own tokens": (Committed(DUAL), "token", LOOKBACK),
    "coins by position alone, block": (ByPosition(DUAL), "block", FIFTHS),
    "one key for draft and recovery": (keys("one-key,drafted"), "token", THREE),
    "acceptance by the draft's key": (Keys(replace(ACCEPTING, accept="A"), "drafted"), "token", LOOKBACK),
    "acceptance by the recovery's key": (Keys(replace(ACCEPTING, accept="B"), "drafted"), "token", THREE),
    "a budget by discarded drafts": (keys("dual-key,lookback"), "token", LOOKBACK),
    "a tournament that is not fair": (Keys(replace(ROWS, rows=skewed)), "token", LOOKBACK),
    "green lists as if they followed p": (Keys(replace(SCHEMES["green"], law=None)), "token", LOOKBACK),
    "acceptance coins of discarded nodes": (
        Keys(replace(ACCEPTING, draft="", extra="")),
        "block",
        instance(7),
    ),
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
    assert Keys(Keyed("fresh", "ours"), "none").declared(named("block"))


@pytest.mark.slow
def test_the_page_has_the_table_as_it_is():
    page = Path(__file__).parents[3] / "docs" / "keys.md"
    made = run_path(str(page.with_name("keys_table.py")))["table"]()
    assert made in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(("scheme", "cell"), [("dual-key", "92/1125"), ("keyed-acceptance", "14/125")])
def test_a_cell_of_the_table_is_what_its_command_says(command, scheme, cell):
    file = Path(__file__).parents[3] / "docs" / "watermark.json"
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
