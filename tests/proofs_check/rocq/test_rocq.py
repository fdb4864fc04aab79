"""The machine proofs compile, assume nothing of their own, and are about what the Python computes."""

import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from itertools import product, takewhile
from random import Random

import pytest
from flint import fmpq

from draftproof.simulators.laws.decode import decode
from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.draft import Draft, chained
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance
from draftproof.theory.table import Table
from draftproof.theory.verifiers import VERIFIERS, named
from draftproof.theory.verifiers.shared.optimal import optimal
from tests.checks import everything
from tests.proofs_check.rocq.compiled import ORDER, SOURCES, coqc, joined, needed, text_of

THEOREMS = {
    "CodeLossless": (
        "token_code_lossless",
        "block_code_lossless",
        "hsd_code_lossless",
        "specinfer_code_lossless",
        "rrs_code_lossless",
        "traversal_code_lossless",
        "nss_code_lossless",
        "one_hot_code_lossless",
        "naive_tree_code_lossless",
        "hu_greedy_code_lossless",
        "priority_code_lossless",
        "product_rows_code_lossless",
        "tree_in_order",
        "paths_in_order",
        "code_text_follows",
        "greedy_code_lossless",
    ),
    "CodeNaive": ("hsd_naive_code_lossless", "naive_is_greedy", "naive_accepts", "naive_resampled"),
    "CodeFair": ("token_code_fair", "block_code_fair", "hsd_code_fair", "traversal_code_fair"),
    "CodeAccepts": (
        "token_code_accepts",
        "block_code_accepts",
        "hsd_code_accepts",
        "traversal_code_accepts",
        "greedy_code_accepts",
    ),
    "Traversal": ("subtree_stops", "traversal_lossless", "tree_traversal_lossless", "tree_traversal_proper"),
    "RecursiveRejection": (
        "recursive_rejection_lossless",
        "tree_rejection_lossless",
        "tree_rejection_proper",
    ),
    "Paths": (
        "paths_sampled",
        "paths_rejection_lossless",
        "paths_traversal_lossless",
        "paths_rejection_proper",
        "paths_traversal_proper",
    ),
    "Chains": ("token_lossless", "block_lossless", "block_accepts"),
    "Lift": ("lift_lossless",),
    "Priority": ("priority_valid", "lifted_priority_lossless"),
    "PriorityNodes": ("priority_lossless",),
    "Optimal": (
        "go_down_lossless",
        "optimal_valid",
        "optimal_lossless",
        "lifted_optimal_lossless",
        "no_rule_keeps_more",
        "optimal_keeps_most",
    ),
    "OptimalProper": ("go_down_proper", "optimal_proper"),
    "Elimination": ("solved_solves",),
    "OptimalDownhill": ("kept_below", "test_means_best", "test_or_downhill"),
    "OptimalBalance": ("balance_balanced",),
    "OptimalSteps": ("nearest_ends",),
    "OptimalAlpha": ("nearer", "new_order", "optimal_ends", "optimal_reaches_alpha"),
    "Selection": (
        "selection_lossless",
        "token_fair",
        "block_fair",
        "batch_lossless",
        "fixed_depth_is_not_enough",
    ),
    "TopDown": (
        "nss_lossless",
        "nss_proper",
        "one_hot_lossless",
        "one_hot_proper",
        "naive_tree_lossless",
        "naive_tree_proper",
    ),
    "Texts": (
        "one_block_is_enough",
        "calls_lossless",
        "generated_follows",
        "generate_proper",
        "verifiers_text_follow",
    ),
    "Hsd": ("hsd_is_block", "hsd_lossless", "hsd_accepts_most", "hsd_proper", "hsd_text_follows"),
    "HsdFacts": (
        "set_recovered",
        "branch_asymmetry",
        "branch_recovered",
        "total_divergence",
        "child_asymmetries",
        "rate_is_capped",
        "capped_between",
        "capped_at_peaks",
        "telescoping_step",
        "telescoping",
        "least_suffix_product",
        "tail_sum",
    ),
    "HsdMeans": ("token_means", "block_means", "hsd_means"),
    "Plans": ("plan_lossless",),
    "HsdMultidraft": ("hsd_multidraft_lossless", "hsd_multidraft_proper"),
    "HsdDrawn": ("block_draws", "hsd_draws"),
    "Bounds": (
        "block_keeps_more_than_token",
        "block_keeps_less_than_both",
        "accepted_length",
        "no_rule_expects_more",
        "nothing_accepts_more",
    ),
    "Nodes": (
        "nodes_lossless",
        "judged_once_valid",
        "selected_lossless",
        "greedy_draft_lossless",
        "hu_greedy_lossless",
    ),
    "GreedyText": ("greedy_lossless", "greedy_proper"),
    "GreedyAccepts": ("greedy_accepts",),
    "MaxFlow": ("max_flow",),
    "Alpha": ("alpha_formula", "never_fails", "iid_never_fail", "distinct_accept_more"),
    "Keys": ("read_once",),
    "KSeq": ("k_seq_factor", "factor_above"),
    "KSeqPlans": ("k_seq_taken", "lifted_k_seq_taken", "k_seq_lift_lossless", "lifted_k_seq_lossless"),
    "RecursivePrice": ("recursive_price", "least_share_at"),
    "TraversalAbove": ("traversal_above_recursive",),
    "Layered": ("layered_lossless",),
    "KeyedChains": ("keyed_token_lossless", "committed_spared", "committed_token_lossless"),
    "Races": ("race_exists",),
    "Multipath": ("best_path_law", "multipath_lossless", "multipath_proper", "multipath_block_lossless"),
    "BlockOptimal": ("no_rule_accepts_more", "block_accepts_most"),
}
REALS = {"ClassicalDedekindReals.sig_forall_dec", "ClassicalDedekindReals.sig_not_dec"}
REALS |= {"FunctionalExtensionality.functional_extensionality_dep"}
"""What the standard library's real numbers assume."""

