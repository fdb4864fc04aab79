"""What is written is there whole, or what was there before still is."""

import errno
from pathlib import Path

import pytest

from draftproof.simulators.support.files import replacing
from draftproof.theory.errors import BadInput


@pytest.mark.parametrize(
    ("error", "seen", "said"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt, None),
        (OSError(errno.ENOSPC, "No space left on device"), BadInput, "page.html: no space left on device"),
    ],
)
def test_what_breaks_off_leaves_what_was_there_and_nothing_else(tmp_path, error, seen, said):
    page = tmp_path / "page.html"
    page.write_text("before", encoding="utf-8")

    def broken_off():
        with replacing(page) as part:
            part.write_text("half", encoding="utf-8")
            raise error

    with pytest.raises(seen, match=said):
        broken_off()
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    assert page.read_text(encoding="utf-8") == "before"


def test_a_link_stays_one(tmp_path):
    link, page = tmp_path / "link.html", tmp_path / "page.html"
    link.symlink_to(page)
    for said in ("first", "second"):
        with replacing(link) as part:
            part.write_text(said, encoding="utf-8")
        assert link.is_symlink()
        assert page.read_text(encoding="utf-8") == said


def test_what_is_no_file_is_written_itself():
    nowhere = Path("/dev/null")
    with replacing(nowhere) as part:
        assert part == nowhere


def test_a_place_that_cannot_be_is_named(tmp_path):
    (tmp_path / "file").touch()

    def written():
        with replacing(tmp_path / "file" / "page.html") as part:
            part.write_text("page", encoding="utf-8")

    with pytest.raises(BadInput, match=r"file/page.html: not a directory"):
        written()
