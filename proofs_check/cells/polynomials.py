"""Substitution, elimination and values of polynomials."""

from flint import fmpq, fmpq_mpoly


def put(polynomial: fmpq_mpoly, name: str, replacement: fmpq_mpoly) -> fmpq_mpoly:
    """The polynomial with a variable replaced."""
    context = polynomial.context()
    at = context.variable_to_index(name)
    if polynomial.is_constant() or not polynomial.degrees()[at]:
        return polynomial
    if replacement.is_constant():
        return polynomial.subs({name: replacement.leading_coefficient() if replacement else fmpq(0)})
    gens = list(context.gens())
    gens[at] = replacement
    return polynomial.compose(*gens, ctx=context)


def eliminate(polynomial: fmpq_mpoly, equation: fmpq_mpoly, slope: fmpq_mpoly, at: int) -> fmpq_mpoly:
    """slope^k polynomial, of degree k in variable `at`, which slope v + b = equation = 0 replaces."""
    context = polynomial.context()
    gen = context.gen(at)
    replacement = gen * slope - equation  # -b, free of v
    degree = polynomial.degrees()[at]
    out = context.constant(0)
    rest = polynomial
    for power in range(degree, -1, -1):
        part = context.from_dict({p: c for p, c in rest.to_dict().items() if p[at] == power})
        rest = rest - part
        out = out + (part / gen**power) * replacement**power * slope ** (degree - power)
    return out


def solve(polynomial: fmpq_mpoly) -> tuple[str, fmpq_mpoly] | None:
    """A variable that polynomial = 0 gives as a polynomial of the others, and that; or None."""
    context = polynomial.context()
    for at, degree in enumerate(polynomial.degrees()):
        if degree == 1:
            gen = context.gen(at)
            slope = polynomial.derivative(at)
            if slope.is_constant():
                slope = slope.leading_coefficient()
                return context.names()[at], gen - polynomial / slope
    return None


def value(polynomial: fmpq_mpoly, point: dict[str, fmpq]) -> fmpq:
    """The polynomial's value at a point."""
    return polynomial(*[point[name] for name in polynomial.context().names()])
