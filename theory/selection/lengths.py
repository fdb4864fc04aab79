"""Rules that keep as many tokens of every request, whatever was drafted."""

from draftproof.theory.selection.view import Rule, View, in_turn, product


def everything(view: View) -> None:
    """Keeps every token, one of each request in turn until the capacity is used up."""
    in_turn(view, lambda r: True)


def fixed(view: View) -> None:
    """Keeps capacity // R tokens of each of R requests."""
    share = view.capacity // len(view.lengths)
    in_turn(view, lambda r: view.lengths[r] < share)


def goodput(view: View) -> None:
    """Keeps k tokens of each of R requests, k with the largest (1 + a + .. + a^k) speed[R k].

    a is the mean over the requests of 1 - TV(p, q) at their contexts, in place of the acceptance rate that
    was measured over earlier calls.
    """
    requests = len(view.lengths)
    a = sum((view.confidence(r, ()) for r in range(requests)), view.one() * 0) / requests
    longest = min(view.capacity // requests, max(map(view.drafted, range(requests))))
    best, most, tokens = 0, view.one() * view.speed[0], view.one()
    for k in range(1, longest + 1):
        tokens = tokens + product([a] * k, view.one())
        if tokens * view.speed[requests * k] > most:
            best, most = k, tokens * view.speed[requests * k]
    in_turn(view, lambda r: view.lengths[r] < best)


SELECTION_RULES = (
    Rule("all", "leviathan2023fast, Algorithm 1", "nothing", predictable=True, select=everything),
    Rule("fixed", "leviathan2023fast, Section 3.5", "nothing", predictable=True, select=fixed),
    Rule("goodput", "liu2024goodput, Section 3", "earlier calls", predictable=True, select=goodput),
)
