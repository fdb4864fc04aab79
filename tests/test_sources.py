"""Every listed source has a page of the site, and its claims are found by its number."""

import runpy
from pathlib import Path

import pytest

from draftproof.proofs_check.claims.review import NUMBER, about, cited

pytest.importorskip("mkdocs")
HOOK = runpy.run_path(str(Path(__file__).parents[1] / "docs/sources.py"))


@pytest.mark.parametrize("key", cited())
def test_a_source_has_a_page_with_its_claims(key):
    written = HOOK["written"](key)
    text = (HOOK["DOCS"] / f"papers/{written}.md").read_text() if written else HOOK["page_of"](key)
    claims = HOOK["claims_of"](key)
    if not written:
        assert cited()[key]["title"] in text
        assert all(f"`{claim.key}`" in text for claim in claims)
    if claims:
        number = NUMBER.search(cited()[key]["link"])
        name = number[0] if number else key
        assert f"--paper {name}" in text
        assert {*claims} <= {*about(name)}


def test_the_list_has_every_source():
    listed = HOOK["listed"]()
    assert all(f"]({HOOK['written'](key) or key}.md)" in listed for key in cited())
