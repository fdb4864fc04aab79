"""The page in a browser: what it shows is what the exact engine says, whatever was swept."""

import json
from contextlib import contextmanager

import pytest

from draftproof import commands
from draftproof.simulators.commands.entry import enter
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.optimum import one_level
from draftproof.simulators.study.report import sections
from draftproof.simulators.study.report.explorer import placed
from draftproof.simulators.study.report.page import page
from draftproof.simulators.study.results import Results
from draftproof.theory.law import law_of
from draftproof.theory.numbers import text
from draftproof.theory.verifiers import named
from tests.simulators.study.conftest import INSTANCES
from tests.simulators.study.test_explorer import read_back


@pytest.fixture(scope="module")
def made(results, recorded_instances, tmp_path_factory):
    data = {
        **sections.sections(Results(results)),
        "claims": [
            {
                "statement": "a < b & </script>",
                "source": "s",
                "scope": "all",
                "verdict": "refuted",
                "command": "c",
            }
        ],
        "mutants": [
            {"name": "token: x -> y", "flaw": "f", "verdict": "caught", "evidence": "1/5", "instance": "i"}
        ],
    }
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(
        page("a <title>", "rows", ["made"], data, list(recorded_instances.items())), encoding="utf-8"
    )
    return path


@contextmanager
def at_explorer(browser, path, **options):
    """A page at its explorer; nothing is said in the console, nothing asked of a network."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    tab = context.new_page()
    said, asked = [], []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda sent: asked.append(sent.url))
    tab.goto(path.as_uri())
    tab.locator("#explorer").scroll_into_view_if_needed()
    tab.wait_for_selector("[data-number]", timeout=10_000)
    yield tab
    assert said == []
    assert {url.split(":")[0] for url in asked} <= {"file", "data", "blob"}
    context.close()


@pytest.fixture
def opened(browser, made, request):
    with at_explorer(browser, made, **getattr(request, "param", {})) as tab:
        yield tab


CHAINS = 'drafts = ["chain"]\ndepths = [1, 2]\nrows = { kind = "random", count = 2 }\n'
SHAPES = {
    "check only": f'metrics = ["check"]\nverifiers = ["token", "block"]\n{CHAINS}',
    "gap only": f'metrics = ["gap"]\nverifiers = ["token", "block"]\n{CHAINS}',
    "prove only": 'metrics = ["prove"]\nverifiers = ["token", "hsd-released"]\ndepths = [1]',
    "audit only": 'metrics = ["audit"]\ntargets = ["mine.py:verify"]\ndepths = [1]\nrows = ["scenarios"]',
    "one depth": f'metrics = ["check", "gap"]\nverifiers = ["token"]\n{CHAINS.replace("1, 2", "1")}',
    "lossy rules": f'metrics = ["check", "gap"]\nverifiers = ["hsd-released"]\n{CHAINS}',
    "a rule with state": f'metrics = ["check", "gap"]\nverifiers = ["greedy-block"]\n{CHAINS}',
    "floats": f'metrics = ["check", "gap"]\nengine = "float"\nverifiers = ["token", "typical"]\n{CHAINS}',
    "no optima": f'metrics = ["gap"]\noptima = false\nverifiers = ["token"]\n{CHAINS}',
    "several kinds": 'metrics = ["check"]\nverifiers = ["rrs"]\n'
    'drafts = ["chain", { kind = "paths", count = 2 }]\nrows = ["scenarios"]',
    "no finished row of one metric": f'metrics = ["check", "prove"]\nverifiers = ["typical"]\n{CHAINS}',
}
"""Sweep -> its file."""
MINE = """
def verify(target_probs, draft_probs, draft_tokens, rng):
    return [*draft_tokens, rng.choice(len(target_probs[-1]), p=target_probs[-1])]
