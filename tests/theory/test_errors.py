"""Imports that fail: an absent package names the extra to install, the project's own faults stay."""

import pytest

from draftproof.theory.errors import BadInput, extra


def test_an_absent_package_names_the_extra():
    with (
        pytest.raises(
            BadInput, match=r"^endpoint needs no_such_package: pip install 'draftproof\[endpoint\]'$"
        ),
        extra("endpoint"),
    ):
        import no_such_package.part  # noqa: F401


def test_an_absent_module_of_the_project_is_its_own_fault():
    with pytest.raises(ModuleNotFoundError, match=r"draftproof\.theory\.no_such_module"), extra("endpoint"):
        import draftproof.theory.no_such_module  # noqa: F401


def test_an_absent_name_of_the_project_is_its_own_fault():
    with pytest.raises(ImportError, match="no_such_name") as caught, extra("endpoint"):
        from draftproof.theory.errors import no_such_name  # noqa: F401
    assert not isinstance(caught.value, BadInput)


def test_an_absent_name_of_an_installed_package_is_told_as_it_is():
    with pytest.raises(ImportError, match="no_such_name"), extra("endpoint"):
        from numpy import no_such_name  # noqa: F401
