"""The loop that carries out a plan: what all of its passes together do."""

from collections.abc import Iterator
from typing import Any

from draftproof.proofs_check.cells.enumeration import Draw, Replay
from draftproof.proofs_check.cells.symbol import POSITIVE, ZERO, Symbol
from draftproof.proofs_check.every_size.machine.flow import Env, Loop, NotFollowed, Step
from draftproof.proofs_check.every_size.machine.run import Run
from draftproof.proofs_check.every_size.machine.space import UNIT
from draftproof.proofs_check.every_size.machine.values import UNKNOWN, Node, Plan, Token
from draftproof.theory import rows

PASS, AGAIN = "pass", object()


class Finished(Exception):
    """No mass is left that could go on: every run has stopped."""


class Coins(Replay):
    """The oracle of a pass, which tosses coins only."""

    def choose(self, row: Any) -> int:
        raise NotFollowed("a token is chosen in the loop over a plan's children")


def _passes(
    run: Run, loop: Loop, env: Env, token: Token, item: Any, sides: tuple[int, ...] = ()
) -> Iterator[tuple[Any, Any, Run]]:
    # (weight, mass of y or AGAIN, the run) of every way that one pass of the loop's body can go on after the
    # sides of some coins: both sides of each are taken, also those of probability zero.
    inner = Run(run.space, Coins(sides), run.inner, run.mode, run.hypotheses)
    inner.here, inner.function, inner.examined = run.here, run.function, True
    inner.bounds, inner.start = run.bounds, (PASS, loop)
    inner.child = child = Node(token)
    inside = dict(env)
    inner.bind(loop.statement.target, (child, item), inside)
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
