"""The checker of certificates is the one that Rocq proves, and weaker ones are not proved."""

import re

import pytest

from tests.proofs_check.certified import SOURCES

REALS = "sig_forall_dec", "functional_extensionality_dep"  # the axioms of the library's real numbers


def test_the_checker_is_the_proved_one(rocq):
    compiled, said, folder = rocq("Certificate", "Cells", "Lines", "Sound", "CellsSound", "Extract")
    assert compiled, said
    assert "Closed under the global context" in said  # no axiom
    assert tuple(re.findall(r"^\w+\.(\w+)\s", said, re.MULTILINE)) == REALS  # of all real p and q
    assert (folder / "checker.ml").read_text() == (SOURCES / "checker.ml").read_text(encoding="utf-8")
    for path in SOURCES.glob("*.v"):
        assert not re.search(r"\b(Admitted|admit|Conjecture|Abort)\b", path.read_text(encoding="utf-8"))


def test_it_has_at_most_800_lines():
    code = re.sub(r"\(\*.*?\*\)", "", (SOURCES / "checker.ml").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 800


ROCQ = "proofs_check/rocq"
LAWS = "enumerate", "verdict", "decode"
THEORY = "draft", "emission", "instance", "law", "numbers", "oracle", "rows", "table"
COUNTED = {
    1496: (*(f"simulators/laws/{n}.py" for n in LAWS), *(f"theory/{n}.py" for n in THEORY)),
    792: ("theory/drafts/*.py",),
    559: ("proofs_check/certificates/Certificate.v", "proofs_check/certificates/Lines.v"),
    489: ("proofs_check/certificates/Cells.v", "proofs_check/certificates/Lines.v"),
    111: ("proofs_check/certificates/main.ml",),
    37: ("proofs_check/certificates/Extract.v",),
    245: ("simulators/laws/certificate.py",),
    1229: ("proofs_check/cells/*.py", "proofs_check/prove.py"),
    1756: ("proofs_check/every_size/**/*.py",),
    1023: (f"{ROCQ}/Programs.v", f"{ROCQ}/Rules.v", f"{ROCQ}/OptimalPlan.v"),
    380: ("tests/proofs_check/rocq/python_to_rocq.py",),
    125: (f"{ROCQ}/Python.v",),
    264: ("theory/transport/bounds.py",),
    202: ("proofs_check/certificate.py",),
}
"""Lines that the page of proofs names -> whose they are."""


def test_the_page_of_proofs_counts_what_is_trusted():
    house = SOURCES.parents[1]
    page = (house / "docs/proofs.md").read_text(encoding="utf-8")
    table = page[page.index("## What must be trusted") : page.index("## Certificates")]
    named_there = {
        int(each.replace(",", "")) for each in re.findall(r"(?<=[|+] )[\d,]+(?= (?:\||\+ [\d]))", table)
    }
    assert named_there == set(COUNTED)
    for said, globs in COUNTED.items():
        paths = [path for glob in globs for path in house.glob(glob)]
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)
        assert abs(lines - said) <= 0.25 * lines, (said, lines, globs)


