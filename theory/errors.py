"""The one error that means: the input is wrong, and here is how."""


class BadInput(ValueError):
    """Input that cannot be used, explained in one line that names the place and the fault.

    Commands print the line and leave with status 2.

    >>> raise BadInput("toy.json: target row '0': sums to 9/10, not 1")
    Traceback (most recent call last):
    theory.errors.BadInput: toy.json: target row '0': sums to 9/10, not 1
    """