INSTANCES = 120
ITERATIONS = 2  # of verifiers that keep state, and of chains


def alike(shape):
    """Whether the subtrees of every node have equal shapes."""
    return all(below == shape[0] for below in shape) and (not shape or alike(shape[0]))


def test_every_source_is_listed_and_proves_what_it_states():
    assert {path.stem for path in SOURCES.glob("*.v")} == set(ORDER)
    for path in SOURCES.glob("*.v"):
        assert not re.search(r"\b(Admitted|admit|Axiom|Conjecture|Abort)\b", path.read_text(encoding="utf-8"))


@pytest.fixture
def compiled(library, tmp_path):
    """A folder with the compiled sources."""
    library.into(tmp_path, *ORDER)
    return tmp_path


@pytest.mark.slow
def test_the_theorems_assume_real_numbers_and_nothing_else(compiled):
    theorems = [f"{file}.{name}" for file, names in THEOREMS.items() for name in names]
    text = f"Require Import {' '.join(ORDER)}.\nDefinition all := ({', '.join(theorems)}).\n"
    (compiled / "Assumed.v").write_text(text + "Print Assumptions all.")  # one after the other takes a minute
    assumed = set(re.findall(r"^(\w+\.\w+)\s+:", coqc(compiled, "Assumed.v"), re.MULTILINE))
    assert assumed
    assert assumed <= REALS


