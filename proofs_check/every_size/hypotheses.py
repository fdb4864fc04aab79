"""The induction hypotheses of one proof, as a run meets them: where it starts, and at the places that it
arrives at.
"""

import ast
from types import FunctionType
from typing import Any

from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.proofs_check.every_size.claims import Claim
from draftproof.proofs_check.every_size.machine.flow import Env, Function, Loop, NotFollowed, Step, iterator
from draftproof.proofs_check.every_size.machine.iterations import AGAIN, PASS, Finished, exclusive
from draftproof.proofs_check.every_size.machine.run import Run
from draftproof.proofs_check.every_size.machine.state import Refuted
from draftproof.proofs_check.every_size.machine.values import EDGES, Below, Named, Node, Plan
from draftproof.theory.verifier import Verifier


class Hypotheses:
    """All claims of one proof, as a run sees them that starts at the claim `current`."""

    def __init__(self, verifier: Verifier) -> None:
        self.verifier = verifier
        self.claims: dict[Loop | Function, Claim] = {}
        self.averaged = False  # whether a drafted token was averaged over
        self.contracts: list[str] = []  # what was assumed of functions that were not run
        self.results: dict[str, int] = {}
        self.order: list[Loop | Function] = []
        self.current: Claim | None = None

    @property
    def at_root(self) -> bool:
        return self.current is not None and self.current.place is self.order[0]

    # Starting a run.

    def begin(self, run: Run, claim: Claim) -> Symbol:
        """One run from the claim's place."""
        run.function, run.start = claim.function, claim.place
        env = {name: claim.start(run, name) for name in claim.env}
        step = claim.place.first if isinstance(claim.place, Function) else run.enter(claim.place, env)
        try:
            last = run.go(step, env)
        except Finished:
            return run.gained
        return run.gained + run.reach * last

    # Arriving at places.

    def arrive(self, run: Run, loop: Loop, env: Env) -> Symbol | Step:
        """What follows at the head of a loop, by its claim or its plan; or the step to go on at."""
        statement = loop.statement
        items = env.get(iterator(statement)) if isinstance(statement, ast.For) else None
        if run.start == (PASS, loop):
            run.env = env
            return AGAIN  # type: ignore[return-value]
        if isinstance(items, Plan) and items.form:
            return exclusive(run, loop, env, items)
        node = self._node_of(run, loop, env, items)
        self.assume(loop, run.function, env, loop.assigned, node).check(env, node)
        return run.arrived(node)

    def _node_of(self, run: Run, loop: Loop, env: Env, items: Any) -> Any:
        # The node that the loop's claim is about where a run arrives.
        if items is EDGES:
            node: Any = run.child if run.start is loop else run.here
            if node is not run.here:
                run.use(node)
            return node
        if items is None:
            return self._tested_node(run, loop, env)
        raise NotFollowed(f"line {loop.statement.lineno}: a loop over {type(items).__name__}")

    def _tested_node(self, run: Run, loop: Loop, env: Env) -> Any:
        # The one node among the variables that the condition of a `while` tests and the loop changes.
        tested = {each.id for each in ast.walk(loop.statement.test) if isinstance(each, ast.Name)}
        nodes = [env[name] for name in tested & loop.assigned if isinstance(env.get(name), Node)]
        if len(nodes) != 1:
            raise NotFollowed(f"{loop}: the node that it is about is not known")
        node = nodes[0]
        if run.start is loop or run.examined or node is not run.here:
            if node is run.here:
                raise Refuted(f"line {loop.statement.lineno}: the loop goes on at the same node")
            run.use(node)
        return node

    def assume(
        self, place: Loop | Function, function: Any, env: Env, changing: frozenset[str], node: Any = None
    ) -> Claim:
        if place not in self.claims:
            extra = {name for name in env if name.startswith("for ")}
            known = {
                name: value for name, value in env.items() if not isinstance(value, Node) or value is node
            }
            self.claims[place] = Claim(place, function, known, changing | extra)
            self.order.append(place)
        return self.claims[place]

    # Calls.

    def call(self, run: Run, function: Function, arguments: list[Any]) -> Any:
        if len(arguments) != len(function.parameters):
            raise NotFollowed(f"{function.name} with {len(arguments)} arguments")
        env = dict(zip(function.parameters, arguments, strict=True))
        nodes = [value for value in arguments if isinstance(value, Node)]
        if not nodes:
            return run.inlined(function, env)
        if len(nodes) != 1:
            raise NotFollowed(f"{function.name} is not about one node")
        node = nodes[0]
        if node is run.here and (not self.at_root or run.examined or function is self.order[0]):
            raise NotFollowed(f"{function.name} is called again on the same node")
        run.use(node)
        generic = {name: (run.here if value is node else value) for name, value in env.items()}
        changing = frozenset(
            name for name, value in env.items() if not isinstance(value, Named | FunctionType)
        )
        claim = self.assume(function, function, generic, changing, run.here)
        claim.check(env, node)
        return Below(node) if run.accept(claim.rate_in(run, env)) else None
