"""Classes of tokens: what is to be shown holds however the compared forms' signs tell tokens apart."""

from collections.abc import Callable, Sequence
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
Sign: TypeAlias = tuple[fmpq_mpoly, int]
"""A form in a token's entries and its possible signs, as it was compared with 0 or as is assumed of it."""


class Classes:
    """The `unknowns` that the checks have asked for; `cells` counts what they went through."""

    def __init__(self, deadline: float):
        self.deadline = deadline
        self.unknowns: dict[str, str] = {}
        self.cells = 0

    def space(self, individual: bool, signs: Sequence[Sign]) -> Space:
        tokens = 1 + individual + CLASSES
        return Space(self.unknowns, tokens, 1 if individual else None, self.deadline - thread_time(), signs)

    def on_all(self, check: Check, individual: bool, signs: Sequence[Sign] = (), told_apart: int = 0) -> None:
        """The check in every way that the signs of a compared form can tell tokens apart, as so many do."""
        while True:
            space = self.space(individual, signs)
            if signs and not space.possible:
                return
            try:
                loose = check(space)
                self.cells += space.enumeration.cells
                break
            except Grow as grow:
                name, self.unknowns[name] = grow.args
            except Assume as new:
                signs = [*signs, new.args]
            except Classify as new:
                must_be_enough(1 + told_apart)
                self.told_apart(check, individual, signs, *new.args)
                return
        must_be_enough(told_apart + len([form for form in loose if len(space.solver.polynomials[form]) > 1]))

    def told_apart(
        self, check: Check, individual: bool, signs: Sequence[Sign], new: list[fmpq_mpoly]
    ) -> None:
        """The check for the signs that a form can have, on y, the individual token and both classes.

        Where it can have either sign on both classes, it is to differ on them. Which class is which does not
        matter, but for the class of the individual token, which is the last.
        """

        def possible(form: fmpq_mpoly, wanted: int) -> bool:
            if form.is_constant():
                return bool(sign(form.leading_coefficient() if form else fmpq(0)) & wanted)
            return self.space(individual, [*signs, (form, wanted)]).possible

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
                self.on_all(check, individual, [*signs, *zip(new, all_signs, strict=True)], 1)


def must_be_enough(forms: int) -> None:
    """Raises NotFollowed where so many forms tell more tokens apart than there are classes."""
    if forms >= CLASSES:
        raise NotFollowed(f"{forms + 1} classes of tokens are needed")
