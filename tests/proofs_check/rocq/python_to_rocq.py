"""The verifiers' Python, written in Rocq by a program: `rocq/Code.v`, of which the theorems are stated.

`rocq/Python.v` says what its words mean. Every statement is written with what follows it, every expression
after its openings: a coin, a call, an item that may be missing (`get (last_of w) (fun last1' =>`). A loop is
a `fix` over its items, or over `fuel` rounds; what follows it is written where it is left, at its end and at
every `break`. Code that is not known is refused in one line.
"""

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import partial, reduce

HEAD = """(** Written by python_to_rocq.py from theory/verifiers, in the words of Python.v. *)

Require Import List Bool.
Require Import Programs Rules Python Numbers.
Import ListNotations {numbers}Programs.
Module N := {numbers}.
"""
ITERATORS = {"reversed": "rev", "zip": "combine", "pairwise": "pairwise"}
ROWS = {name: name for name in ("share", "ratio", "maximum", "minimum", "excess", "scale", "one")}
ROWS |= {name: f"{name} V" for name in ("total", "normalise", "without")} | {"point": "point_like"}
MEANING = {("draftproof.theory.rows", name): word for name, word in ROWS.items()}
MEANING["itertools", "pairwise"] = ITERATORS["pairwise"]
MEANING["draftproof.theory.verifiers.shared.priority", "planned"] = "planned_at V"
"""(module, name) -> its word in Rocq; one that goes over the vocabulary has V as its first argument."""
ATTRIBUTES = ("prefix", "proposal", "children", "path", "root", "replacement", "left")
ENDS = {"0": "hd_error", "-1": "last_of"}
OPERATORS = {ast.Add: "N.add", ast.Sub: "N.sub", ast.Mult: "N.mul"}
NUMBERS = {"0": "N.zero", "1": "N.one", "2": "(N.add N.one N.one)"}
RESERVED = re.compile(
    r"[VN]|oracle|fuel|raise|done|get|call|unsnoc|last_of|nonempty|same_length|rev|hd_error|uncons|Choose|tokens_in|off|combine|pairwise|\w+_of|Accept|Some"
    r"|at|end|exists|fix|forall|fun|let|match|then|using|where"
)
"""Words of Rocq that a Python name would hide, or that are no names."""

After = Callable[[], str]
"""What follows, in the names as they then are."""
SET, MAYBE, OPTIONAL = "set", "maybe", "optional"
"""What is known of a name: it has a value; it has one or is unbound, an option; its value may be None."""


class Refused(Exception):
    """Code that is not translated, in one line."""

    def __init__(self, node: ast.AST, why: str = "not translated"):
        super().__init__(f"line {getattr(node, 'lineno', '?')}: {ast.unparse(node).splitlines()[0]}: {why}")


Words = dict[str, str | ast.FunctionDef]
"""What is called by which name: a word of Rocq, a function of the file, or "" for what is not known."""