BROKEN = [
    ("distribution (map fst l) &&", "true &&"),
    ("distribution (map fst (D c)) &&", "true &&"),
    ("forallb (fun '(_, r) => is_row V r) T", "forallb (fun _ => true) T"),
    ("if forallb ended l then equal here want", "if forallb ended l then true"),
    ("add here (sum (map fst (filter ended l)))", "sum (map fst (filter ended l))"),
    ("(mul want (at_token r x))", "want"),
    ("endings (mul w m) k", "endings m k"),
    ("(mul w m, (length c, c ++ [x]))", "(m, (length c, c ++ [x]))"),
    ("if x =? y then [(w, (n, d))] else []", "[(w, (n, d))]"),
    ("(fun mean => once && equal (accepted l) mean)", "(fun mean => once)"),
    ("&& negb (equal got want)", ""),
    ("equal x got &&", "true &&"),
    ("right p (vocab I) (S (longest I K)) [] l zero one", "true"),
    ("negb (distribution (map fst l)) ||", "true ||"),
    ("less zero m && fault d k", "fault d k"),
    ("negb (on d true (fun d => node d c)", "negb (false && on d true (fun d => node d c)"),
    ("distribution (map fst ds) &&\n      existsb", "existsb"),
    ("less zero m && fault (if once", "fault (if once"),
    ("forallb sound_instance rs &&", "true &&"),
    ("rs && distribution (map fst ds) &&", "rs &&"),
    ("both (fun k ok => ok k) ks", "both (fun _ _ => true) ks"),
    ("(mul w (at_token (nth 0 rs []) x), skipn 1 rs)", "(at_token (nth 0 rs []) x, skipn 1 rs)"),
    ("(mul want (at_token p x))) (seq 0 (length p))", "want) (seq 0 (length p))"),
    ("(mul want (at_token p x))) (seq 0 (length p))", "(mul want (at_token p x))) (seq 1 (length p - 1))"),
    ("words (vocab i) (S (depth i))", "words (vocab i) (depth i)"),
    ("holds (sum (map fst l)) want", "true"),
    ("sampler (if once then Some d else None) k)", "sampler (if once then None else None) k)"),
    ("negb (less (add u v) x)", "true"),
    ("equal (sum f) w && both", "both"),
    ("equal (worth F R) (optimum c) &&", "true &&"),
    ("equal (add (dot ws (of_drafts c)) (dot ms (of_blocks c))) (optimum c)", "true"),
    ("equal (add (dot (map fst ds) (of_drafts c)) (price [])) (optimum c)", "true"),
    ("negb (less (add u (price (n ++ [x]))) (times (length n) one))", "true"),
    ("(price (n ++ [x])))", "(price n))"),
    ("(seq 0 V)) ([] :: d)) (of_drafts c) ds", "(seq 0 V)) d) (of_drafts c) ds"),
    ("(seq 0 V)) ([] :: d)) (of_drafts c) ds", "(seq 1 V)) ([] :: d)) (of_drafts c) ds"),
    ("(words V (S depth))", "(words V depth)"),
    ("(begins p [] u) (words", "(fun w => begins p [] w u) (words"),
]


BROKEN_CELLS = [
    ("let c := add (fst a) (fst b) in", "let c := fst a in"),
    ("(fun v w a => v :: w :: a)", "(fun v w a => v :: a)"),
    ("(negb (less c zero) && forallb (has not_below) is)", "forallb (has not_below) is"),
    ("existsb (fun '(c, is) => less zero c && forallb (has above) is) l", "true"),
    ("if length now =? 0 then None", "if length now =? 1 then None"),
    ("then [(p, outside any s)] else []", "then [(p, s)] else []"),
    ("no_zero F down && within", "within"),
    ("same_q F (fold_right add_q", "true || same_q F (fold_right add_q"),
    ("no_term (rest_in steps F (reduce", "true || no_term (rest_in steps F (reduce"),
    ("if within s zero_only then rest steps g p else p", "rest steps g p"),
    ("[(monic (rest_in steps F g), zero_only)]", "[(monic (rest_in steps F g), above)]"),
    ("&& sampler l steps V true true law [] [[]] [] F", ""),
    ("(mean l steps V u law F) (mean l steps V u k F)", "(mean l steps V u k F) (mean l steps V u k F)"),
    ("no_zero F (snd a) && same_q F a b", "same_q F a b"),
    ("if on N true (serves yes no) then yes", "if true then yes"),
    ("(x <? V) && negb (is_in gone x) &&", "(x <? V) &&"),
    ("(listed || drafts F arities D c l) &&", "(drafts F arities D c l || true) &&"),
    ("| Next c => (listed || in_words c D) &&", "| Next c => true &&"),
    ("existsb (fun p => within (may_be F p) zero_only) up", "true"),
    ("follows c (skipn (length c) u) else []", "follows c (skipn (length c) u) else one_p"),
    ("forallb refuted l &&", "true &&"),
    ("(entry letter c x, not_below)", "(entry letter c x, above)"),
]
PROOFS = {
    "Certificate": ("Certificate", "Cells", "Lines", "Sound"),
    "Cells": ("Certificate", "Cells", "CellsSound"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "old", "new"),
    [("Certificate", *each) for each in BROKEN] + [("Cells", *each) for each in BROKEN_CELLS],
)
def test_a_weaker_checker_is_not_proved(rocq, source, old, new):
    whole = (SOURCES / f"{source}.v").read_text(encoding="utf-8")
    assert whole.count(old) == 1

    def edit(text):
        return text.replace(old, new) if text == whole else text

    compiled, said, _ = rocq(*PROOFS[source], edit=edit)
    assert not compiled
    assert re.search(r'File "./(Cells)?Sound.v"', said)  # a checker still, but not a sound one
