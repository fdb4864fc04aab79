"""Loops over children whose passes do not depend on each other: what all of them together do."""

from collections.abc import Iterator
from typing import Any

from draftproof.proofs_check.cells.enumeration import Draw, Replay
from draftproof.proofs_check.cells.symbol import POSITIVE, ZERO, Symbol
from draftproof.proofs_check.every_size.machine.flow import Env, Loop, NotFollowed, Step
from draftproof.proofs_check.every_size.machine.run import Run
from draftproof.proofs_check.every_size.machine.space import UNIT
from draftproof.proofs_check.every_size.machine.values import UNKNOWN, Count, Node, Plan, Token
from draftproof.theory import rows

PASS, AGAIN = "pass", object()


class Finished(Exception):
    """No mass is left that could go on: every run has stopped."""


class Coins(Replay):
    """The oracle of a pass, which tosses coins only."""

    def choose(self, row: Any) -> int:
        raise NotFollowed("a token is chosen in a loop whose passes are alike")


def _passes(
    run: Run, loop: Loop, env: Env, token: Token, item: Any, sides: tuple[int, ...] = ()
) -> Iterator[tuple[Any, Any, Run]]:
    # (weight, mass of y or AGAIN, the run) of every way that one pass of the loop's body can go on after the
    # sides of some coins: both sides of each are taken, also those of probability zero.
    inner = Run(run.space, Coins(sides), run.scenario, run.mode, run.hypotheses)
    inner.here, inner.function, inner.examined = run.here, run.function, True
    inner.series, inner.bounds, inner.start = run.series, run.bounds, (PASS, loop)
    inner.child = child = Node(token)
    inside = dict(env)
    inner.bind(loop.statement.target, child if item is None else (child, item), inside)
    try:
        result = inner.go(loop.body, inside)
    except Draw as coin:
        for side, chance in coin.args[0]:
            for weight, result, inner in _passes(run, loop, env, token, item, (*sides, side)):
                yield chance * weight, result, inner
        return
    if result is AGAIN and any(
        isinstance(value, Node) and inner.env.get(name) is not value for name, value in env.items()
    ):
        raise NotFollowed(f"{loop}: a pass that goes on changes the node")
    yield run.space.number(1), result, inner


def _forget(loop: Loop, env: Env) -> None:
    # Forgets what the loop assigns, except nodes: a pass that goes on must not change them.
    for name in loop.assigned:
        if not isinstance(env.get(name), Node):
            env[name] = UNKNOWN


def alike(run: Run, loop: Loop, env: Env, segments: tuple) -> Symbol | Step:
    """A loop over i.i.d. children that changes nothing: with K children alike, of which each stops the
    run with probability b, the K-th is reached with (1 - b)^(K-1).
    """
    if run.mode != "with replacement" or run.examined:
        raise NotFollowed("children that are alike are drawn with replacement")
    if not run.inner:
        raise NotFollowed("children that are alike are counted where there are some")
    counts = [count for _, count in segments if isinstance(count, Count)]
    items = sum(count for _, count in segments if isinstance(count, int))
    if len(counts) != 1 or counts[0].offset + items != 0:
        raise NotFollowed("a list that does not have one item for each child")
    run.examined = True
    _forget(loop, env)
    law, space = run.proposal_row, run.space
    run.hypotheses.averaged = True
    for item, count in segments:
        if not run.reach > 0:
            raise Finished
        before, space.forms = space.forms, set()
        stops, gains = space.number(0), space.number(0)
        for index in range(space.tokens):
            whole = index > (space.individual or 0)
            stopped, gained = space.number(0), space.number(0)
            for weight, result, _ in _passes(run, loop, env, Token(index, whole), item):
                if result is not AGAIN:
                    stopped, gained = stopped + weight, gained + weight * result
            stopped, gained = law[index] * stopped, law[index] * gained
            if index == space.individual and not space.linear(stopped):
                raise NotFollowed("a child's stop is not linear in its token's entries")
            stops, gains = stops + stopped, gains + gained
        drawn = set() if space.individual is None else space.own_factors(law[space.individual].top)
        run.same_signs(space.forms - drawn)
        space.forms = before
        if isinstance(count, Count):
            early, late = run.powers(stops)
            times = early if count.offset else early + late
        elif count == 1:
            times = space.number(1)
        else:
            raise NotFollowed(f"an item that stands {count} times in a list")
        run.gained = run.gained + run.reach * gains * times
        run.reach = run.reach * (1 - stops * times)
    if space.individual is not None:
        raise Finished  # this run only had to see that what a token adds is linear in its entries
    if not run.reach > 0:
        raise Finished
    return loop.exit


def exclusive(run: Run, loop: Loop, env: Env, plan: Plan) -> Symbol | Step:
    """A loop that enters child j with w_j / left_j, left_j = 1 - w_1 - .. - w_(j-1): its child j is
    reached with left_j and stops the run with w_j, whatever was drawn.
    """
    if run.examined:
        raise NotFollowed("the children of a node are looked at twice")
    run.examined = True
    numbers = [name for name in loop.assigned if isinstance(env.get(name), Symbol)]
    if plan.form != "judged" and (len(numbers) != 1 or env[numbers[0]] != 1):
        raise NotFollowed("what is left of 1 is not known")
    left, w = run.fresh(UNIT, "left"), run.fresh(UNIT, "mass")
    if plan.form == "judged":
        left, numbers = run.space.number(1), []
    run.space.assume(left, POSITIVE)
    run.space.assume(left - w, ZERO | POSITIVE)
    start = dict(env)
    _forget(loop, start)
    start |= dict.fromkeys(numbers, left)
    for index in (0, 1):
        stopped = run.space.number(0)
        for weight, result, inner in _passes(run, loop, start, Token(index, index > 0), w):
            if result is not AGAIN:
                stopped = stopped + weight
                if result != int(index == 0):
                    raise NotFollowed("a stop elsewhere than at the child")
            elif any(inner.env[name] != left - w for name in numbers):
                raise NotFollowed("what is left is not what it was without the child's mass")
        if not stopped * left == w:
            raise NotFollowed("a child is not entered with its mass over what is left")
    _forget(loop, env)
    accepted = rows.total(plan.taken)
    run.gained = run.gained + run.reach * plan.taken[0]
    run.reach = run.reach * (1 - accepted)
    if not run.reach > 0:
        raise Finished
    return loop.exit
