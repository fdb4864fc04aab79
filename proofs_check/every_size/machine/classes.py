"""Classes of tokens: what is to be shown holds however the compared forms' signs tell tokens apart."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from time import thread_time
from typing import TypeAlias

from flint import fmpq, fmpq_mpoly

from draftproof.proofs_check.cells.symbol import NEGATIVE, POSITIVE, ZERO, sign
from draftproof.proofs_check.every_size.machine.flow import NotFollowed
from draftproof.proofs_check.every_size.machine.space import Assume, Classify, Grow, Space

MOST_CLASSES = 4
BELOW, ABOVE = NEGATIVE | ZERO, ZERO | POSITIVE
Check: TypeAlias = Callable[[Space], set[str]]


class MoreClasses(Exception):
    """More patterns of signs are possible than there are classes of tokens: (how many are needed)."""


@dataclass(frozen=True)
class Form:
    """A form in a token's entries that was compared with 0, with the sign that it has on y, on the
    individual token if there is one, and on every class; or an assumption, which tells no tokens apart.
    """

    signs: list[tuple[fmpq_mpoly, int]]
    tells_apart: bool = True


class Classes:
    """How many `classes` of tokens there are besides y and the individual token, and the `unknowns` that the
    checks have asked for; `cells` counts what they went through.
    """

    def __init__(self, deadline: float):
        self.deadline = deadline
        self.unknowns: dict[str, str] = {}
        self.classes = 2
        self.cells = 0

    def space(self, individual: bool, forms: Sequence[Form]) -> Space:
        signs = [each for form in forms for each in form.signs]
        tokens = 1 + individual + self.classes
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
        needed = 1 + sum(form.tells_apart for form in forms) + len(real)
        if needed > MOST_CLASSES:
            raise NotFollowed(f"{needed} classes of tokens are needed")
        if needed > self.classes:
            raise MoreClasses(needed)

    def told_apart(
        self, check: Check, individual: bool, forms: Sequence[Form], new: list[fmpq_mpoly]
    ) -> None:
        """The check for the signs that one more form can have, on y, the individual token and every class.

        Where classes have had the same signs so far and the form can have either sign on them, they are to
        differ in the end: as many forms are expected as there are classes, less one. The order of such
        classes does not matter, but for the class of the individual token, which is the last.
        """

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
        if all(len(options) == 1 for options in can):  # the form tells no more tokens apart
            signs = [(form, options[0]) for form, options in zip(new, can, strict=True)]
            self.on_all(check, individual, [*forms, Form(signs, tells_apart=False)])
            return
        for of_classes in self.patterns(forms, can, 1 + individual):
            of_own = [NEGATIVE if of_classes[-1] == BELOW else ABOVE] * individual
            for of_y in can[0]:
                all_signs = [NEGATIVE if of_y == BELOW else ABOVE, *of_own, *of_classes]
                self.on_all(check, individual, [*forms, Form(list(zip(new, all_signs, strict=True)))])

    def patterns(
        self, forms: Sequence[Form], can: Sequence[tuple[int, ...]], first: int
    ) -> Iterator[tuple[int, ...]]:
        """The signs of one more form on the classes, which start at the entry `first` of what is possible."""
        distinguishing = [form for form in forms if form.tells_apart]
        before = [tuple(form.signs[first + i][1] for form in distinguishing) for i in range(self.classes)]
        most = 2 ** max(0, self.classes - 2 - len(distinguishing))
        free = list(combinations(range(self.classes - (first - 1)), 2))
        for signs in product(*can[first:]):
            alike = Counter(
                (*old, new)
                for old, new, options in zip(before, signs, can[first:], strict=True)
                if len(options) == 2
            )
            in_order = all(
                signs[i] <= signs[j] or can[first + i] != can[first + j]
                for i, j in free
                if before[i] == before[j]
            )
            if in_order and max(alike.values(), default=0) <= most:
                yield signs
