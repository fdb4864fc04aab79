"""What is asserted again and again, once."""

from collections.abc import Callable, Iterable, Iterator
from math import prod

from flint import fmpq

from draftproof.simulators.laws.decode import Decoded, decode
from draftproof.simulators.laws.enumerate import Invalid, iteration, outcomes
from draftproof.simulators.support.make import prefixes
from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.law import Law, law_of
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.table import Table
from draftproof.theory.transport.certificate import Certificate
from draftproof.theory.verifier import Verifier


def everything(decoded: Decoded) -> Law:
    """The law of everything that decoding emitted."""
    return Law((word, mass) for (word, _), mass in decoded.states.items())


def emitted(instance: Instance, verifier: Verifier) -> Law:
    """The exact law of the block that one iteration emits."""
    return everything(decode(instance, verifier, 1))


def mean_accepted(instance: Instance, verifier: Verifier) -> fmpq:
    """E[tau] of one iteration."""
    return decode(instance, verifier, 1).accepted[0]


def stops(
    instance: Instance, verifier: Verifier, context: Prefix = ()
) -> Iterator[tuple[fmpq, Draft, Node, Row]]:
    """(weight, draft, node, row) of every way that one iteration after `context` can stop."""
    scheme, proposal, target = instance.draft, instance.proposal, instance.target
    return iteration(scheme, proposal, verifier, target, context=context, start=ONE)


def completed(instance: Instance, verifier: Verifier, iterations: int = 1) -> tuple[Law, Law]:
    """The joint law of the first depth + iterations tokens, and the target's own."""
    length = instance.draft.depth + iterations
    return decode(instance, verifier, iterations).first(length), law_of(instance.target, length)


def assert_lossless(instance: Instance, verifier: Verifier, iterations: int = 0) -> None:
    """The target's joint law comes out exactly: over one iteration, over two if there is state."""
    got, want = completed(instance, verifier, iterations or (1 if verifier.carry is None else 2))
    assert got == want, f"{verifier.name} on {instance}"


def assert_same_law(instance: Instance, verifier: Verifier, other: Verifier) -> None:
    """Both emit the same blocks with the same probabilities, and not only the same completed law."""
    assert emitted(instance, verifier) == emitted(instance, other), (
        f"{verifier.name}, {other.name}: {instance}"
    )


def is_lossy(instance: Instance, verifier: Verifier) -> bool:
    """Whether one iteration, or two of a verifier with state, miss the target's law."""
    try:
        got, want = completed(instance, verifier, 1 if verifier.carry is None else 2)
    except Invalid:
        return True
    return got != want


def assert_one_line(error: BadInput, *parts: str) -> None:
    """The message is one line of bearable length and names every part."""
    message = str(error)
    assert message.isprintable(), message  # no line break either
    assert len(message) < 600, message
    for part in parts:
        assert part in message, message


def drafts(scheme: Scheme, proposal: Table, context: Prefix = ()) -> Iterator[tuple[fmpq, Draft]]:
    """Every draft that can come out, with its probability."""
    return outcomes(lambda oracle: scheme.draw(oracle, proposal, context))


def drawn(scheme: Scheme, proposal: Table, view: Callable[[Draft], Prefix]) -> Law:
    """The exact law of what `view` sees of a draft."""
    return Law((view(draft), weight) for weight, draft in drafts(scheme, proposal))


def children(draft: Draft) -> Prefix:
    """A view: the tokens drafted below the root, in order."""
    return tuple(child.token for child in draft.root.children)


def bracketed(draft: Draft) -> Prefix:
    """A view that tells all drafts apart: tokens depth first, -1 at the end of each subtree."""

    def below(node: Node) -> Iterator[int]:
        for child in node.children:
            yield child.token
            yield from below(child)
        yield -1

    return tuple(below(draft.root))


def along(instance: Instance, word: Prefix) -> list[tuple[fmpq, fmpq]]:
    """The pairs (p, q) of the probabilities of a word's tokens, each after those before it."""
    return [(instance.target[word[:i]][x], instance.proposal[word[:i]][x]) for i, x in enumerate(word)]


def words(instance: Instance) -> Iterator[list[tuple[fmpq, fmpq]]]:
    """The pairs (p, q) along each word x^l with 1 <= l <= depth."""
    everything = prefixes(instance.vocab, instance.draft.depth)
    return (along(instance, word) for word in everything if word)


def joint(numbers: Iterable[fmpq]) -> fmpq:
    """The product, exact also of nothing."""
    return prod(numbers, start=ONE)


def block_weight(pairs: list[tuple[fmpq, fmpq]]) -> fmpq:
    """w_l(x^l) = min(1, w_{l-1} p/q), of a word that can be drafted."""
    w = ONE
    for p, q in pairs:
        w = min(w * p / q, ONE)
    return w


def block_optimum(instance: Instance) -> fmpq:
    """sum over l and x^l of q(x^l) w_l(x^l): the most that valid verification of one path accepts."""
    drafted = (pairs for pairs in words(instance) if all(q > 0 for _, q in pairs))
    return sum((joint(q for _, q in pairs) * block_weight(pairs) for pairs in drafted), ZERO)


def relabelled(instance: Instance, s: tuple[int, ...]) -> Instance:
    """The instance in which token x is called s[x]."""

    def table(old: Table) -> Table:
        return Table(old.vocab, {rename(prefix, s): moved(row, s) for prefix, row in old.given()})

    return Instance(table(instance.target), table(instance.proposal), instance.draft)


def rename(word: Prefix, s: tuple[int, ...]) -> Prefix:
    """The word with token x called s[x]."""
    return tuple(s[x] for x in word)


def moved(row: Row, s: tuple[int, ...]) -> Row:
    """The row with the mass of x at s[x]."""
    return tuple(row[s.index(x)] for x in range(len(row)))


def holds(found: Certificate) -> bool:
    """Whether plan and duals are feasible, in exact arithmetic, and have equal values."""
    supply, demand = [ZERO] * len(found.problem.supply), [ZERO] * len(found.problem.demand)
    for (i, j), mass in found.plan.items():
        supply[i] += mass
        demand[j] += mass
    return (
        bool((found.u[:, None] + found.v >= found.problem.reward).all())
        and all(mass > ZERO for mass in found.plan.values())
        and (tuple(supply), tuple(demand)) == (found.problem.supply, found.problem.demand)
        and found.primal == found.value
    )
