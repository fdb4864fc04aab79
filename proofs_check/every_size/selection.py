"""Which drafted tokens a selection rule reads, for every vocabulary, batch, depth and capacity.

The rule's own code is run, and that of the view. What is known of a batch is how many tokens of each request
are kept, and that `keep` makes them one more. These numbers and indices made of them are integers that z3
reasons about. All else, rows and tokens and what is computed from them, can be anything (`paths`). Where a
drafted token is read, z3 has to show that it is revealed.
"""

import ast
from dataclasses import dataclass
from inspect import getattr_static, isfunction
from typing import Any, NoReturn

import z3

from draftproof.proofs_check.every_size.expressions import Env
from draftproof.proofs_check.every_size.flow import NotFollowed, flow_of
from draftproof.proofs_check.every_size.model import must_be_modelled
from draftproof.proofs_check.every_size.paths import Closure, Data, Paths
from draftproof.proofs_check.every_size.prover import Result, proof_of, prove_every_size
from draftproof.proofs_check.every_size.state import Refuted
from draftproof.proofs_check.every_size.values import Named
from draftproof.theory.selection.view import Rule, View
from draftproof.theory.verifier import Verifier

VIEW, LENGTHS, DRAFTS, REQUESTS = map(Named, ("view", "lengths", "drafts", "requests"))

ANY_LENGTH = "does not ask how long drafts are"


@dataclass(frozen=True, eq=False)
class Tokens(Named):
    """The drafted tokens of a request."""

    request: Any


def prove_predictable(rule: Rule, seconds: float = 60.0) -> Result:
    """Proves that the rule reads no drafted token before it is revealed: kept, or, for a rule that looks
    ahead, the next one after those. So what it keeps next depends on revealed tokens alone. That the rule
    comes to an end is not proved.

    >>> from draftproof.theory.selection import named
    >>> prove_predictable(named("dspark")).verdict
    'proved'
    >>> prove_predictable(named("tetris")).why
    'score, line 5: reads a drafted token that may not be revealed'

    """
    with proof_of(rule.name, seconds) as (result, deadline):
        must_be_modelled()
        reads = Reads(rule)
        result.cells = reads.run([VIEW], deadline)
        also = ", and the next one of each request" if rule.ahead else ""
        result.claims = [f"{rule.name}: reads no drafted tokens but those kept{also}"]
        if "drafted" not in reads.asked:
            result.claims.append(f"{rule.name}: {ANY_LENGTH}")
    return result


def prove_batch(verifier: Verifier, rule: Rule, seconds: float = 60.0) -> Result:
    """Proves that a batch keeps the joint law of its texts, from the code of the verifier and of the rule.

    The verifier's claim about a node is proved for a node with children and for one without. So one more
    drafted token changes nothing on average, wherever that is decided before the token is drawn, and so it is
    for the product over the requests of a batch, whichever request the token is of.

    >>> from draftproof.theory.selection import named
    >>> from draftproof.theory.verifiers import named as verifier
    >>> prove_batch(verifier("token"), named("tetris-repaired")).claims[-2]
    'tetris-repaired: reads no drafted tokens but those kept, and the next one of each request'
    """
    found = prove_every_size(verifier, seconds)
    if found.verdict == "proved":
        reads = prove_predictable(rule, seconds)
        found.verdict, found.why = reads.verdict, reads.why
        found.claims, found.cells = found.claims + reads.claims, found.cells + reads.cells
        found.seconds = round(found.seconds + reads.seconds, 3)
    return found


class Reads(Paths):
    """A rule's run on a view of which only the numbers of kept tokens are known.

    `asked` are the methods of the view that were called.
    """

    def __init__(self, rule: Rule):
        super().__init__(Closure(flow_of(rule.select)))
        self.rule = rule
        self.asked: set[str] = set()
        self.kept = z3.Function("kept", *[z3.IntSort()] * 3)  # (version, request) -> how many

    def begin(self) -> None:
        self.version = 0

    def changed(self) -> None:
        self.version += 1

    def raised(self, statement: ast.Raise) -> None:
        if self.frames[-1].trusted:
            self.refuse()
        super().raised(statement)

    def refuse(self) -> NoReturn:
        """A token is read that may not be revealed: says where in the rule's own code."""
        frame = next(each for each in reversed(self.frames) if not each.trusted)
        raise Refuted(f"{frame.name}, line {frame.line}: reads a drafted token that may not be revealed")

    def length(self, request: Any) -> Any:
        """How many tokens of the request are kept now: at least as many as before."""
        r, before = self.integer(request), z3.IntVal(0)
        for version in range(self.version + 1):
            now: Any = self.kept(version, r)
            self.facts.append(now >= before)
            before = now
        return before

    def element(self, items: Any) -> Any:
        if items is REQUESTS:
            request = Data()
            return request, Tokens("draft", request)
        return Data() if items is LENGTHS else super().element(items)

    def do(self, statement: ast.stmt, env: Env) -> None:
        match statement:
            case ast.AugAssign(
                target=ast.Subscript(value=owner, slice=index), op=ast.Add(), value=ast.Constant(value=1)
            ) if self.frames[-1].trusted and self.value(owner, env) is LENGTHS:
                request = self.value(index, env)
                more = self.length(request) + 1
                self.version += 1
                self.facts.append(self.length(request) == more)
            case _:
                super().do(statement, env)

    def item(self, value: Any, index: Any) -> Any:
        if value is LENGTHS:
            return self.length(index)
        if value is DRAFTS:
            return Tokens("draft", index)
        if isinstance(value, Tokens):
            j, revealed = self.integer(index), self.length(value.request) + int(self.rule.ahead)
            if self.possible(z3.Not(z3.And(j >= 0, j < revealed))):
                self.refuse()
            return Data()
        return super().item(value, index)

    def attribute(self, value: Any, attribute: str) -> Any:
        if value is VIEW:
            match attribute:
                case "lengths":
                    return LENGTHS
                case "models" | "capacity" | "speed" | "kept":
                    return Data()
            if self.frames[-1].trusted:
                match attribute:
                    case "_drafts":
                        return DRAFTS
                    case "_guarded":
                        return True
                    case "_ahead":
                        return self.rule.ahead
            function = getattr_static(View, attribute, None)
            if isfunction(function) and not attribute.startswith("_"):
                self.asked.add(attribute)
                return Closure(flow_of(function), first=(VIEW,), trusted=True)
            raise NotFollowed(f"the view's {attribute}")
        return super().attribute(value, attribute)

    def called(self, function: Any, arguments: list[Any], options: dict[str, Any] | None = None) -> Any:
        if function is len and len(arguments) == 1 and isinstance(arguments[0], Tokens):
            return Data()
        if function is enumerate and arguments == [DRAFTS]:
            return REQUESTS
        if function in (sum, max, min, sorted, list, tuple, len) and LENGTHS in arguments:
            arguments = [Data() if each is LENGTHS else each for each in arguments]
        return super().called(function, arguments, options)
