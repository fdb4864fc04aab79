"""Lazy uniforms: numbers that are decided only as far as somebody asks.

A `Lazy` stands for f(u), u one coin and f a chain of steps that are each monotone (`monotone.py`,
`steps.py`). Compared with a number it asks the world whether u lies below the point where f crosses
it. Some shapes of f are also known by name (`forms.py`), because they can be compared with one
another: races. A `Product` is of several coins (`product.py`).
"""

from draftproof.simulators.audit.randomness.lazy.coin import Coin, number
from draftproof.simulators.audit.randomness.lazy.monotone import Lazy
from draftproof.simulators.audit.randomness.lazy.product import Product

__all__ = ["Coin", "Lazy", "Product", "number"]