class _Function:
    # `env`: what is known of the function's own names.

    def __init__(self, function: ast.FunctionDef, words: Words):
        parameters = function.args.args
        plain = ast.arguments([], parameters, None, [], [], None, [])
        first, *given = [each.arg for each in parameters]
        returned = ast.unparse(function.returns or function)
        if ast.dump(function.args) != ast.dump(plain) or (first, returned.removesuffix(" | None")) != (
            "oracle",
            "Stop",
        ):
            raise Refused(function)
        self.function, self.words, self.optional = function, words, _optional(function)
        self.changing = _stored(ast.walk(function), True)
        self.env: dict[str, str] = {}
        self.openings: list[str] = []
        self.fresh = 0
        self.bind(function, [name for name in given if name not in self.changing])

    def definition(self) -> str:
        def ends() -> str:
            raise Refused(self.function, "may end without a return")

        function, body = self.function, self.block(self.function.body, ends, ends)
        word, struct = "Definition", ""
        if any(isinstance(each, ast.Name) and each.id == function.name for each in ast.walk(function)):
            word, struct = "Fixpoint", " {struct fuel}"
            body = f"match fuel with\n| O => raise\n| S fuel =>\n{body}\nend"
        given = " ".join(f"({ast.unparse(each)})" for each in function.args.args[1:])
        given = re.sub(r"(?:list|Sequence)\[(\w+)\]", r"list \1", given)
        result = "option (option Stop)" if self.optional else "option Stop"
        return f"{word} {function.name} (V fuel : nat) {given}{struct} : program ({result}) :=\n{body}.\n\n"

    def block(self, statements: Sequence[ast.stmt], after: After, leave: After) -> str:
        # `leave`: what follows a break.
        if not statements:
            return after()
        then = partial(self.block, statements[1:], after, leave)
        match statements[0]:
            case ast.Break():
                return leave()
            case ast.Return(value=ast.IfExp() as value) | ast.Assign(value=ast.IfExp() as value) as first:
                ways = [copy(first), copy(first)]
                ways[0].value, ways[1].value = value.body, value.orelse
                return self.branch(
                    value.test, *(partial(self.block, [way, *statements[1:]], after, leave) for way in ways)
                )
            case ast.Return(value=ast.expr() as value):
                return self.returned(value)
            case ast.If(test=test, body=yes, orelse=no):
                return self.branch(test, *(partial(self.block, way, then, leave) for way in (yes, no)))
            case ast.For() | ast.While(orelse=[]) as loop:
                return self.loop(loop, then, leave)
            case ast.Assert(test=test):
                return self.branch(test, then, lambda: "raise")
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=w), attr="append"), args=[new])
            ):
                if self.env.get(w) != SET:
                    raise Refused(new, "added to what is not bound")
                self.bind(new, [w], f"let {w} := {w} ++ [{self.value(new)}] in")
            case ast.Assign(targets=targets, value=value):
                self.assigned(targets, value)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case other:
                raise Refused(other)
        return self.opened(then)

    def opened(self, inner: After) -> str:
        openings, self.openings = self.openings, []
        closed = ")" * sum(each.endswith("=>") for each in openings)
        return "".join(f"{each}\n" for each in openings) + inner() + closed

    def apart(self, inner: After, names: Sequence[str] = ()) -> str:
        # One of several ways on, on which the names are bound.
        kept = dict(self.env)
        self.bind(self.function, names)
        text = inner()
        self.env = kept
        return text

    def bind(self, node: ast.AST, names: Sequence[str], *opening: str, known: str = SET) -> None:
        if any(name in self.words or RESERVED.fullmatch(name) for name in names):
            raise Refused(node, "a name has another meaning")
        self.openings += opening
        self.env.update(dict.fromkeys(names, known))

    def assigned(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        names, made = _names(targets[0]), value.elts if isinstance(value, ast.Tuple) else [value]
        if self.changing & {*names} and not all(isinstance(each, ast.List) for each in made):
            raise Refused(value, "a list that changes is made where it is bound")
        pattern = _pattern(names, quote=True)
        match targets[0], value:
            case ast.Tuple(elts=[first, *_] as parts), _ if any(
                isinstance(each, ast.Starred) for each in parts
            ):
                end = "unsnoc" if isinstance(first, ast.Starred) else "uncons"
                self.bind(value, names, f"get ({_applied(end, self.value(value))}) (fun {pattern} =>")
            case ast.Name(), ast.Call(
                func=ast.Attribute(value=owner, attr="child"), args=[token], keywords=[]
            ):
                text = _applied("child_of", self.value(owner), self.value(token))
                self.bind(value, names, f"let {pattern} := {text} in", known=OPTIONAL)
            case _, _ if function := self.called(value):
                known = OPTIONAL if _optional(function) else SET
                self.bind(value, names, f"call ({self.call(value)}) (fun {pattern} =>", known=known)
            case _:
                self.bind(value, names, f"let {pattern} := {self.value(value)} in")
        for other in targets[1:]:
            self.bind(other, _names(other), f"let {_pattern(_names(other), quote=True)} := {names[0]} in")

    def returned(self, value: ast.expr) -> str:
        match value:
            case ast.Call() if (function := self.called(value)) and _optional(function) == self.optional:
                text = self.call(value)
            case ast.Constant(value=None) if self.optional:
                text = "done None"
            case ast.Name(id=name) if self.optional and self.env.get(name) == OPTIONAL:
                text = f"done {name}"
            case _:
                text = self.value(value)
                text = _applied("done", _applied("Some", text) if self.optional else text)
        return self.opened(lambda: text)

    def branch(self, test: ast.expr, yes: After, no: After) -> str:
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.branch(operand, no, yes)
            case ast.Compare(
                left=name, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]
            ):
                if self.env.get(ast.unparse(name)) == OPTIONAL:
                    return self.branch(name, *((yes, no) if isinstance(op, ast.IsNot) else (no, yes)))
                raise Refused(test)
            case ast.NamedExpr(target=name, value=value):
                self.assigned([name], value)
                return self.opened(partial(self.branch, name, yes, no))
            case ast.Name(id=name) if self.env.get(name) == OPTIONAL:
                some, none = self.apart(yes, [name]), self.apart(no)
                return f"match {name} with\n| Some {name} =>\n{some}\n| None =>\n{none}\nend"
            case ast.Attribute(attr="children"):
                text = _applied("nonempty", self.value(test))
            case ast.Attribute(attr="replacement") | ast.Call(func=ast.Attribute(attr="accept")):
                text = self.value(test)
            case _:
                raise Refused(test)
        return self.opened(lambda: f"if {text} then\n{self.apart(yes)}\nelse\n{self.apart(no)}")

    def loop(self, loop: ast.For | ast.While, then: After, leave: After) -> str:
        # Its arguments: the names that it changes and that a later round or what follows may read.
        head, test = (loop.iter, loop.target) if isinstance(loop, ast.For) else (loop.test, loop.test)
        body = [each for part in loop.body for each in ast.walk(part)]
        rest = [each for each in ast.walk(self.function) if each not in body and isinstance(each, ast.Name)]
        outside, changed = {each.id for each in rest if isinstance(each.ctx, ast.Load)}, _stored(body, True)
        stored = sorted((_stored([*body, *ast.walk(test)]) | changed) & (outside | self.env.keys()))
        carried = {name: self.env.get(name, MAYBE) for name in stored}
        if any(each.id in changed for each in ast.walk(head) if isinstance(each, ast.Name)):
            raise Refused(head, "changes within the loop")
        items, same = self.items(head) if isinstance(loop, ast.For) else ("fuel", [])
        self.fresh += 1
        go, left = f"round{self.fresh}'", f"items{self.fresh}'" if isinstance(loop, ast.For) else "fuel"

        def written() -> str:
            start = self.state(loop, items, carried)
            self.env.update(carried)
            one = partial(self.block, loop.body, lambda: self.state(loop, f"{go} {left}", carried), then)
            if isinstance(loop, ast.While):
                ways = f"| O => raise\n| S fuel =>\n{self.apart(partial(self.branch, loop.test, one, then))}"
            else:
                names, end = _names(loop.target), self.apart(partial(self.block, loop.orelse, then, leave))
                end = f"if {' && '.join(same)} then\n{end}\nelse raise" if same else end
                ways = f"| [] =>\n{end}\n| {_pattern(names)} :: {left} =>\n{self.apart(one, names)}"
            given = " ".join([go, left, *carried])
            return f"(fix {given} {{struct {left}}} :=\nmatch {left} with\n{ways}\nend) {start}"

        return self.opened(written)

    def state(self, loop: ast.AST, text: str, carried: dict[str, str]) -> str:
        for name, known in carried.items():
            now = self.env.get(name)
            if OPTIONAL in (now, known) or (known == SET and now != SET):
                raise Refused(loop, f"{name} may be None or unbound")
            text += f" {name}" if known == now else f" (Some {name})" if now else " None"
        return text

    def items(self, node: ast.expr) -> tuple[str, list[str]]:
        # The items of a loop, and under which conditions Python does not raise at their end.
        match node, self.word(node):
            case ast.Call(func=ast.Attribute(value=plan, attr="judged"), args=[at], keywords=[]), _:
                return f"({_applied('judged_of', self.value(plan), self.value(at))})", []
            case ast.Call(args=parts, keywords=keywords), str(word) if word in ITERATORS.values():
                strict = ", ".join(map(ast.unparse, keywords))
                if strict not in ("", "strict=True") or (word != "combine" and any(map(self.word, parts))):
                    raise Refused(node)
                first, *others = [self.items(each)[0] for each in parts]
                items = (
                    reduce(lambda a, b: f"({word} {a} {b})", others, first) if others else f"({word} {first})"
                )
                return items, [f"same_length {first} {other}" for other in others if strict]
        return _applied("", self.value(node, True)).strip(), []

    def open(self, what: str, of: str, pattern: str = "{}") -> str:
        # An opening; its new name can be no name of Python's.
        self.fresh += 1
        name = f"{of}{self.fresh}'"
        self.openings.append(f"{what} (fun {pattern.format(name)} =>")
        return name

    def value(self, node: ast.expr, argument: bool = False) -> str:
        match node:
            case ast.Name(id=name):
                known = self.env.get(name)
                if known in (None, OPTIONAL) or (name in self.changing and not argument):
                    raise Refused(node, "unbound, or None, or a second name of a list that changes")
                if known == MAYBE:
                    self.bind(node, [name], f"get {name} (fun {name} =>")
                return name
            case ast.Constant(value=value) if repr(value) in NUMBERS:
                return NUMBERS[repr(value)]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return _applied(OPERATORS[type(op)], self.value(left), self.value(right))
            case ast.Tuple(elts=[_, _, *_] as parts):
                return f"({', '.join(map(self.value, parts))})"
            case ast.List(elts=parts):
                return f"[{'; '.join(map(self.value, parts))}]"
            case ast.Attribute(value=owner, attr="token"):
                return self.open(_applied("get", _applied("token_of", self.value(owner))), "token")
            case ast.Attribute(value=owner, attr=name) if name in ATTRIBUTES:
                return _applied(f"{name}_of", self.value(owner))
            case ast.Subscript(value=owner, slice=index) if end := ENDS.get(ast.unparse(index)):
                return self.open(_applied("get", _applied(end, self.value(owner, True))), "item")
            case ast.Subscript(value=owner, slice=ast.Name() | ast.Attribute() | ast.Subscript() as index):
                return _applied(self.value(owner), self.value(index))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="oracle"), attr="accept"), args=[chance]):
                return self.open(_applied("Accept", self.value(chance)), "coin")
            case ast.Call(func=ast.Attribute(value=ast.Name(id="oracle"), attr="choose"), args=[row]):
                return self.open(_applied("Choose", self.value(row)), "token")
            case ast.ListComp(elt=ast.Attribute(value=one, attr="token"), generators=[each]) if (
                ast.unparse(each) == f" for {ast.unparse(one)} in {ast.unparse(each.iter)}"
            ):
                return self.open(_applied("get", _applied("tokens_in", self.value(each.iter))), "tokens")
            case ast.Call(args=[row, ast.Starred(value=tokens)]) if self.word(node) == ROWS["without"]:
                return _applied("off V", self.value(row), self.value(tokens))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=w) as read, attr="pop"), args=[]):
                return self.open(f"get (unsnoc {self.value(read, True)})", "last", f"'({w}, {{}})")
            case ast.Call(args=arguments, keywords=[]):
                if (word := self.word(node)) in MEANING.values() and word not in ITERATORS.values():
                    return _applied(str(word), *(self.value(each, True) for each in arguments))
        raise Refused(node)

    def word(self, node: ast.expr) -> str | ast.FunctionDef:
        name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        return self.words.get(name, "")

    def called(self, node: ast.expr) -> ast.FunctionDef | None:
        return word if isinstance(word := self.word(node), ast.FunctionDef) else None

    def call(self, node: ast.expr) -> str:
        match node, self.called(node):
            case ast.Call(args=[ast.Name(id="oracle"), *given], keywords=[]), ast.FunctionDef() as function:
                if len(given) + 1 == len(function.args.args):
                    return _applied(f"{function.name} V fuel", *(self.value(each, True) for each in given))
        raise Refused(node)


