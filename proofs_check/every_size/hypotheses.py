"""The induction hypotheses of one proof, as a run meets them: where it starts, and at the places that it
arrives at.
"""

import ast
from types import FunctionType
from typing import Any

from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.proofs_check.every_size.claims import FIXED, NEXT_CHILD, Claim, Later
from draftproof.proofs_check.every_size.contracts import Modified, contract_of
from draftproof.proofs_check.every_size.machine.flow import Env, Function, Loop, NotFollowed, Step, iterator
from draftproof.proofs_check.every_size.machine.iterations import AGAIN, PASS, Finished, alike, exclusive
from draftproof.proofs_check.every_size.machine.run import Run
from draftproof.proofs_check.every_size.machine.state import Refuted
from draftproof.proofs_check.every_size.machine.values import (
    Backwards,
    Below,
    Chain,
    Children,
    Count,
    Edges,
    Named,
    Node,
    Plan,
    Row,
    Segments,
    Stack,
    TargetRow,
    Without,
    Zipped,
)
from draftproof.theory import rows
from draftproof.theory.verifier import Verifier


class Hypotheses:
    """All claims of one proof, as a run sees them that starts at the claim `current`.

    Of the `verifier`, `carry` makes the target that it leaves behind, None if that is the old one. With
    `accepted` the claims are about tokens that are kept: y, drafted below `here`, with mass
    min(a p(y), q(y)), or min(R p(y), q(y)).
    """

    def __init__(self, chosen: dict[Any, int], facts: dict[Any, dict[str, int]], verifier: Verifier) -> None:
        self.verifier, self.carry, self.accepted = verifier, verifier.carry, False
        self.claims: dict[Loop | Function, Claim] = {}
        self.chosen, self.facts = chosen, facts
        self.asked_draft = False
        self.passes = False  # whether a loop of passes that are alike was met
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
        self.left_behind(run)
        run.function, run.start = claim.function, claim.place
        env = {name: claim.start(run, name) for name in claim.env}
        step = claim.place.first if isinstance(claim.place, Function) else run.enter(claim.place, env)
        try:
            last = run.go(step, env)
        except Finished:
            return run.gained
        return run.gained + run.reach * last

    def left_behind(self, run: Run) -> Modified | None:
        """What is left behind, by the contract of the function that makes it."""
        if self.carry is None:
            return None
        if (contract := contract_of(run, self.carry)) is None:
            raise NotFollowed("the target that the verifier leaves behind is not known")
        return contract()

    def wanted(self, run: Run, claim: Claim) -> Symbol:
        """The mass that the claim says y gets."""
        env = {name: claim.start(run, name) for name in claim.env}
        if not self.accepted:
            return claim.mass(run, env)
        if not run.inner:
            return run.space.number(0)
        ratio, rate = claim.rates(run, env)
        kept = run.operation(rows.scale, [ratio if claim.left else rate, claim.row_in(run, env)])
        return run.operation(rows.meet, [kept, run.proposal_row])[0]

    # Arriving at places.

    def arrive(self, run: Run, loop: Loop, env: Env) -> Symbol | Step:
        """What follows at the head of a loop, by its claim or its form; or the step to go on at."""
        statement = loop.statement
        items = env.get(iterator(statement)) if isinstance(statement, ast.For) else None
        if run.start == (PASS, loop):
            run.env = env
            return AGAIN  # type: ignore[return-value]
        by_form = self._by_form(run, loop, env, items)
        if by_form is not None:
            return by_form
        node = self._node_of(run, loop, env, items)
        claim = self.assume(loop, run.function, env, loop.assigned, node, self.left_behind(run))
        env, own = self._split(run, claim, env, node)
        return self._apply(run, claim, env, node, own, loop)

    def _by_form(self, run: Run, loop: Loop, env: Env, items: Any) -> Symbol | Step | None:
        # What follows where the loop needs no claim: at a leaf, over exclusive or equal children, on a chain.
        match items:
            case Children() if run.start is not loop and not run.examined and not run.inner:
                return loop.exit  # a leaf: nothing below it, and no row that its children would have
            case Zipped(columns=(Children(), Segments(items=segments))):
                return alike(run, loop, env, segments)
            case Plan(form="shares" | "judged") as plan:
                return exclusive(run, loop, env, plan)
            case Zipped() | Backwards():
                return self._arrive_later(run, loop, env, items)
            case Children() if run.mode == "chain":  # one child at most
                if run.start is loop:
                    raise NotFollowed("a chain's child is a loop of its own")
                if run.examined or not run.inner:
                    return loop.exit
                run.bind(loop.statement.target, run.draw_child(run.proposal_row), env)
                return loop.body
            case Children() if run.mode == "with replacement" and not run.examined:
                state = Symbol | Row | TargetRow | list
                if not any(isinstance(env.get(name), state) for name in loop.assigned):
                    return alike(run, loop, env, ((None, Count()),))
        return None

    def _node_of(self, run: Run, loop: Loop, env: Env, items: Any) -> Any:
        # The node that the loop's claim is about where a run arrives; children drawn without replacement
        # leave the law of the next one in the environment.
        if isinstance(items, Children):
            if run.examined and run.start is not loop:
                raise NotFollowed("the children of a node are looked at twice")
            law = run.next_law(env)
            if run.mode == "without replacement":
                child = run.child
                if run.start is loop and child is not None and child.token is not None:
                    law = None if law is None else Without(law, child.token)
                env[NEXT_CHILD] = law
            return run.here
        if isinstance(items, Edges):
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
        self,
        place: Loop | Function,
        function: Any,
        env: Env,
        changing: frozenset[str],
        node: Any = None,
        left: Modified | None = None,
    ) -> Claim:
        if place not in self.claims:
            extra = {name for name in env if name.startswith("for ")}
            known = {
                name: value for name, value in env.items() if not isinstance(value, Node) or value is node
            }
            facts = self.facts.setdefault(place, {})
            claim = self.claims[place] = Claim(place, function, known, changing | extra, facts, left=left)
            self.order.append(place)
            if not (options := claim.options()):
                raise NotFollowed(f"{place}: no rate that a claim could be about")
            claim.row, claim.rate, claim.over = options[self.chosen.get(place, 0)]
        return self.claims[place]

    def _split(self, run: Run, claim: Claim, env: Env, node: Any) -> tuple[Env, Env]:
        # Lists along the chain: the items that belong to `here`, and the environment without them.
        out, own = dict(env), {}
        for name in claim.changing & claim.env.keys():
            old = claim.env[name]
            if not isinstance(old, list):
                continue
            now = env[name]
            extra = len(now) - len(old)
            if extra != (node is not run.here) or (
                isinstance(old, Stack) != isinstance(now, Stack) and extra == 0
            ):
                raise NotFollowed(f"{name} does not grow by one item a node")
            own[name] = now[0] if extra else None
            out[name] = Stack(now[extra:], name)
        return out, own

    def _apply(self, run: Run, claim: Claim, env: Env, node: Any, own: Env, loop: Loop) -> Symbol | Step:
        claim.check(run, env, node)
        ratio, rate = claim.rates(run, env)
        run.require_unit(rate, "a rate")
        if node is run.here:
            if self.accepted and not self.at_root:
                raise NotFollowed("a claim about the same node")
            return claim.mass(run, env)
        row = None if claim.row is None else env[claim.row]
        if row is not None and not (isinstance(row, TargetRow) and row.node is node):
            raise NotFollowed(f"{claim.row} at a child is not the target's row there")
        if claim.rate is None:
            return run.arrived(node)
        if run.accept(rate):
            return self._followed(run, claim, node, (ratio, rate))
        if claim.later is None:
            raise NotFollowed("where a run goes on that did not stop is not known")
        return self._go_on(run, claim, own, claim.later)

    def _followed(self, run: Run, claim: Claim, node: Any, rates: tuple[Symbol, Symbol]) -> Symbol:
        # Mass of y once the run has stopped at or below the child, which it does with the rate.
        token = run.arrived(node)
        if not claim.left:
            return token
        if claim is not self.current:
            raise NotFollowed("a child of another place than the claim's")
        before = claim.rates(run, {name: claim.start(run, name) for name in claim.env})
        p, q = (run.item(row, node.token) for row in (run.target_row, run.proposal_row))
        ratio, rate = rates
        if ratio * q != before[0] * p:
            raise Refuted("the ratio does not grow by p / q")
        return token if self.accepted else token * (ratio - (ratio - rate) * run.modified) / rate

    # Loops that go back along the chain.

    def _arrive_later(self, run: Run, loop: Loop, env: Env, items: Any) -> Symbol:
        if run.start is not loop:
            claim = self.current
            assert claim is not None
            if run.scenario.get("has children") is not False or not isinstance(claim.place, Loop):
                raise NotFollowed("a list along the chain is read elsewhere than at its end")
            known = {name: value for name, value in env.items() if isinstance(value, FIXED)}
            later = Later(loop, _columns(items), run.function, known)
            claim.later = claim.later or later
            if claim.later != later:
                raise NotFollowed("runs that did not stop go on at different places")
        return run.space.number(0)

    def _go_on(self, run: Run, claim: Claim, own: Env, later: Later) -> Symbol:
        # One pass of the later loop, for `here`, after nothing below it has stopped.
        loop, columns = later.loop, later.columns
        env = {name: value for name, value in later.env.items() if name not in loop.assigned}
        parts = []
        for column in columns[1]:
            if column == "":
                parts.append(run.here)
            elif column in own:
                parts.append(own[column])
            else:
                raise NotFollowed(f"{column} is not a list along the chain")
        run.bind(loop.statement.target, tuple(parts) if columns[0] else parts[0], env)
        run.start, run.function = loop, later.function
        env[iterator(loop.statement)] = Zipped(())
        return run.go(loop.body, env)

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
        claim.check(run, env, node)
        _, rate = claim.rates(run, env)
        if claim.row is not None:
            raise NotFollowed("a function that is given its row")
        return Below(node) if run.accept(rate) else None


def _columns(items: Any) -> tuple[bool, tuple[str, ...]]:
    # (whether lists are side by side, for each the name of its list, "" for the chain's inner nodes).
    columns = items.columns if isinstance(items, Zipped) else (items,)
    names = []
    for column in columns:
        match column:
            case Backwards(items=Chain(inner=True)):
                names.append("")
            case Backwards(items=Stack() as rest) if not rest:
                names.append(rest.name)
            case _:
                raise NotFollowed("a loop back along the chain over something else than its inner nodes")
    return isinstance(items, Zipped), tuple(names)
