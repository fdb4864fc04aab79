"""The page in a browser: what it shows is what the exact engine says, whatever was swept."""

import json
from contextlib import contextmanager

import pytest

from draftproof import commands
from draftproof.simulators.commands.entry import enter
from draftproof.simulators.study.report import sections
from draftproof.simulators.study.report.page import page
from draftproof.simulators.study.results import Results


@pytest.fixture(scope="module")
def made(results, tmp_path_factory):
    data = sections.sections(Results(results))
    data["worst"]["missing"][0]["instance"] += " a < b & </script>"
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page("a <title>", "rows", ["made"], data), encoding="utf-8")
    return path


@contextmanager
def opened_page(browser, path, **options):
    """A page in the browser; nothing is said in the console, nothing asked of a network."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    tab = context.new_page()
    said, asked = [], []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda sent: asked.append(sent.url))
    tab.goto(path.as_uri())
    tab.wait_for_selector("table", state="attached", timeout=10_000)
    yield tab
    assert said == []
    assert {url.split(":")[0] for url in asked} <= {"file", "data", "blob"}
    context.close()


@pytest.fixture
def opened(browser, made, request):
    with opened_page(browser, made, **getattr(request, "param", {})) as tab:
        yield tab


CHAINS = 'drafts = ["chain:1", "chain:2"]\nrows = { kind = "random", count = 2 }\n'
SHAPES = {
    "check only": f'metrics = ["check"]\nverifiers = ["token", "block"]\n{CHAINS}',
    "gap only": f'metrics = ["gap"]\nverifiers = ["token", "block"]\n{CHAINS}',
    "one depth": f'metrics = ["check", "gap"]\nverifiers = ["token"]\n{CHAINS.replace("1, 2", "1")}',
    "lossy rules": f'metrics = ["check", "gap"]\nverifiers = ["hsd-released"]\n{CHAINS}',
    "a rule with state": f'metrics = ["check", "gap"]\nverifiers = ["greedy-block"]\n{CHAINS}',
    "no optima": f'metrics = ["check", "gap"]\noptima = false\nverifiers = ["token"]\n{CHAINS}',
    "several kinds": 'metrics = ["check"]\nverifiers = ["rrs"]\n'
    'drafts = ["chain:2", "paths:2x2"]\nrows = ["scenarios"]',
}
"""Sweep -> its file."""


@pytest.mark.parametrize("shape", SHAPES)
def test_the_page_of_every_shape_of_sweep_opens(browser, shape, tmp_path, monkeypatch, capfd):
    pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "swept.toml").write_text(SHAPES[shape], encoding="utf-8")
    assert enter(commands(), ["sweep", "swept.toml", "--workers", "1"]) == 0
    found = sections.sections(Results("results/swept"))
    assert found
    path = tmp_path / "report.html"
    path.write_text(page(shape, "", [], found), encoding="utf-8")
    with opened_page(browser, path) as tab:
        shown = {each.get_attribute("id") for each in tab.locator("section[id]").all()}
        assert shown == set(found)
        for name in found:
            assert tab.locator(f"#{name} tbody tr").count(), name
        assert "lossy" not in tab.locator(".good").all_inner_texts()


def test_tables_sort_from_the_keyboard(opened):
    heading = opened.locator("#verdicts th button", has_text="largest TV")
    heading.press("Enter")
    heading.press("Enter")
    assert heading.locator("xpath=..").get_attribute("aria-sort") == "descending"
    assert opened.locator("#verdicts tbody th").first.inner_text() == "hsd-released"
    assert opened.locator("#verdicts .bad").count() == 0  # found lossy, as declared
    assert "</script>" in opened.evaluate(
        "JSON.parse(document.getElementById('data').textContent).worst.missing[0].instance"
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
    assert opened.evaluate("document.documentElement.lang") == "en"


def test_the_page_is_one_file(made):
    content = made.read_text(encoding="utf-8")
    assert "<title>a &lt;title&gt;</title>" in content
    assert not any(
        f'{what}="{scheme}' in content for what in ("src", "href") for scheme in ("http", "//", "/")
    )
    assert "import " not in content.split('<script type="module">')[1].replace("important", "")
    data = content.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    assert json.loads(data)["worst"]["missing"][0]["instance"].endswith(" a < b & </script>")