def _optional(function: ast.FunctionDef) -> bool:
    return ast.unparse(function.returns or function).endswith("| None")


def _applied(function: str, *arguments: str) -> str:
    whole = r"[\w.']+|\([^()]*\)|\[[^\[\]]*\]"
    return " ".join([function, *(each if re.fullmatch(whole, each) else f"({each})" for each in arguments)])


def _names(target: ast.expr) -> list[str]:
    text = ast.unparse(target)
    if not re.fullmatch(r"\(?(\*?\w+, \w+|\w+, \*\w+|\w+(, \w+)*)\)?", text):
        raise Refused(target)
    return re.findall(r"\w+", text)


def _pattern(names: Sequence[str], quote: bool = False) -> str:
    return names[0] if len(names) == 1 else "'" * quote + f"({', '.join(names)})"


def _stored(nodes: Iterable[ast.AST], changed: bool = False) -> set[str]:
    # The names that the nodes bind, or the lists that they change.
    if not changed:
        return {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    methods = [each for each in nodes if isinstance(each, ast.Attribute) and each.attr in ("append", "pop")]
    return {each.value.id for each in methods if isinstance(each.value, ast.Name)}


def translated(sources: Mapping[str, str], numbers: str = "Real") -> str:
    """The Rocq of files of theory/verifiers, name -> source, in `numbers` of Numbers.v. Raises Refused.

    A function that another file imports is called by the name of its module.
    """
    text, meaning = HEAD.format(numbers=numbers), dict[tuple[str, str], str | ast.FunctionDef](MEANING)
    for name, source in sources.items():
        words: Words = {each: ITERATORS[each] for each in ("zip", "reversed")}
        for each in ast.parse(source).body:
            match each:
                case ast.ImportFrom(module=module, names=aliases):
                    new = {a.asname or a.name: meaning.get((str(module), a.name), "") for a in aliases}
                case ast.FunctionDef(decorator_list=[]):
                    new = {each.name: each}
                case ast.Expr(value=ast.Constant()) | ast.Assign(targets=[ast.Name(id="VERIFIER")]):
                    new = {}
                case _:
                    raise Refused(each)
            if words.keys() & new.keys():
                raise Refused(each, "a second meaning")
            words |= new
        functions = [
            each for each in words.values() if isinstance(each, ast.FunctionDef) and "." not in each.name
        ]
        definitions = "".join(_Function(each, words).definition() for each in reversed(functions))
        for each in functions:
            elsewhere = meaning[f"draftproof.theory.verifiers.{name}", each.name] = copy(each)
            elsewhere.name = f"{name}.{each.name}"
        text += f"\n(** theory/verifiers/{name}.py *)\nModule {name}.\n\n{definitions}End {name}.\n"
    return text