WRONG = [
    ("Keys", "~ In n read /\\ forall x, once (n :: read) (rest x)", "forall x, once (n :: read) (rest x)"),
    ("Traversal", "share S (N.add S (N.sub N.one a))", "share S N.one"),
    ("Means", "positive (N.sub (p x) (q x))", "positive (N.sub (q x) (p x))"),
    (
        "Traversal",
        "(normalise residual) (after q_c x)",
        "(normalise residual) (if replacement then q_c else normalise q_c)",
    ),
    (
        "Lossless",
        "bind (draw rest c (after q_c x))",
        "bind (draw rest c (if replacement then q_c else normalise q_c))",
    ),
    (
        "RecursiveRejection",
        "(normalise (excess p_c q_c)) (after q_c x)",
        "(normalise (excess p_c q_c)) (if replacement then q_c else normalise q_c)",
    ),
    (
        "RecursiveRejection",
        "else recursive_rejection rest c (normalise (excess p_c q_c))",
        "else recursive_rejection rest c p_c",
    ),
    (
        "Chains",
        "if accepted then Some (c, normalise residual) else None",
        "if accepted then Some (c, p c) else None",
    ),
    ("Paths", "then Child y (insert below more) rest", "then Child y below (insert rest path)"),
    ("GreedyBlock", "(N.mul P (target c x)) (N.mul Q (q c x))", "(share (N.mul P (target c x)) N.one) Q"),
    ("GreedyBlock", "(scale P (target c)) (scale Q (q c)))", "(scale P (target c)) (q c))"),
    ("BlockOptimal", "N.mul (rows c x) (joint rows u (c ++ [x]))", "N.mul (rows c x) (joint rows u c)"),
    ("GreedyBlock", "(length c + depth)\n  else target", "(length c + depth - 1)\n  else target"),
    ("Chains", "if keep c\n      then Choose (q c)", "if keep []\n      then Choose (q c)"),
    ("Texts", "Choose r (fun y => Return (d ++ [y]))", "Choose r (fun y => Return (c ++ [y]))"),
    ("Texts", "(fun '(s, c) => calls fewer s c)", "(fun '(_, c) => calls fewer s c)"),
    ("Texts", "then Return (firstn wanted c)", "then Return c"),
    ("Selection", "if keep c then x :: kept rest", "if keep (c ++ [x]) then x :: kept rest"),
    ("Selection", "Choose (q r (start r ++ paths r))", "Choose (q r (start r))"),
    (
        "Hsd",
        "let next := N.mul R (ratio (p c x) (q c x)) in",
        "let next := N.mul R (share (p c x) (q c x)) in",
    ),
    ("Hsd", "next (maximum peak next)", "next peak"),
    ("Hsd", "(total (excess (q c) want))", "(N.add (total residual) (N.sub N.one R))"),
    ("HsdFacts", "Rmax (largest t) (J t)", "Rmax 1 (J t)"),
    ("HsdFacts", "0 <= r x) /\\ sum l r <= 1", "0 <= r x) /\\ sum l r <= 2"),
    ("HsdFacts", "prod b 0 m * prod a m (t - m).\n\n(** What", "prod b 0 m * prod a 0 (t - m).\n\n(** What"),
    ("Nodes", "| x :: top => judged_once c (off (q c) top) x", "| x :: top => judged_once c (q c) x"),
    ("Nodes", "let r := off (q c) (top c fewer) in", "let r := q c in"),
    (
        "Nodes",
        "if accepted then Return x else Choose (normalise (excess (p c) d))",
        "if accepted then Return x else Choose (p c)",
    ),
    ("Nodes", "judged_once c (d c (length tokens))", "judged_once c (weights c tokens)"),
    (
        "Bounds",
        "share (p c x) (q c x) * product u (c ++ [x])",
        "share (q c x) (p c x) * product u (c ++ [x])",
    ),
    ("Bounds", "accepted m c s + words n (fun", "accepted m c s + words m (fun"),
    ("Bounds", "stopped a = c ++ firstn k path", "stopped a = c ++ skipn k path"),
    ("HsdMeans", "before * h + prefixes (before * h) coins", "before * h + prefixes before coins"),
    ("HsdMeans", "1 - none coins + suffixes coins", "1 - none (h :: coins) + suffixes coins"),
    ("Plans", "take shared (left - w) otherwise)", "take shared left otherwise)"),
    ("HsdDrawn", "d e then r x else 0", "d e then r x else r x"),
    ("HsdMultidraft", "hsd_verify V (replaced v r) q (x", "hsd_verify V p q (x"),
    ("HsdMultidraft", "Some [] => r | _ => p c end", "Some _ => r | _ => p c end"),
    ("HsdMultidraft", "if x =? y then after_prefix d word else None", "after_prefix d word"),
    ("TopDown", "NoChild => Return (c, point y)", "NoChild => Return (c, point (S y))"),
    ("TopDown", "Child _ _ _ => Choose (p c) go", "Child x _ _ => go x"),
    (
        "TopDown",
        "go x else Choose (normalise (excess (p c) (q c))) go",
        "go x else Choose (normalise (p c)) go",
    ),
    ("TopDown", "else one_hot rest c (without p_c x)", "else one_hot rest c (normalise p_c)"),
    ("Lift", "Accept (share S (N.add S (N.sub N.one a)))", "Accept (share S N.one)"),
    ("Lift", "lift rest c r ws (N.sub unused w)", "lift rest c r ws unused"),
    ("Priority", "(fun y => if y =? x then owed_x else owed y)", "owed"),
    ("PriorityNodes", "None => Return (c, normalise V (snd found))", "None => Return (c, p c)"),
    ("PriorityNodes", "rates drawn (S j) otherwise in", "rates drawn j otherwise in"),
    ("Priority", "N.sub u (N.mul (R x) rate)", "N.sub u (R x)"),
    ("Priority", "laws unkept (N.mul earlier u)", "laws unkept earlier"),
    ("Priority", "if x =? y then N.mul unkept rate", "if x =? y then rate"),
    ("Optimal", "positive (N.sub u (R x)) :: reduced", "u :: reduced"),
    ("Optimal", "N.sub (product rest) (product after)", "product rest"),
    ("Optimal", "N.mul (weight x) part :: each_part", "weight x :: each_part"),
    ("Optimal", "N.add (N.mul chance (rate x)) sum", "N.add (rate x) sum"),
    ("Optimal", "Accept (share w unused) (fun kept", "Accept w (fun kept"),
    (
        "Optimal",
        "normalise V (rest_of c (count s) (p c))",
        "normalise V (rest_of c (count s) (rest_of c (count s) (p c)))",
    ),
    (
        "Optimal",
        "excess t (lead (orders c k t) (laws c k))",
        "excess t (scale N.zero (lead (orders c k t) (laws c k)))",
    ),
    ("Optimal", "1 - product (mass (off_set X) Rs) + total", "product (mass (off_set X) Rs) + total"),
    ("Optimal", "+ total (fun y => off_set X y * t y)", "+ 0"),
    (
        "OptimalProper",
        "enter_child rest r c j\n  | _, _, _ => Return (c, p c)",
        "enter_child rest r c j\n  | _, _, _ => Return (c, fun _ => N.zero)",
    ),
    (
        "OptimalProper",
        "sum (masses c (count s) (p c) (tokens_of d)) = 1",
        "sum (masses c (count s) (p c) (tokens_of d)) = 0",
    ),
    ("OptimalProper", "settled b below (c ++ [x]) /\\ fits b below (c ++ [x])", "fits b below (c ++ [x])"),
    ("OptimalDownhill", "N.less (key x) (key y))) [] drawable", "N.less (key y) (key x))) [] drawable"),
    ("OptimalDownhill", "N.div (N.sub (t x) (had x)) (included laws x) in", "N.sub (t x) (had x) in"),
    ("OptimalDownhill", "sum :: match order with [] => []", "match order with [] => [sum]"),
    ("OptimalDownhill", "(N.sub (had x) (t x))", "(N.sub (t x) (had x))"),
    ("OptimalDownhill", "minimum (t x) (lead chances laws x)", "lead chances laws x"),
    ("Elimination", "N.sub (A r k) (N.mul (A r i) entry)", "N.sub (A r k) entry"),
    ("OptimalBalance", "else N.sub N.zero (scalar (edge r) first)", "else scalar (edge r) first"),
    ("OptimalOrders", "N.div (N.mul (u x) (v x)) (included laws x)", "N.mul (u x) (v x)"),
    ("OptimalSteps", "if N.less w N.zero then [N.div", "if N.less h w then [N.div"),
    ("OptimalSteps", "N.add h (N.mul step (N.sub w h))", "N.add h (N.sub w h)"),
    ("OptimalSteps", "filter (fun o => N.less N.zero (fst o))", "(fun os => os)"),
    ("OptimalSteps", "| [] => Some (kept_orders chances)", "| [] => Some chances"),
    ("OptimalAlpha", "(chances ++ [(N.zero, order)]) with", "chances with"),
    ("OptimalAlpha", "nearest (2 + length chances)", "nearest (length chances)"),
    ("OptimalAlpha", "[(N.one, lacking (fun _ => N.zero))]", "[(N.zero, lacking (fun _ => N.zero))]"),
    ("OptimalAlpha", "map (cons true) (sets n) ++ map", "map"),
    ("MaxFlow", "f i <= a i) /\\ (forall x", "f i <= a i + 1) /\\ (forall x"),
    ("Alpha", "if forallb H (drafted L i) then mass", "if existsb H (drafted L i) then mass"),
    ("Alpha", "(forall i, total (f i) <= mass L i) /\\", "(forall i, total (f i) <= 1) /\\"),
    ("Alpha", "distinct k (without V q x)", "distinct k (normalise V q)"),
    ("CodeFacts", "combine l (tl l)", "combine l l"),
    ("CodeFacts", "Some (rev before, last)", "Some (before, last)"),
    ("CodeFacts", "(child :: _) => first_path child", "(_ :: child :: _) => first_path child"),
    ("CodeFacts", "| _ => q c' end) (nodes below c')", "| _ => q c end) (nodes below c')"),
    ("CodeNodes", "find (has_token y)", "find (fun _ => true)"),
    ("CodePriority", "fun pair => has_token x (fst pair)", "fun _ => true"),
    ("KSeq", "Rmin 1 (p x / (rho * q x))", "Rmin 1 (p x / q x)"),
    ("KSeq", "1 - (1 - / INR k) ^ k.", "1 - (1 - / INR k) ^ (S k)."),
    ("KSeqPlans", "in_turn rates drawn (N.sub unkept kept)", "in_turn rates drawn unkept"),
    ("KSeqPlans", "share (t x) (N.mul rho (q x))", "share (t x) (q x)"),
    ("KSeqPlans", "scale (late (total V kept_once) k) q", "q"),
    ("KSeqPlans", "geometric (beta V (q c) (rho c k t) t) k <= rho c k t", "1 <= rho c k t"),
    ("RecursivePrice", "1 - y ^ S n + y ^ S (n + n).", "1 - y ^ S n + y ^ (n + n)."),
    ("RecursivePrice", "=? length c)%nat then 0 else 1", "=? length c)%nat then 1 else 1"),
    ("TraversalAbove", "INR (length (fst s) - length c)", "INR (length c)"),
    ("Layered", "(v, fun x => e x - m x)", "(v, fun x => e x)"),
    ("Layered", "stops (left - total r) F", "stops left F"),
    ("Layered", "stops (1 - mass (taken D))", "stops 1"),
    ("Layered", "total (fun x => m x * total", "total (fun x => total"),
    ("Multipath", "N.add (N.sub C J) (N.mul J (fold_right", "N.add C (N.mul J (fold_right"),
    ("Multipath", "N.add (lo c J C x) (N.mul J (q c x))", "N.add (lo c J C x) (q c x)"),
    ("Multipath", "standing u (c ++ [x]) (N.mul J (q c x))", "standing u (c ++ [x]) J"),
    ("Multipath", "(power (hi c J C x) K) (power (lo c J C x) K)", "(hi c J C x) (lo c J C x)"),
    ("Multipath", "(power C K) (power (N.sub C J) K))", "(power C K) (N.sub C J))"),
    ("Multipath", "(q c y) sum) N.zero (before x (ranked c))", "(q c y) sum) N.zero (ranked c)"),
    ("Multipath", "draw_paths q K depth c) (fun", "draw_paths q (S K) depth c) (fun"),
    ("Multipath", "(filter (fun x => N.less N.zero (q c x))", "(filter (fun x => N.less N.zero (p c x))"),
    ("BestPath", "Some below => (x, below) | None => best end", "Some below => best | None => best end"),
    ("BestPath", "if y =? x then Some below else child_below", "if y =? x then Some rest else child_below"),
    ("BestPath", "x :: best_path less below (c ++ [x])", "x :: best_path less below c"),
    ("KeyedChains", "Some (k, place_of c) else None", "Some (Drafted, place_of c) else None"),
    (
        "KeyedChains",
        "(place_of (firstn i c)) (place_of c) then",
        "(place_of (firstn i c)) (place_of []) then",
    ),
    ("KeyedChains", "normalise V (excess (p c) (q c))", "normalise V (excess (q c) (p c))"),
    ("KeyedChains", "(fun b => if b then yes else no)", "(fun b => if b then no else yes)"),
    ("KeyedChains", "then_ (keyed_chain less (c ++ [x]))", "then_ (keyed_chain less c)"),
    ("Races", "if same_row r s then x else", "if same_row r r then x else"),
    ("Races", "Accept a (fun b => bind (tosses coins)", "Accept (1 - a) (fun b => bind (tosses coins)"),
]
"""(the file whose proof fails, a piece of a definition, what a mistake makes of it)."""


