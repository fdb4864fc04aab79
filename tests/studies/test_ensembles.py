"""Ensembles: recipes, means, figures and their numbers."""

import csv
import json
import sys
from xml.etree import ElementTree

import pytest

from draftproof.simulators.instances.randoms import Logits, Mixed, Randoms
from draftproof.simulators.study.gap import measure
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.errors import BadInput
from draftproof.theory.verifiers import named
from studies.drawing import LINES, MARKERS, required
from studies.ensembles import SHOWN, VARIED, distance, summarise, vary, write_figure


def test_distance_runs_from_none_to_independent():
    near, far = (Randoms(Chain(2), 3, 2, law=Logits(far=far))[1] for far in (0.0, 1.0))
    assert distance(near) == 0
    assert distance(far) > 0.05
    assert near.target == far.target


def test_means_are_those_of_the_instances():
    gaps = [measure(each, [named("token"), named("block")]) for each in Randoms(Chain(2), 3, 4, law=Mixed())]
    rows = {row.name: row for row in summarise(gaps)}
    token = [float(gap.expected_accepted["token"]) for gap in gaps]
    best = [float(gap.stateless.upper) for gap in gaps]
    assert rows["token"].mean == pytest.approx(sum(token) / 4)
    assert rows["token"].stateless == pytest.approx(sum(token) / sum(best))
    assert rows["token"].least == pytest.approx(min(a / b for a, b in zip(token, best, strict=True)))
    assert (rows["block"].reached, rows["block"].instances) == (4, 4)
    assert list(rows)[:3] == ["full information", "stateless", "block"]


@pytest.mark.parametrize("what", VARIED)
def test_everything_that_can_vary_can_be_drawn(what, tmp_path):
    vocab = None if what == "vocab" else 2
    draft = Chain(2) if what in ("temperature", "distance", "vocab") else None
    series = vary(what, 1, draft, vocab, [named("traversal")])
    assert len(series.points) == len(VARIED[what].values)
    paths = write_figure(series, tmp_path / "new")
    assert [path.name for path in paths] == [f"gap-{what}.{end}" for end in ("svg", "png", "json", "csv")]
    drawn = paths[0].read_text(encoding="utf-8")
    ElementTree.fromstring(drawn)
    assert VARIED[what].axis in drawn
    assert "accepted tokens an iteration" in drawn
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    numbers = json.loads(paths[2].read_text(encoding="utf-8"))
    with paths[3].open(newline="", encoding="utf-8") as lines:
        table = list(csv.DictReader(lines))
    assert len(table) == 3 * len(series.points)
    first = numbers["points"][0]["verifiers"]["traversal"]
    (same,) = [row for row in table[:3] if row["name"] == "traversal"]
    assert float(same["mean"]) == first["mean"]


def test_figures_are_the_same_every_time(tmp_path):
    series = vary("depth", 1, vocab=2, verifiers=[named("block")])
    once, again = (write_figure(series, tmp_path / name)[0].read_bytes() for name in ("a", "b"))
    assert once == again


def test_looks_differ_in_grey_within_a_figure():
    most = max(map(len, SHOWN.values())) + 2
    looks = [(LINES[n % len(LINES)], MARKERS[n % len(MARKERS)]) for n in range(most)]
    assert len(set(looks)) == most


def test_without_matplotlib_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BadInput, match="pip install matplotlib"):
        required()


def test_what_varies_cannot_be_given():
    with pytest.raises(BadInput, match="depth sets the draft itself"):
        vary("depth", 1, draft=Chain(2))
    with pytest.raises(BadInput, match="vocab sets the vocab itself"):
        vary("vocab", 1, vocab=2)
    with pytest.raises(BadInput, match="spechub is made for spechub, not for paths"):
        vary("distance", 1, draft=Paths(2, 1), verifiers=[named("spechub")])
