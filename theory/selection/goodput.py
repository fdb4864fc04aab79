"""Goodput: one draft length for the batch, by the acceptance rate seen before."""

from draftproof.theory.selection.view import Rule, View, in_turn, product


def select(view: View) -> None:
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


RULE = Rule("goodput", "liu2024goodput, Section 3", "earlier calls", predictable=True, select=select)