def edited_file(refusing, right):
    """The file whose definition has the piece."""
    definitions = ("Programs", "Rules", "Python", "OptimalPlan")
    return next(name for name in (*definitions, refusing) if right in text_of(name))


def _wrong() -> list:
    # Often tested: definitions of the file itself, and the first of every other file.
    first = {refusing: right for refusing, right, _ in reversed(WRONG)}
    before = [n for n, each in enumerate(WRONG) if first[each[0]] == each[1]][::2]
    own = [n for n, each in enumerate(WRONG) if edited_file(*each[:2]) == each[0]]
    return [
        pytest.param(*each, id=f"{each[0]} {n}", marks=[] if n in {*before, *own} else [pytest.mark.long])
        for n, each in enumerate(WRONG)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("refusing", "right", "wrong"), _wrong())
def test_a_wrong_definition_is_not_proved(library, tmp_path, refusing, right, wrong):
    edited = edited_file(refusing, right)
    *before, _ = names = needed(refusing)
    again = [name for name in names if edited in needed(name)]
    library.into(tmp_path, *(name for name in before if name not in again))
    texts = {name: text_of(name) for name in again}
    texts[edited] = texts[edited].replace(right, wrong)
    (tmp_path / "Wrong.v").write_text(joined(texts))
    run = ["coqc", "-q", "Wrong.v"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    del texts[refusing]
    [line] = re.findall(r"line (\d+), characters [\d-]+:\nError", done.stderr)
    assert int(line) > joined(texts).count("\n"), done.stderr  # in the file that is to refuse it


# ---------- the same instances, by the Python and by the Rocq


def instances():
    """(verifiers, instance), V = 2 and 3, zeros included: chains, trees of both kinds, merged paths."""
    random = Random(7)
    shapes = [((),), ((), ()), (((),), ()), ((), ((),)), ((), (), ()), (((), ()),)]

    def row(vocab):
        weights = [random.choice((0, 1, 1, 2, 3, 5)) for _ in range(vocab)]
        weights[random.randrange(vocab)] += 1
        return [fmpq(weight, sum(weights)) for weight in weights]

    for i in range(INSTANCES):
        vocab, kind = 2 + i % 2, i // 2 % 6
        depth = 1 + i // 12 % (5 - vocab)
        if kind == 0:
            draft, names = (
                Chain(depth),
                ("token", "block", "hsd", "greedy-block", "sampling-match", "multipath-block", *CALLED),
            )
        elif kind == 1:
            inner = [word for n in range(depth) for word in product(range(vocab), repeat=n)]
            kept = frozenset(word for word in inner if random.random() < 0.7)
            draft, names = Cut(depth, kept), ("token", "block")
        elif kind == 2:
            draft = Paths(*random.choice([(2, 1), (3, 1), (2, 2), (3, 4 - vocab)]))
            names = ("rrs", "traversal", "hsd-multidraft", "multipath-block", *TOP_DOWN)
        elif kind == 3:
            draft, names = Greedy(random.choice(shapes)), ("hu-greedy",)
        else:
            draft = Tree(random.choice(shapes), kind == 4)
            names = ("specinfer" if draft.replacement else "rrs", "traversal", *TOP_DOWN)
            if draft.replacement:
                names += tuple(name for name in ("priority", "lifted-priority") if name in VERIFIERS)
                if alike(draft.shape):
                    names += ("optimal",) if draft.depth > 1 else ("optimal", "lifted-optimal")
        longest = draft.depth + 1
        if any(of_calls(name) for name in names):
            longest *= ITERATIONS
        words = [word for n in range(longest) for word in product(range(vocab), repeat=n)]
        target, proposal = ({word: row(vocab) for word in words} for _ in range(2))
        yield names, Instance(Table.exact(vocab, target), Table.exact(vocab, proposal), draft)


TOP_DOWN = ("nss", "naive-tree", "one-hot")
CALLS = ", calls"
CALLED = ("token" + CALLS, "block" + CALLS)
"""Several calls of rules that keep no state."""


def of_calls(name):
    return name.endswith(CALLS) or named(name).carry is not None


@dataclass(frozen=True)
class Cut(Chain):
    """A chain that ends at the first drafted context that is not in `kept`."""

    kept: frozenset = frozenset()

    def __post_init__(self):
        Chain(self.depth)

    def draw(self, oracle, proposal, context=()):
        path = super().draw(oracle, proposal, context).path
        laws = [node.proposal for node in takewhile(lambda node: node.prefix in self.kept, path[:-1])]
        return Draft(chained(path[len(laws)].prefix, laws))


RUN = {
    "token": "always_stops (token_iteration {V} {p} {q} {draft} [])",
    "block": "block_iteration {V} {p} {q} {draft} []",
    "hsd": "hsd_iteration {V} {p} {q} {draft} []",
    "multipath-block": "multipath_block {V} {p} {q} {count} (by_share {V} {p} {q}) {depth} []",
    "hsd-multidraft": "hsd_multidraft {V} {p} {q} {paths} []",
    "sampling-match": "always_stops (bind (draw_chain {q} {draft} []) "
    "(fun path => nss {p} (as_children path) []))",
    "hu-greedy": "always_stops (bind {draft} (fun tree => hu_greedy {V} {p} {q} tree []))",
    "specinfer": "always_stops (recursive_rejection_iteration {V} {p} {q} true {draft} [])",
    "rrs": "always_stops (recursive_rejection_iteration {V} {p} {q} false {draft} [])",
    "traversal": "traversal_iteration {V} {p} {q} {replacement} {draft} []",
    "greedy-block": "greedy_text {V} {q} {iterations} {draft} {p} []",
    "nss": "always_stops (bind {draft} (fun tree => nss {p} tree []))",
    "naive-tree": "always_stops (bind {draft} (fun tree => naive_tree {V} {p} {q} tree []))",
    "one-hot": "always_stops (bind {draft} (fun tree => one_hot {V} {p} tree [] ({p} [])))",
    "priority": "always_stops (bind {draft} "
    "(fun tree => priority {V} {p} (fun c k => repeat ({q} c) k) ({shape}) tree []))",
    "lifted-priority": "bind {draft} "
    "(fun tree => lifted_priority {V} {p} (fun c k => repeat ({q} c) k) ({shape}) tree [])",
    "optimal": "always_stops (bind {draft} "
    "(fun tree => optimal {V} {p} (fun c k => repeat ({q} c) k) {orders} alike ({shape}) tree []))",
    "lifted-optimal": "bind {draft} "
    "(fun tree => lifted_optimal {V} {p} (fun c k => repeat ({q} c) k) {orders} alike ({shape}) tree [])",
}
RUN_CUT = {
    "token": "always_stops (bind (draw_chain {q} {depth} []) "
    "(fun path => token_verify {V} {p} {q} (kept {keep} path []) []))",
    "block": "bind (draw_kept {q} {keep} {depth} []) (fun path => block_verify {V} {p} {q} path [])",
}
"""Cut after it was drawn, and drawn no further."""


def law_of(name, instance, i):
    """The law of what a verifier emits on instance `i`, in Rocq."""
    V, p, q, draft = instance.vocab, f"p{i}", f"q{i}", instance.draft
    if isinstance(draft, Cut):
        keep = f"(fun c => existsb (same c) [{'; '.join(map(word_of, sorted(draft.kept)))}]%nat)"
        run = RUN_CUT[name].format(V=V, p=p, q=q, keep=keep, depth=draft.depth)
        return f"Eval vm_compute in shown (law {V} ({run}))."
    replacement = "true" if isinstance(draft, Tree) and draft.replacement else "false"
    if isinstance(draft, Chain):
        drawn = str(draft.depth)
    elif isinstance(draft, Greedy):
        drawn = f"(draw_greedy {V} {q} (fun c => likeliest {V} ({q} c)) ({shape(draft.shape)}) [])"
    elif isinstance(draft, Paths):
        drawn = f"(draw_paths {q} {draft.count} {draft.depth} [])"
    else:
        drawn = f"(draw {V} {q} {replacement} ({shape(draft.shape)}) [] ({q} []))"
    given = {"replacement": replacement, "draft": drawn, "iterations": ITERATIONS, "count": 1}
    if isinstance(draft, Paths):
        given["paths"], given["count"] = f"{draft.count} {draft.depth}", draft.count
    if isinstance(draft, Tree):
        given["shape"] = shape(draft.shape)
    if "optimal" in name:
        given["orders"] = f"(fun c k _ => orders [{'; '.join(orders(instance))}] c k)"
    run = RUN[name.removesuffix(CALLS)].format(V=V, p=p, q=q, depth=draft.depth, **given)
    if name.endswith(CALLS):
        run = f"calls (stateless (fun c => {run.replace('[]', 'c')})) {ITERATIONS} tt []"
    law = f"outcomes {V} 1 ({run})" if of_calls(name) else f"law {V} ({run})"
    return f"Eval vm_compute in shown ({law})."


def orders(instance):
    """The plan's law of orders for up to three i.i.d. siblings at every context, by Python."""
    for word, q in instance.proposal.given():
        for k in (1, 2, 3) if len(word) < instance.draft.depth else ():
            plan = optimal(instance.target[word], (q,) * k)
            law = "; ".join(f"({int(w.p)} # {int(w.q)}, {word_of(o)}%nat)" for o, w in plan.chances.items())
            yield f"({word_of(word)}%nat, {k}%nat, [{law}])"


def word_of(word):
    return f"[{'; '.join(map(str, word))}]"


def shape(children):
    return f"Shape ({shape(children[0])}) ({shape(children[1:])})" if children else "NoShape"


def table(name, i, given):
    rows = "; ".join(
        f"({word_of(word)}%nat, [{'; '.join(f'{int(x.p)} # {int(x.q)}' for x in row)}])"
        for word, row in given.given()
    )
    return f"Definition {name}{i} : context -> row := rows [{rows}]."


HEAD = """Require Import List QArith Programs Rules Numbers.
Import ListNotations RationalPrograms.
Fixpoint same (c d : list nat) : bool :=
  match c, d with [], [] => true | x :: c, y :: d => andb (Nat.eqb x y) (same c d) | _, _ => false end.
Fixpoint rows (table : list (list nat * list Q)) (c : context) : row :=
  match table with
  | [] => fun _ => 0
  | (d, r) :: table => if same c d then fun x => nth x r 0 else rows table c
  end.
Fixpoint orders (table : list (list nat * nat * list (Q * list nat))) (c : context) (k : nat) :=
  match table with
  | [] => []
  | (d, n, law) :: table => if andb (same c d) (Nat.eqb k n) then law else orders table c k
  end.
Definition alike (c : context) (k : nat) (drawn : list nat) : list Q :=
  map (fun x => Qred (1 / inject_Z (Z.of_nat (length (filter (Nat.eqb x) drawn))))) drawn.
Definition shown (law : list (context * Q)) : list (context * (Z * BinNums.positive)) :=
  map (fun '(word, mass) => (word, (Qnum mass, Qden mass))) law.
"""


def words(answer):
    """(word, numerator, denominator) of a law that Rocq prints."""
    plain = re.sub(r"%(nat|Z|positive)", "", answer)
    for word, top, bottom in re.findall(r"\(\[([\d;\s]*)\],\s*\((\d+),\s*(\d+)\)\)", plain):
        yield tuple(int(x) for x in word.split(";")), int(top), int(bottom)


@pytest.mark.slow
def test_the_definitions_compute_what_the_python_computes(compiled):
    text, asked = [HEAD], []
    for i, (names, instance) in enumerate(instances()):
        text += [table("p", i, instance.target), table("q", i, instance.proposal)]
        for name in names:
            text.append(law_of(name, instance, i))
            asked.append((instance, name))
    (compiled / "Laws.v").write_text("\n".join(text))
    answers = re.split(r"^\s+= ", coqc(compiled, "Laws.v"), flags=re.MULTILINE)[1:]
    assert len(answers) == len(asked) >= 200
    for (instance, name), answer in zip(asked, answers, strict=True):
        found = defaultdict(fmpq)
        for word, top, bottom in words(answer):
            found[word] += fmpq(top, bottom)
        rule = named(name.removesuffix(CALLS))
        if of_calls(name):
            want = dict(everything(decode(instance, rule, ITERATIONS)))
        else:
            want = dict(emission(instance, rule).law())
        assert {word: mass for word, mass in found.items() if mass} == {w: m for w, m in want.items() if m}
