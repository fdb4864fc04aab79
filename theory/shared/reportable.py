"""What every result offers a script, a notebook and a paper: a dictionary, a frame, a table, one line."""

import html
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from itertools import chain
from typing import Any

from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import Exact

SHOWN = 40
"""Most rows of a table in a notebook."""


class Reportable:
    """A result by its `to_dict`; its text is `str`, whose first line is enough for a list.

    Exact numbers are texts such as "1/3" that `Fraction`, `float` and `json.dumps` take.
    """

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The result as the command's --json has it, ready for `json.dumps`."""
        raise NotImplementedError

    def rows(self) -> Iterable[dict[str, Any]]:
        """The rows of its table, the numbers of which may be exact."""
        return [self.to_dict()]

    def to_frame(self) -> Any:
        """The rows as a data frame of polars or pandas, of the one that is imported if both are installed;
        exact numbers as floats. Raises BadInput if neither is there.
        """
        columns = {
            name: [float(each) if isinstance(each, Exact) else each for each in column]
            for name, column in self._columns().items()
        }
        for library in sorted(("polars", "pandas"), key=lambda name: name not in sys.modules):
            with suppress(ImportError):
                return import_module(library).DataFrame(columns)
        raise BadInput("to_frame needs polars or pandas: pip install polars")

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow's PyCapsule interface, through the frame: polars, pyarrow and DuckDB read results by it."""
        return self.to_frame().__arrow_c_stream__(requested_schema)

    def _columns(self) -> dict[str, list[Any]]:
        # Without those that hold no single values, such as lists, or nothing.
        rows = list(self.rows())
        columns = {name: [row.get(name) for row in rows] for name in dict.fromkeys(chain(*rows))}
        return {
            name: column
            for name, column in columns.items()
            if {*map(type, column)} != {type(None)} and not any(isinstance(x, dict | list) for x in column)
        }

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {str(self).partition(chr(10))[0]}>"

    def _repr_html_(self) -> str:
        columns = self._columns()
        lines = list(zip(*columns.values(), strict=True))
        body = "".join(f"<tr>{_cells('td', line)}</tr>" for line in lines[:SHOWN])
        more = f"<p>{len(lines) - SHOWN:,} rows more in to_frame()</p>" if len(lines) > SHOWN else ""
        table = f"<table><thead><tr>{_cells('th', columns)}</tr></thead><tbody>{body}</tbody></table>"
        return f'<pre style="white-space: pre-wrap">{html.escape(str(self))}</pre>{table}{more}'


def spelled(prefix: Iterable[int]) -> str:
    """Token ids joined by one space."""
    return " ".join(map(str, prefix))


def counted(number: int, noun: str) -> str:
    """So many of a noun.

    >>> counted(1, "law"), counted(1200, "law")
    ('1 law', '1,200 laws')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _cells(tag: str, values: Iterable[Any]) -> str:
    return "".join(f"<{tag}>{html.escape('' if each is None else str(each))}</{tag}>" for each in values)
