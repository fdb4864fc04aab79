"""Every single edit of a module's functions that the syntax tree offers, by kind.

An edit replaces one span of the text, so that the edited text reads like the original elsewhere. Annotations,
docstrings, decorators and declarations at the module's level stay as they are.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import EllipsisType

SIGNS = ("+", "-", "*", "/", "**")
TURNED: dict[type[ast.cmpop], str] = {
    ast.Lt: ">",
    ast.Gt: "<",
    ast.LtE: ">",
    ast.GtE: "<",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
SWAPPED = {"share", "ratio", "excess", "meet", "add", "minimum", "maximum"}
UNWRAPPED = {
    **dict.fromkeys(("normalise", "positive", "reversed", "capped", "without"), (0,)),
    **dict.fromkeys(("excess", "meet", "add", "share", "ratio", "minimum"), (0, 1)),
    "scale": (1,),
}
"""Function -> the arguments that may stand in the place of the call."""
KINDS = tuple(
    frozenset(names.split())
    for names in (
        "p q t d row residual kept rest taken have want beside t_last q_last",
        "a A S L w_i r_t P_i Q_i peak P Q J C hi lo beta rho early late left",
        "node child leaf f v hub best",
        "w R r rows laws",
    )
)
"""Names of one kind: rows, numbers, nodes, and lists along a path."""
NUMBERS = KINDS[1]
OPERATORS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Attribute, ast.Subscript, ast.Starred)
LOOSE = (ast.BinOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.UnaryOp, ast.NamedExpr, ast.YieldFrom)
"""What needs parentheses as a part of an operator."""
BOOKKEEPING = ("__init__", "__eq__", "__hash__")
"""Methods that hold no step of a rule."""


@dataclass(frozen=True)
class Edit:
    """One edit of a text: its kind, where ("line:column"), the old and the new piece, and the text edited."""

    kind: str
    at: str
    old: str
    new: str
    text: str

    def __str__(self) -> str:
        return f"{self.at} {self.old} -> {self.new}"


def edits(text: str) -> list[Edit]:
    """All edits of the functions of a module, in the order of the text, no two with one result."""
    unedited = ast.dump(ast.parse(text))
    by_result = {ast.dump(ast.parse(edit.text)): edit for edit in _Module(text).edits()}
    by_result.pop(unedited, None)
    return sorted(by_result.values(), key=lambda edit: (*map(int, edit.at.split(":")), edit.old, edit.new))


class _Module:
    # The text in bytes, as the tree's columns count them.

    def __init__(self, text: str):
        self.text = text.encode()
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.tree = ast.parse(text)
        self.parent = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def edits(self) -> Iterator[Edit]:
        for function in ast.walk(self.tree):
            if isinstance(function, ast.FunctionDef) and function.name not in BOOKKEEPING:
                for node in (node for statement in function.body for node in ast.walk(statement)):
                    if hasattr(node, "lineno") and not self._is_text(node):
                        yield from self._of(node, function)

    def _is_text(self, node: ast.AST) -> bool:
        constant = node.value if isinstance(node, ast.Expr) else node
        return isinstance(constant, ast.Constant) and isinstance(constant.value, str | EllipsisType)

    def _of(self, node: ast.AST, function: ast.FunctionDef) -> Iterator[Edit]:
        match node:
            case ast.BinOp():
                for sign in SIGNS:
                    new = f"{self._part(node.left)} {sign} {self._part(node.right)}"
                    yield self._edit("arithmetic", node, new)
            case ast.Compare(ops=[op]):
                new = f"{self._part(node.left)} {TURNED[type(op)]} {self._part(node.comparators[0])}"
                yield self._edit("comparison", node, new)
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                for other in {0, 1, 2} - {value}:
                    yield self._edit("constant", node, str(other))
            case ast.UnaryOp(op=ast.Not()):
                yield self._edit("not dropped", node, self._source(node.operand))
            case ast.Attribute(attr="replacement"):
                yield self._edit("replacement negated", node, f"not {self._source(node)}")
            case ast.Subscript(slice=ast.Attribute(attr="prefix") | ast.Name(id="prefix")):
                new = f"{self._source(node.value)}[{self._source(node.slice)}[:-1]]"
                yield self._edit("row of another prefix", node, new)
            case ast.Name(ctx=ast.Load()):
                yield from self._names(node, function)
            case ast.Call(func=ast.Name(id=called), args=[*arguments]):
                if called in SWAPPED:
                    a, b = map(self._source, arguments)
                    yield self._edit("arguments swapped", node, f"{called}({b}, {a})")
                for at in UNWRAPPED.get(called, ()):
                    yield self._edit("call unwrapped", node, self._source(arguments[at]))
            case ast.Call(func=ast.Attribute(attr="accept")):
                yield from self._coin(node, function)
            case ast.Assign() | ast.AugAssign() | ast.Expr():
                yield from self._statement(node, function)
            case ast.Break():
                yield self._edit("break dropped", node, "pass")
            case ast.Return(value=ast.Tuple(elts=[ast.Name(id=stop), row])):
                if "target" in [argument.arg for argument in function.args.args]:
                    yield self._edit("another row returned", row, f"target[{stop}.prefix]")
            case ast.For(orelse=[*last]) if last:
                yield self._edit("for-else emptied", last[-1], "pass")

    def _names(self, node: ast.Name, function: ast.FunctionDef) -> Iterator[Edit]:
        if isinstance(self.parent[node], ast.Call) and self.parent[node].func is node:  # type: ignore[attr-defined]
            return
        for kind in KINDS:
            if node.id in kind:
                for other in sorted(kind & _bound(function, node.lineno) - {node.id}):
                    yield self._edit("another name", node, other)
        if node.id in NUMBERS and not isinstance(self.parent[node], ast.Attribute | ast.Subscript):
            yield self._edit("1 for a number", node, "1")

    def _coin(self, node: ast.Call, function: ast.FunctionDef) -> Iterator[Edit]:
        # The answer to the function's first coin stands for all later ones.
        inside = [each for each in ast.walk(function) if isinstance(each, ast.For | ast.While)]
        if any(node in ast.walk(loop) for loop in inside):
            new = f"(coins or coins.append({self._source(node)}) or coins)[0]"
            first = function.body[1] if self._is_text(function.body[0]) else function.body[0]
            edit = self._edit("coin reused", node, new)
            at = self.starts[first.lineno - 1]
            text = edit.text.encode()
            text = text[:at] + b" " * first.col_offset + b"coins = []\n" + text[at:]
            yield Edit(edit.kind, edit.at, edit.old, edit.new, text.decode())

    def _statement(self, node: ast.stmt, function: ast.FunctionDef) -> Iterator[Edit]:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for i, target in enumerate(targets):
                    if _stored(target) <= _bound(function, node.lineno):
                        rest = [j for j in range(len(targets)) if j != i]
                        left = ", ".join(self._source(targets[j]) for j in rest)
                        right = ", ".join(self._source(values[j]) for j in rest)
                        yield self._edit("assignment dropped", node, f"{left} = {right}")
        if _stored(node) <= _bound(function, node.lineno):
            yield self._edit("assignment dropped", node, "pass")

    def _source(self, node: ast.AST) -> str:
        start, end = self._span(node)
        return " ".join(self.text[start:end].decode().split())

    def _part(self, node: ast.expr) -> str:
        return f"({self._source(node)})" if isinstance(node, LOOSE) else self._source(node)

    def _span(self, node: ast.AST) -> tuple[int, int]:
        start = self.starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        end = self.starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        return start, end

    def _edit(self, kind: str, node: ast.AST, new: str) -> Edit:
        start, end = self._span(node)
        if isinstance(node, ast.expr) and isinstance(self.parent[node], OPERATORS):
            enclosed = self.text[start - 1 : start] + self.text[end : end + 1] == b"()"
            if not enclosed and isinstance(ast.parse(new, mode="eval").body, LOOSE):
                new = f"({new})"
        text = (self.text[:start] + new.encode() + self.text[end:]).decode()
        at = f"{node.lineno}:{node.col_offset + 1}"  # type: ignore[attr-defined]
        return Edit(kind, at, self._source(node), new, text)


def _stored(node: ast.AST) -> set[str]:
    return {
        each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }


def _bound(function: ast.FunctionDef, line: int) -> set[str]:
    """The arguments, and the names bound above the line."""
    stored = (each for each in ast.walk(function) if isinstance(each, ast.Name) and each.lineno < line)
    names = {each.id for each in stored if isinstance(each.ctx, ast.Store)}
    return names | {argument.arg for argument in function.args.args}
