"""Claims decided again: where each is stated, what it rests on, what was run, and how long that took."""

import re
from dataclasses import dataclass
from functools import cache
from time import process_time
from typing import Any

from draftproof.proofs_check.claims import CLAIMS
from draftproof.proofs_check.claims.claim import CELLS, CODE, EXACT, ROCQ, Claim
from draftproof.simulators.support.files import SHIPPED
from draftproof.theory.errors import BadInput, quoted, unknown
from draftproof.theory.shared.reportable import Reportable, counted

QUICK = 5.0  # verdicts that take at most so many seconds are checked again by default
NUMBER = re.compile(r"\d{4}\.\d{4,5}")
ASSUMED = {
    CODE: "the models of drafts, coins and rows, each pinned to the code that it was compared with",
    CELLS: "nothing beyond p and q that are laws, drafts drawn as their kind says, and the sizes named",
    ROCQ: "the axioms of Rocq's real numbers; that its program is the code, which tests compare",
    EXACT: "nothing: it is about these instances",
}
"""What stands behind a verdict -> what that assumes."""


@dataclass(frozen=True, repr=False)
class Review(Reportable):
    """The claims, with the verdict found now of each that was run, and the CPU seconds that it took."""

    claims: tuple[Claim, ...]
    found: dict[str, tuple[str, float]]

    @property
    def ok(self) -> bool:
        """Whether every verdict found now is the recorded one."""
        return all(self.found.get(each.key, (each.verdict,))[0] == each.verdict for each in self.claims)

    def __str__(self) -> str:
        verdict = "every verdict checked is as recorded" if self.ok else "NOT every verdict is as recorded"
        return f"{counted(len(self.claims), 'claim')}, {len(self.found)} checked now: {verdict}"

    def to_dict(self) -> dict[str, Any]:
        return {"claims": [self._document(claim) for claim in self.claims], "ok": self.ok}

    def rows(self) -> list[dict[str, Any]]:
        return self.to_dict()["claims"]

    def _document(self, claim: Claim) -> dict[str, Any]:
        said = {name: getattr(claim, name) for name in ("statement", "source", "scope", "verdict")}
        found, took = self.found.get(claim.key, (None, None))
        made = {"found": found, "command": claim.command, "seconds": claim.seconds, "took": took}
        papers = [cited()[key] for key in keys_of(claim.source)]
        assumed = [ASSUMED[each] for each in claim.behind]
        rests = {"behind": [*claim.behind], "assumes": assumed, "papers": papers}
        return {"claim": claim.key, **said, **rests, **made}

    def lines(self, claim: Claim) -> list[str]:
        """What is printed of a claim, line by line."""
        found, took = self.found.get(claim.key, ("", claim.seconds))
        said = "checked" if found == claim.verdict else f"NOW: {found}"
        said = said if found else "recorded, not checked now"
        return [
            f"{claim.key}: {claim.verdict} [{said}]",
            f"  {claim.statement}",
            f"  for {claim.scope}" + (f"; {claim.note}" if claim.note else ""),
            *(f"  {each}; assumed: {ASSUMED[each]}" for each in claim.behind),
            f"  {claim.source}",
            *(f"  {' '.join(cited()[key].values())}".rstrip() for key in keys_of(claim.source)),
            f"  {claim.command}   ({f'took {took:.1f}' if found else f'about {took:g}'} s)",
        ]


def review(
    *names: str,
    paper: str | None = None,
    everything: bool = False,
    listed: bool = False,
    shown: bool | None = False,
) -> Review:
    """The claims of these names, or about these papers, decided again.

    Of all claims, those that take more than a few seconds are decided only with `everything`; with `listed`
    none is. A paper is given by its number, its address, its key in references.bib or words of its title.
    `shown`: whether progress is, None for a terminal. Raises BadInput for what no claim is about.
    """
    chosen = [claim for name in names for claim in _named(name)] or list(CLAIMS.values())
    if paper is not None:
        wanted = about(paper)
        chosen = [claim for claim in chosen if claim in wanted]
    chosen = list(dict.fromkeys(chosen))
    from draftproof.simulators import screen  # imported here, since rich is slow

    found = {}
    with screen.progress("claims", shown) as bar:
        task = bar.add_task("checking", total=len(chosen))
        for claim in chosen:
            if not listed and (names or everything or claim.seconds <= QUICK):
                started = process_time()
                found[claim.key] = claim.check(), process_time() - started
            bar.advance(task)
    return Review(tuple(chosen), found)


def _named(name: str) -> list[Claim]:
    if name in CLAIMS:
        return [CLAIMS[name]]
    if not papers(name):
        raise unknown("claim or paper", name, [*CLAIMS, *cited()])
    return about(name)


def about(paper: str) -> list[Claim]:
    """The claims whose source is such a paper; BadInput if there are none."""
    keys = papers(paper)
    if not (found := [each for each in CLAIMS.values() if keys & {*keys_of(each.source)}]):
        raise BadInput(f"no claim is about the paper {quoted(paper)}; `claims --list` shows sources")
    return found


def papers(paper: str) -> set[str]:
    """The keys of the papers with this number, or with these words in their title or key."""
    word = paper.strip().lower()
    number = NUMBER.search(word)
    return {
        key
        for key, entry in cited().items()
        if (number and number[0] in entry["link"]) or (word and word in f"{key} {entry['title'].lower()}")
    }


@cache
def cited() -> dict[str, dict[str, str]]:
    """Key in references.bib -> its title and link."""
    entries = (SHIPPED / "references.bib").read_text(encoding="utf-8").split("\n@")
    return {re.split("[{,]", entry)[1]: _paper(entry) for entry in entries if "{" in entry}


def _paper(entry: str) -> dict[str, str]:
    given = dict(re.findall(r"(\w+) = \{((?:[^{}]|\{[^{}]*\})*)\}", entry))
    link = f"https://arxiv.org/abs/{given['eprint']}" if "eprint" in given else given.get("url", "")
    return {"title": re.sub("[{}]", "", given["title"]), "link": link}


def keys_of(source: str) -> list[str]:
    """The keys of references.bib in a claim's source."""
    return [word for word in dict.fromkeys(re.findall(r"\w+", source)) if word in cited()]
