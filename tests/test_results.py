"""What every result of the public functions offers: a dictionary, frames of two libraries, HTML, one line."""

import json
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction

import pytest
from flint import fmpq

import draftproof as dp
from draftproof.theory.errors import BadInput
from draftproof.theory.shared.reportable import SHOWN
from tests.problems import TOY

STUDY = {
    "metrics": ["check", "gap"],
    "verifiers": ["token", "hsd-released"],
    "drafts": ["chain:2"],
    "rows": {"kind": "random", "count": 3},
}


def no_residual(target_probs, draft_probs, draft_tokens, rng):
    for i, x in enumerate(draft_tokens):
        if not rng.random() < target_probs[i][x] / draft_probs[i][x]:
            return [*draft_tokens[:i], rng.choice(len(target_probs[i]), p=target_probs[i])]
    return [*draft_tokens, rng.choice(len(target_probs[-1]), p=target_probs[-1])]


def first_is_right(target_probs, draft_probs, draft_tokens, rng):
    return [rng.choice(len(target_probs[0]), p=target_probs[0])]


MADE = {
    "instance": lambda: TOY,
    "lossless verdict": lambda: dp.check(TOY, "block"),
    "lossy verdict": lambda: dp.check(TOY, "hsd-released"),
    "law": lambda: dp.law(TOY, "token"),
    "gap": lambda: dp.gap(TOY),
    "proof": lambda: dp.prove("token", "chain:1"),
    "refutation": lambda: dp.prove("hsd-released"),
    "proof at every size": lambda: dp.prove("token", every_size=True),
    "report": lambda: dp.examine(no_residual, vocab=2, depth=1),
    "lossless report": lambda: dp.examine(first_is_right, vocab=2, depth=1),
    "claims": lambda: dp.claims("token-lossless", "block-lossless", check=False),
    "sweep": None,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Makes a result once."""
    kept = {}

    def make(name):
        if name == "sweep":
            pytest.importorskip("duckdb")
        if name not in kept:
            folder = tmp_path_factory.mktemp("results")
            kept[name] = (MADE[name] or (lambda: dp.sweep(STUDY, folder)))()
        return kept[name]

    return make


@pytest.mark.parametrize("name", MADE)
def test_every_result(name, made):
    result = made(name)
    document = json.loads(json.dumps(result.to_dict()))
    assert document == result.to_dict()
    line = repr(result)
    assert line.startswith(f"<{type(result).__name__} ")
    assert "\n" not in line
    page = result._repr_html_()
    assert page.count("<tr>") == page.count("</tr>") == 1 + min(SHOWN, len(list(result.rows())))
    assert "&lt;" in page or "<pre " in page


@pytest.mark.parametrize("library", ["polars", "pandas"])
@pytest.mark.parametrize("name", MADE)
def test_frames(name, library, made, monkeypatch):
    module = pytest.importorskip(library)
    other = {"polars": "pandas", "pandas": "polars"}[library]
    monkeypatch.setitem(sys.modules, other, None)  # as if it were not installed
    result = made(name)
    frame = result.to_frame()
    assert isinstance(frame, module.DataFrame)
    assert len(frame) == len(list(result.rows())) > 0
    assert not any("object" in str(kind).lower() for kind in frame.dtypes if library == "polars")


@pytest.mark.parametrize("library", ["polars", "pandas"])
@pytest.mark.parametrize("name", MADE)
def test_frames_go_elsewhere_by_arrow(name, library, made, monkeypatch):
    arrow, module = pytest.importorskip("pyarrow"), pytest.importorskip(library)
    other = {"polars": "pandas", "pandas": "polars"}[library]
    monkeypatch.setitem(sys.modules, other, None)  # as if it were not installed
    result = made(name)
    frame, table = result.to_frame(), arrow.RecordBatchReader.from_stream(result).read_all()
    assert table.column_names == [*frame.columns]
    for column in frame.columns:
        there, here = (list(map(str, each)) for each in (table[column].to_pylist(), frame[column].to_list()))
        assert there == [each.replace("nan", "None") for each in here]  # pandas has no other word for it
    if library == "polars" and not isinstance(result, Mapping):  # which is read as one
        assert module.DataFrame(result).equals(frame)


def test_numbers_of_frames_are_floats(made):
    pytest.importorskip("polars")
    frame = made("gap").to_frame()
    means = dict(zip(frame["verifier"], frame["expected_accepted"], strict=True))
    assert means["block"] == float(fmpq(11, 9))
    frame, law = made("law").to_frame(), made("law")
    words = {" ".join(map(str, word)): float(mass) for word, mass in law.items()}
    assert dict(zip(frame["tokens"], frame["probability"], strict=True)) == words


def test_without_a_library_of_frames(made, monkeypatch):
    for library in ("polars", "pandas"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(BadInput, match="to_frame needs polars or pandas"):
        made("law").to_frame()
    with pytest.raises(BadInput, match="to_frame needs polars or pandas"):
        made("law").__arrow_c_stream__()


def test_exact_numbers_go_everywhere(made):
    verdict = made("lossy verdict")
    for number in (verdict.total_variation, verdict.to_dict()["total_variation"], verdict.wrong.got):
        assert Fraction(number) in (Fraction(1, 9), Fraction(1, 3))
        assert float(number) == float(Fraction(number))
    assert json.dumps(verdict.to_dict()["witness"]) == '{"prefix": "1 0", "got": "1/3", "want": "2/9"}'
    table = dp.Table.exact(2, {(): [Fraction(1, 3), Fraction(2, 3)]})
    assert table == TOY.target


def test_floats_become_a_table():
    numpy = pytest.importorskip("numpy")
    table = dp.Table.from_floats(2, {(): numpy.array([0.1, 0.9]), (0,): [0.25, 0.75]})
    assert sum(table[()]) == 1
    assert [float(each) for each in table[()]] == [0.1, 0.9]
    assert table[(0,)] == (fmpq(1, 4), fmpq(3, 4))
    nan, inf = float("nan"), float("inf")
    for wrong in ([0.5, 0.6], [nan, 0.5], [inf, 0], [1.5, -0.5], [1.0], "ab", None, [[1], 2]):
        with pytest.raises(BadInput):
            dp.Table.from_floats(2, {(): wrong})
    with pytest.raises(BadInput, match="rows must be a mapping"):
        dp.Table.from_floats(2, [0.5, 0.5])


def test_an_instance_is_written_and_read(tmp_path):
    TOY.write(tmp_path / "toy.json")
    assert dp.read(tmp_path / "toy.json") == TOY
    with pytest.raises(BadInput, match="cannot be written"):
        TOY.write(tmp_path / "no" / "toy.json")
    with pytest.raises(BadInput, match="cannot be written"):
        TOY.write(None)


def test_a_sweep_goes_on_and_has_a_page(made, tmp_path):
    results = made("sweep")
    again = dp.sweep(STUDY, results.folder)
    assert again.to_dict() == results.to_dict()
    assert len(results.rows('select * from "check"')) == 6
    page = dp.report(results.folder, tmp_path / "page.html", title="Mine")
    text = page.read_text(encoding="utf-8")
    asked = "Asked: check and gap of token, hsd-released on chain, depth 2; V = 2; rows: random 3."
    assert f"<p>{asked}</p>" in text
    with pytest.raises(BadInput, match="name a folder"):
        dp.sweep(STUDY)


def test_the_page_of_a_sweep_of_one_s_own_has_a_run(tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    (tmp_path / "mine.py").write_text(
        "def verify(target_probs, draft_probs, draft_tokens, rng):\n"
        "    return [int(rng.choice(len(draft_probs[0]), p=draft_probs[0]))]\n"
    )
    monkeypatch.chdir(tmp_path)
    dp.sweep(STUDY | {"metrics": ["check"], "verifiers": ["mine.py:verify"]}, "results")
    text = dp.report("results").read_text(encoding="utf-8")
    assert "dp.replay('mine.py:verify'" in text
    assert "a run that comes too often" in text
    assert [part for part in ("verdicts", "gaps", "worst") if f'id="{part}-title"' in text] == [
        "verdicts",
        "worst",
    ]


def test_claims_by_paper_and_name():
    assert {each.key for each in dp.claims("traversal", check=False).claims} >= {"traversal-lossless"}
    assert dp.claims(paper="2403.10444", check=False).claims == dp.claims("sun2025block", check=False).claims
    with pytest.raises(BadInput, match="no claim or paper is named"):
        dp.claims("nothing of the kind")


def test_progress_is_shown_only_if_it_is_asked_for():
    program = "import draftproof as dp; dp.claims('token-lossless', progress={})"
    for asked in (True, False):
        done = subprocess.run([sys.executable, "-c", program.format(asked)], capture_output=True, check=True)
        assert (b"1 of 1 claims" in done.stderr) == asked
        assert not done.stdout


def test_vectors_and_version():
    assert json.loads(json.dumps(dp.vectors("token", vocab=2, depth=1)))["verifier"] == "token"
    assert [int(part) for part in dp.__version__.split(".")] >= [0, 1, 0]


def test_a_draft_of_one_s_own_that_no_verifier_fits_is_named(command, tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(
        "from draftproof.theory.drafts.chain import Chain\n"
        "class Own:\n"
        "    label, depth = 'my own', 1\n"
        "    def draw(self, oracle, proposal, context=()): return Chain(1).draw(oracle, proposal, context)\n"
        "    def outcomes(self, support): return support\n"
    )
    (tmp_path / "own.json").write_text(json.dumps(TOY.to_dict() | {"draft": "own.py:Own"}))
    for arguments in (["check", "own.json"], ["gap", "own.json"]):
        status, out, err = command(*arguments)
        assert (status, out) == (2, "")
        assert "own.json: no verifier is made for my own" in err
    with pytest.raises(BadInput, match=r"drafts: own\.py:Own: no verifier is made for my own; name one"):
        dp.sweep({"metrics": ["check"], "drafts": ["chain:1", "own.py:Own"]}, "results")