"""


@pytest.mark.parametrize("shape", SHAPES)
def test_the_page_of_every_shape_of_sweep_opens(
    browser, recorded_instances, shape, tmp_path, monkeypatch, capfd
):
    pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    (tmp_path / "swept.toml").write_text(SHAPES[shape], encoding="utf-8")
    assert enter(commands(), ["sweep", "swept.toml", "--workers", "1"]) == 0
    found = sections.sections(Results("results/swept"))
    assert found
    path = tmp_path / "report.html"
    path.write_text(page(shape, "", [], found, list(recorded_instances.items())), encoding="utf-8")
    with at_explorer(browser, path) as tab:
        shown = {each.get_attribute("id") for each in tab.locator("section[id]").all()}
        assert shown == {*found, "explorer"}
        for name in found:
            assert tab.locator(f"#{name} tbody tr").count(), name
        assert "lossy" not in tab.locator(".good").all_inner_texts()


def shown(tab):
    numbers = {
        tab.locator(f"[data-number='{name}']").get_attribute("data-number"): tab.locator(
            f"[data-number='{name}']"
        ).get_attribute("title")
        for name in ("total variation", "E[tau]")
    }
    table = {}
    for line in tab.locator("#explorer-law tbody tr").all():
        word = line.locator("th").inner_text()
        table[word] = [cell.get_attribute("title") for cell in line.locator("td [title]").all()]
    return numbers["total variation"], numbers["E[tau]"], table


def wanted(name, verifier, document, at):
    instance = placed(INSTANCES[name], read_back(document, verifier, at)[-1])
    emitted, length = emission(instance, named(verifier)), instance.draft.depth + 1
    law, target = emitted.law().complete(instance.target, length), law_of(instance.target, length)
    words = {
        " ".join(map(str, word)): [text(law[word]), text(target[word])]
        for word in sorted(_words(instance.vocab, length))
    }
    return text(emitted.total_variation), text(emitted.expected_accepted), words


def _words(vocab, length):
    words = [()]
    for _ in range(length):
        words = [(*word, x) for word in words for x in range(vocab)]
    return words


@pytest.mark.parametrize("name", INSTANCES)
def test_the_numbers_shown_are_the_engine_s(opened, recorded_instances, name):
    document = recorded_instances[name]
    opened.select_option("#instance", label=name)
    opened.wait_for_function(
        f"document.querySelectorAll('#explorer-sliders input').length > 0 && "
        f"document.querySelectorAll('input[type=range]').length === {len(document['sliders'])}"
    )
    at = [slider["at"] for slider in document["sliders"]]
    moves = [(n, key) for n in range(len(at)) for key in ("ArrowRight", "ArrowLeft", "End")]
    for n, verifier in enumerate(each["name"] for each in document["verifiers"]):
        opened.select_option("#verifier", verifier)
        which, key = moves[(7 * n) % len(moves)]
        slider = opened.locator(f"#slider-{which}")
        if not slider.is_visible():
            opened.locator("#explorer-leaves summary").click()
        slider.press(key)
        last = len(document["sliders"][which]["rows"]) - 1
        at[which] = {"ArrowRight": min(at[which] + 1, last), "ArrowLeft": max(at[which] - 1, 0), "End": last}[
            key
        ]
        assert shown(opened) == wanted(name, verifier, document, at), verifier


def test_the_lossy_rule_is_seen_to_be_lossy_and_the_rows_come_back(opened):
    opened.select_option("#verifier", "hsd-released")
    assert "law differs from the target's" in opened.locator("#said").inner_text()
    assert shown(opened)[:2] == ("1/9", "4/3")
    opened.locator("#slider-0").press("Home")
    assert shown(opened)[:2] != ("1/9", "4/3")
    opened.locator("#reset").click()
    assert shown(opened)[:2] == ("1/9", "4/3")


def test_the_draft_behind_a_wrong_law_is_one_button_away(opened):
    opened.select_option("#verifier", "hsd-released")
    assert "Tokens 1 0 come out first with probability 1/3, and should with 2/9" in (
        opened.locator("#said").inner_text()
    )
    opened.locator(".lead").click()
    assert "1 0, with probability 2/9" in opened.locator("#draft option:checked").inner_text()
    assert "Accepted: 1 0." in opened.locator("#explorer-outcome").inner_text()


def number(tab, name):
    return tab.locator(f"[data-number='{name}']").get_attribute("title")


def test_two_rules_stand_beside_the_optimum_and_a_link_leads_back(opened, recorded_instances):
    document = recorded_instances["siblings"]
    opened.select_option("#instance", label="siblings")
    opened.wait_for_function(f"document.querySelectorAll('datalist').length === {len(document['sliders'])}")
    opened.select_option("#verifier", "rrs")
    opened.select_option("#against", "nss")
    opened.locator("#slider-0").press("ArrowRight")
    opened.locator("[data-step='0'][data-branch='1']").click()
    at = [slider["at"] for slider in document["sliders"]]
    at[0] += 1
    instance = placed(INSTANCES["siblings"], read_back(document, "rrs", at)[-1])
    assert number(opened, "optimum") == text(one_level(instance))
    for name, which in (("rrs", ""), ("nss", "other ")):
        assert number(opened, f"{which}E[tau]") == text(emission(instance, named(name)).expected_accepted)
    shown = "#said", ".columns", ".choices:has(#verifier)"
    said = [opened.locator(each).inner_text() for each in shown]
    link, slider = opened.url, opened.locator("#slider-0").input_value()
    assert float(slider) == pytest.approx(float(instance.proposal[()][0]))  # its value, not a number of steps
    other = opened.context.new_page()
    other.goto(link)
    other.wait_for_selector("[data-number]")
    assert [other.locator(each).inner_text() for each in shown] == said
    assert other.locator("#slider-0").input_value() == slider


def test_a_walk_is_taken_step_by_step(opened):
    opened.select_option("#verifier", "block")
    opened.select_option("#draft", label="1 0, with probability 2/9")
    first = opened.locator("[data-step='0']")
    assert first.all_inner_texts() == ["accept 1/2", "reject 1/2"]
    assert "share" not in opened.locator(".walk summary").first.inner_text()
    assert "oracle.accept(w.pop())" in opened.locator(".walk summary").first.inner_text()
    opened.locator("[data-step='0'][data-branch='1']").press("Enter")
    assert "Accepted: 1. Not kept: 1 0." in opened.locator("#explorer-outcome").inner_text()
    assert opened.locator("#stop-row").inner_text() == "(0, 1)"
    assert opened.evaluate("document.activeElement.dataset.branch") == "1"
    assert "residual" in opened.locator(".variables").last.inner_text()


def test_tables_sort_and_filter_from_the_keyboard(opened):
    heading = opened.locator("#verdicts th button", has_text="largest TV")
    heading.press("Enter")
    heading.press("Enter")
    assert heading.locator("xpath=..").get_attribute("aria-sort") == "descending"
    assert opened.locator("#verdicts tbody th").first.inner_text() == "hsd-released"
    assert opened.locator("#verdicts .bad").count() == 0  # found lossy, as declared
    opened.fill("#filter-claims", "nothing like this")
    assert opened.locator("#claims [role=status]").inner_text() == "0 of 1"
    assert "</script>" in opened.evaluate(
        "JSON.parse(document.getElementById('data').textContent).claims[0].statement"
    )


@pytest.mark.parametrize(
    "opened", [{"viewport": {"width": 375, "height": 700}, "color_scheme": "dark"}], indirect=True
)
def test_narrow_and_dark(opened):
    assert opened.evaluate("document.documentElement.scrollWidth") <= 375
    background = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert all(int(part) < 60 for part in background.removeprefix("rgb(").removesuffix(")").split(","))


def test_everything_that_takes_a_hand_has_a_name(opened):
    unnamed = opened.evaluate("""
        [...document.querySelectorAll('button, select, input, summary, [role=region], svg[role]')]
          .filter((each) => !each.textContent.trim() && !each.labels?.length && !each.ariaLabel)
          .map((each) => each.outerHTML)
    """)
    assert unnamed == []
    assert opened.evaluate(
        "[...document.querySelectorAll('table')].every((each) => each.caption && each.tHead)"
    )
    assert opened.locator("#said").get_attribute("aria-live") == "polite"
    assert opened.evaluate("document.documentElement.lang") == "en"


def test_the_page_is_one_file(made):
    content = made.read_text(encoding="utf-8")
    assert "<title>a &lt;title&gt;</title>" in content
    assert not any(
        f'{what}="{scheme}' in content for what in ("src", "href") for scheme in ("http", "//", "/")
    )
    assert "import " not in content.split('<script type="module">')[1].replace("important", "")
    data = content.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    assert json.loads(data)["claims"][0]["statement"] == "a < b & </script>"
