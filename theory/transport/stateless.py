"""The valid single-iteration optimum: one world, in which the verifier knows everything.

It bounds E[tau] of every verifier that is lossless in one iteration, without state. On chains it
is block verification's E[tau]; drafts with the same drafted prefixes are merged, and so are those
that differ by an exchange of tokens which the instance does not tell apart.
"""

from flint import fmpq

from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows
from draftproof.theory.transport import symmetry
from draftproof.theory.transport.block import Drafted
from draftproof.theory.transport.plan import Rule, valid_rule
from draftproof.theory.transport.program import Program, Seen, World
from draftproof.theory.transport.validity import Optimum, optimum, solve


def stateless(prefixes: Drafted, target: Rows, context: Prefix = ()) -> Optimum:
    """The stateless optimum for drafts after `context`, with its certified interval.

    >>> from draftproof.theory.table import Table
    >>> p, q = (fmpq(1, 3), fmpq(2, 3)), (fmpq(2, 3), fmpq(1, 3))
    >>> law = {frozenset({(), (x,)}): q[x] for x in (0, 1)}
    >>> round(stateless(law, Table(2, {(): p})).value, 9)
    0.666666667
    """
    alike = symmetry.classes(prefixes, target, context)
    if alike:
        prefixes = symmetry.merged(prefixes, alike, len(context))
    law: dict[Seen, fmpq] = {(seen, None): mass for seen, mass in prefixes.items()}
    return optimum([World(target, law)], context, alike)


def stateless_rule(prefixes: Drafted, target: Rows, context: Prefix = ()) -> Rule:
    """A rule that reaches the stateless optimum up to float accuracy and is valid exactly.

    >>> from draftproof.theory.table import Table
    >>> from draftproof.theory.transport.plan import expected_accepted
    >>> p, q = (fmpq(1, 3), fmpq(2, 3)), (fmpq(2, 3), fmpq(1, 3))
    >>> law = {frozenset({(), (x,)}): q[x] for x in (0, 1)}
    >>> rule = stateless_rule(law, Table(2, {(): p}))
    >>> round(float(expected_accepted(rule)), 9)
    0.666666667
    """
    law: dict[Seen, fmpq] = {(seen, None): mass for seen, mass in prefixes.items()}
    program = Program([World(target, law)], context)
    _, f, _ = solve(program)
    return valid_rule(program, f)
