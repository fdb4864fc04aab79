"""Classes of tokens: what is to be shown holds however the compared forms' signs tell tokens apart."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from time import thread_time
from typing import TypeAlias

from flint import fmpq, fmpq_mpoly

from draftproof.proofs_check.cells.symbol import NEGATIVE, POSITIVE, ZERO, sign
from draftproof.proofs_check.every_size.machine.flow import NotFollowed
from draftproof.proofs_check.every_size.machine.space import Assume, Classify, Grow, Space

CLASSES = 2
"""Classes of tokens beside y and the individual token: one compared form tells them apart."""
BELOW, ABOVE = NEGATIVE | ZERO, ZERO | POSITIVE
Check: TypeAlias = Callable[[Space], set[str]]


@dataclass(frozen=True)
class Form:
    """A form in a token's entries that was compared with 0, with the sign that it has on y, on the
    individual token if there is one, and on every class; or an assumption, which tells no tokens apart.
    """

    signs: list[tuple[fmpq_mpoly, int]]
    tells_apart: bool = True


class Classes:
    """The `unknowns` that the checks have asked for; `cells` counts what they went through."""

    def __init__(self, deadline: float):
        self.deadline = deadline
        self.unknowns: dict[str, str] = {}
        self.cells = 0

    def space(self, individual: bool, forms: Sequence[Form]) -> Space:
        signs = [each for form in forms for each in form.signs]
        tokens = 1 + individual + CLASSES
        return Space(self.unknowns, tokens, 1 if individual else None, self.deadline - thread_time(), signs)

    def on_all(self, check: Check, individual: bool, forms: Sequence[Form] = ()) -> None:
        """The check in every way that the signs of the compared forms can tell tokens apart."""
        while True:
            space = self.space(individual, forms)
            if forms and not space.possible:
                return
            try:
                loose = check(space)
                self.cells += space.enumeration.cells
                break
            except Grow as grow:
                name, self.unknowns[name] = grow.args
            except Assume as new:
                forms = [*forms, Form([new.args], tells_apart=False)]
            except Classify as new:
                self.told_apart(check, individual, forms, *new.args)
                return
        real = [form for form in loose if len(space.solver.polynomials[form]) > 1]
        must_be_enough(sum(form.tells_apart for form in forms) + len(real))

    def told_apart(
        self, check: Check, individual: bool, forms: Sequence[Form], new: list[fmpq_mpoly]
    ) -> None:
        """The check for the signs that a form can have, on y, the individual token and both classes.

        Where it can have either sign on both classes, it is to differ on them. Which class is which does not
        matter, but for the class of the individual token, which is the last.
        """
        must_be_enough(1 + sum(form.tells_apart for form in forms))

        def possible(form: fmpq_mpoly, wanted: int) -> bool:
            if form.is_constant():
                return bool(sign(form.leading_coefficient() if form else fmpq(0)) & wanted)
            return self.space(individual, [*forms, Form([(form, wanted)])]).possible

        can = [
            tuple(
                closed for strict, closed in ((NEGATIVE, BELOW), (POSITIVE, ABOVE)) if possible(form, strict)
            )
            or (BELOW,)
            for form in new
        ]
        ways = list(product(*can[-CLASSES:]))
        if len(ways) > 2:
            ways = [(BELOW, ABOVE), (ABOVE, BELOW)][: 1 + individual]
        for of_classes in ways:
            of_own = [NEGATIVE if of_classes[-1] == BELOW else ABOVE] * individual
            for of_y in can[0]:
                all_signs = [NEGATIVE if of_y == BELOW else ABOVE, *of_own, *of_classes]
                self.on_all(check, individual, [*forms, Form(list(zip(new, all_signs, strict=True)))])


def must_be_enough(forms: int) -> None:
    """Raises NotFollowed where so many forms tell more tokens apart than there are classes."""
    if forms >= CLASSES:
        raise NotFollowed(f"{forms + 1} classes of tokens are needed")
