"""A way to end a search that takes long from outside it.

Solvers that iterate call :func:`check_in` in every round. What that does is decided by whoever
asked, around any number of calls:

    with interruptible(check):      # check raises to end what is under way
        arm.inverse(T, policy="position_first")

It holds for the thread that says so, and for no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["check_in", "interruptible"]


def _go_on() -> None:
    """Nobody asks for an end."""


_check: ContextVar[Callable[[], None]] = ContextVar("check", default=_go_on)


@contextmanager
def interruptible(check: Callable[[], None]) -> Iterator[None]:
    """Have something asked again and again while a with-block lasts.

    Args:
        check: Returns to go on, raises to end what is under way. Must not take long.
    """
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def check_in() -> None:
    """Ask whether to go on; between two calls lies at most one round of a search.

    Raises:
        Exception: Whatever the one who asked for it raises, to end the search.
    """
    _check.get()()
