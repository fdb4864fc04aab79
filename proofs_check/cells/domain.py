"""The domain of a proof: every target and proposal of one size, as free parameters."""

from collections.abc import Iterator
from itertools import product
from time import thread_time

from flint import Ordering, fmpq, fmpq_mpoly_ctx

from draftproof.proofs_check.cells.cell import Cell
from draftproof.proofs_check.cells.signs import Signs
from draftproof.proofs_check.cells.signset import NEGATIVE, POSITIVE, ZERO
from draftproof.proofs_check.cells.solver import Solver
from draftproof.proofs_check.cells.symbol import Symbol, unread
from draftproof.theory.errors import BadInput
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.table import Table

LARGEST = 600
"""Free probabilities that are tried. At 2,046 a single run of token verification takes half a minute."""


class Domain:
    """Rows p(. | prefix) up to the depth and q(. | prefix) above it, each of V - 1 free parameters.

    The last entry is 1 minus the others, so rows always have mass 1; every entry may be zero.
    Raises BadInput where that makes more than LARGEST parameters. There are at least two tokens.

    >>> domain = Domain(2, 1)
    >>> domain.target[()], domain.parameters
    ((p_0, -p_0 + 1), 2)
    """

    def __init__(
        self,
        vocab: int,
        depth: int,
        solver: Solver | None = None,
        seconds: float = float("inf"),
        leaves: bool = False,
    ):
        self.vocab, self.depth, self.leaves = vocab, depth, leaves
        self.parameters = 2 * (vocab**depth - 1) + leaves * vocab**depth * (vocab - 1)
        if self.parameters > LARGEST:
            raise BadInput(
                f"a proof at vocab {vocab} and depth {depth} has {self.parameters:,} free probabilities, "
                f"more than the {LARGEST} that are tried"
            )
        spelled = [
            (letter, prefix, ["_".join((letter, *map(str, prefix), str(x))) for x in range(vocab - 1)])
            for letter, prefix in self._rows()
        ]
        variables = fmpq_mpoly_ctx.get([name for *_, names in spelled for name in names], Ordering.degrevlex)
        self.signs = Signs(variables, solver, thread_time() + seconds)
        number = self.signs.number
        tables: dict[str, dict[Prefix, Row]] = {"p": {}, "q": {}}
        facts: dict[str, int] = {}
        point: dict[str, fmpq] = {}
        for at, (letter, prefix, names) in enumerate(spelled):
            row = [variables.gen(variables.variable_to_index(name)) for name in names]
            row.append(variables.constant(1) - sum(row, variables.constant(0)))
            for x, name in enumerate(names):  # somewhere inside, and nowhere special
                point[name] = fmpq(1, vocab) + fmpq(1 + (7 * at + 3 * x) % 11, 997 * vocab)
            for entry in row:
                key, flipped = self.signs.book.spell(entry)
                facts[key] = ZERO | (NEGATIVE if flipped else POSITIVE)
            tables[letter][prefix] = tuple(map(number, row))
        if not leaves:
            tables["p"].update(
                (prefix, unread(number, vocab)) for prefix in product(range(vocab), repeat=depth)
            )
        self.target = Table(vocab, tables["p"])
        self.proposal = Table(vocab, tables["q"])
        self.whole = Cell(self.signs.book, facts, (), point)

    def _rows(self) -> Iterator[tuple[str, Prefix]]:
        for length in range(self.depth + 1):
            for prefix in product(range(self.vocab), repeat=length):
                if length < self.depth:
                    yield "p", prefix
                    yield "q", prefix
                elif self.leaves:
                    yield "p", prefix

    def at(self, point: dict[str, fmpq]) -> tuple[Table, Table]:
        """The rational target and proposal at a point; rows that no verifier looked into are uniform."""
        values = [point[name] for name in self.signs.number.variables.names()]

        def row(prefix: Prefix, symbols: Row) -> Row:
            if len(prefix) == self.depth and not self.leaves:
                return tuple([fmpq(1, self.vocab)] * self.vocab)
            return tuple(fmpq(entry.top(*values)) for entry in symbols)

        def rows(table: Table) -> Table:
            return Table.exact(self.vocab, {prefix: row(prefix, given) for prefix, given in table.given()})

        return rows(self.target), rows(self.proposal)

    def product(self, word: Prefix) -> Symbol:
        """p(word), the product formula."""
        out = self.signs.number(1)
        for i, x in enumerate(word):
            out = out * self.target[word[:i]][x]
        return out
