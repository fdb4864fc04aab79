"""Acceptance question by question, and the two means of it, with intervals clustered by question."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from draftproof.gpu.bench.models import Cell
from draftproof.gpu.bench.timing import Estimate, difference
from draftproof.gpu.engine.prompts import Prompt
from draftproof.simulators import screen

MEANS = "ratio_of_totals", "mean_over_questions"


def lengths(taus: Sequence[float], asked: Sequence[int]) -> dict[int, float]:
    """The mean of the steps of each question: tokens a step, the extra token counted.

    >>> lengths([2, 0, 1], [0, 0, 1])
    {0: 2.0, 1: 2.0}
    """
    found: defaultdict[int, list[float]] = defaultdict(list)
    for tau, question in zip(taus, asked, strict=True):
        found[question].append(1 + tau)
    return {question: sum(each) / len(each) for question, each in found.items()}


def means(taus: Sequence[float], asked: Sequence[int]) -> dict[str, Estimate]:
    """Both means of the tokens a step, with t-intervals in which a question is one cluster.

    `ratio_of_totals`: all tokens over all steps, so that a question with many steps, whose drafts are often
    rejected, counts more; `mean_over_questions`: every question counts the same. Published reports give
    one or the other.

    >>> found = means([3, 0, 0, 0], [0, 1, 1, 1])
    >>> found["ratio_of_totals"].value, found["mean_over_questions"].value
    (1.75, 2.5)
    """
    each = [*lengths(taus, asked).values()]
    whole = [1.0 + tau for tau in taus]
    return {
        "ratio_of_totals": difference(whole, [0.0] * len(whole), asked),
        "mean_over_questions": difference(each, [0.0] * len(each)),
    }


def apart(ours: Cell, theirs: Cell) -> Estimate:
    """The difference of the means over questions, paired by question."""
    one, other = lengths(ours.taus, ours.asked), lengths(theirs.taus, theirs.asked)
    both = [question for question in one if question in other]  # they may differ in an interrupted run
    return difference([one[each] for each in both], [other[each] for each in both])


def table_of(cell: Cell, prompts: Sequence[Prompt]) -> list[dict[str, Any]]:
    """One JSON object for each question: its number in the run, the `question_id` and `category` of its file,
    its turns, steps (of all turns and repeats), accepted tokens and mean acceptance length, and the fraction
    of drafts with l or more accepted tokens at index l - 1.
    """
    depth = cell.structure.depth if cell.structure else 0
    taus: defaultdict[int, list[int]] = defaultdict(list)
    for tau, question in zip(cell.taus, cell.asked, strict=True):
        taus[question].append(tau)
    found = []
    for number, given in taus.items():
        turns = [prompt for prompt in prompts if prompt.question == number]
        found.append(
            {
                "question": number,
                "question_id": turns[0].name,
                "category": turns[0].category,
                "turns": len(turns),
                "steps": len(given),
                "accepted": sum(given),
                "mean_acceptance_length": 1 + sum(given) / len(given),
                "acceptance_rate_per_position": [
                    sum(tau >= place for tau in given) / len(given) for place in range(1, depth + 1)
                ],
            }
        )
    return found


def tables(rows: Sequence[dict[str, Any]], versus: Sequence[dict[str, Any]], every: bool) -> list[Table]:
    """The two means of each cell and of each difference, if there are several questions; if `every`, also all
    questions.
    """
    start = "T", "draft", "method"
    both = screen.table("Means of questions", "lllrrr", *start, "totals", "over questions", "questions")
    whole = screen.table(
        "Acceptance by question", "llllrrr", *start, "question", "MAT", "steps", "by position"
    )
    for row in rows:
        named = f"{row['temperature']:g}", row["draft"], method_of(row)
        asked = row.get("questions", ())
        if len(asked) > 1:
            both.add_row(*named, *(spelled(row[name]) for name in MEANS), str(len(asked)))
        for each in asked if every else ():
            name = each["question_id"] or str(each["question"])
            name += f" ({each['category']})" if each["category"] else ""
            rates = " ".join(f"{rate:.2f}" for rate in each["acceptance_rate_per_position"])
            length = f"{each['mean_acceptance_length']:.2f}"
            whole.add_row(*named, name, length, f"{each['steps']:,}", rates)
    for each in versus if both.row_count else ():
        apart = (spelled(one, "+.2f") for one in (each, each["mean_over_questions"]))
        both.add_row(f"{each['temperature']:g}", each["draft"], " - ".join(each["verifiers"]), *apart)
    return [each for each in (both, whole) if each.row_count]


def panel(axis: Any, row: dict[str, Any], look: dict[str, Any]) -> None:
    """Draws the mean acceptance length of each question of a cell and, as lines, its ratio of totals (solid)
    and its mean over questions (dashed).
    """
    places, lengths = zip(
        *((each["question"], each["mean_acceptance_length"]) for each in row["questions"]), strict=True
    )
    axis.plot(places, lengths, **look, linestyle="", alpha=0.6)
    for name, style in zip(MEANS, ("-", "--"), strict=True):
        axis.axhline(row[name]["value"], color=look["color"], linestyle=style, linewidth=0.9)
    axis.set_xlabel("question")


def method_of(row: dict[str, Any]) -> str:
    """A cell's method, and its batch if that is not 1."""
    return row["method"] if row["batch"] == 1 else f"{row['method']} x{row['batch']}"


def spelled(found: dict[str, Any] | None, style: str = ".2f") -> str:
    """An estimate with its interval, if it has one; the ratio of a cell to itself is just 1."""
    if found is None:
        return ""
    value, low, high = found["value"], found["low"], found["high"]
    if low == high == 1:
        return "1"
    return f"{value:{style}} \\[{low:{style}}, {high:{style}}]" if high is not None else f"{value:{style}}"
