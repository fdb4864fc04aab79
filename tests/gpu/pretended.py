"""A device that is not there, with numbers: tensors that say they are on "meta" and compute on the CPU.

What a GPU refuses is refused here too: operations between devices, but for numbers of no dimension and
indices; `numpy()`. So what is written for a GPU runs to its end, and fails where it would fail there first.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

DEVICE = torch.device("meta")
aten = torch.ops.aten
MIXED = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default}
COPIES = {aten.to, aten._to_copy, aten.copy_}


class Moved(Tensor):
    """A tensor on the device; `inside` has its numbers."""

    inside: Tensor

    @staticmethod
    def __new__(cls, inside: Tensor) -> "Moved":
        made = Tensor._make_wrapper_subclass(
            cls,
            inside.size(),
            strides=inside.stride(),
            storage_offset=inside.storage_offset(),
            dtype=inside.dtype,
            device=DEVICE,
            requires_grad=inside.requires_grad,
        )
        made.inside = inside
        return made

    def __repr__(self, **_) -> str:
        return f"Moved({self.inside!r})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return _run(func, args, kwargs or {})

    def tolist(self):
        return self.inside.tolist()

    def numpy(self, **_):
        raise TypeError("can't convert meta device type tensor to numpy")

    __torch_function__ = torch._C._disabled_torch_function_impl


class Pretended(TorchDispatchMode):
    """What is asked for on the device is made there."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return _run(func, args, kwargs or {})


class Sent(TorchFunctionMode):
    """Numbers of the host become a tensor there, and then go to the device."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if func in (Tensor.__getitem__, Tensor.__setitem__):
            args = (args[0], _index(args[1]), *args[2:])
        if func not in (torch.tensor, torch.as_tensor) or kwargs.get("device") is None:
            return func(*args, **kwargs)
        device = kwargs.pop("device")
        return func(*args, **kwargs).to(device)


def _index(given):
    if isinstance(given, tuple):
        return tuple(map(_index, given))
    return torch.tensor(given) if isinstance(given, list) else given


def _run(func, args, kwargs):
    leaves = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
    there = [each for each in leaves if isinstance(each, Moved)]
    asked = kwargs.get("device")
    if func.overloadpacket in COPIES:
        return _copied(func, args, kwargs)
    if there and func not in MIXED:
        beside = [each for each in leaves if not isinstance(each, Moved) and each.dim()]
        if beside:
            raise RuntimeError(f"{func} meets tensors on meta and cpu")
    if func in MIXED and there and not isinstance(args[0], Moved):
        raise RuntimeError(f"{func} of a tensor on cpu by indices on meta")
    out = func(*_plain(args), **_plain(kwargs))
    on_device = bool(there) or (asked is not None and torch.device(asked).type == "meta")
    if func is aten._local_scalar_dense.default or not on_device:
        return out
    if func._schema.is_mutable:
        return _mutated(func, args, kwargs, out)
    return tree_map(_wrapped, out)


def _copied(func, args, kwargs):
    if func is aten.copy_.default:
        to, source = args[:2]
        _plain(to).copy_(_plain(source))
        return to
    devices = [each for each in tree_leaves((args[1:], kwargs)) if isinstance(each, torch.device)]
    stays = isinstance(args[0], Moved) if not devices else devices[0].type == "meta"
    own = _plain(args[0])
    out = func(own, *_plain(args[1:]), **_plain(kwargs))
    if stays == isinstance(args[0], Moved) and out is own:
        return args[0]
    if out.data_ptr() == own.data_ptr():
        out = out.clone()
    return _wrapped(out) if stays else out


def _mutated(func, args, kwargs, out):
    # What an operation writes to is what it returns: the same object, if it is one of the arguments.
    given = {id(each.inside): each for each in tree_leaves((args, kwargs)) if isinstance(each, Moved)}
    return tree_map(lambda each: given.get(id(each), _wrapped(each)), out)


def _plain(thing):
    def one(each):
        if isinstance(each, Moved):
            return each.inside
        if isinstance(each, torch.device) and each.type == "meta":
            return torch.device("cpu")
        return each

    return tree_map(one, thing)


def _wrapped(each):
    return Moved(each) if isinstance(each, Tensor) and not isinstance(each, Moved) else each


@contextmanager
def pretended() -> Iterator[torch.device]:
    """The device of what runs inside."""
    with Sent(), Pretended():
        yield DEVICE
