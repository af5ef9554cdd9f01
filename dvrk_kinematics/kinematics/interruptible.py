"""A way to end a long search from outside it.

Solvers that iterate call :func:`check_in` in every round. The caller decides what that does,
around any number of calls:

    with interruptible(check):      # check raises to end what is under way
        arm.inverse(T, policy="position_first")

It applies only to the thread that uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["check_in", "interruptible"]


def _go_on() -> None:
    """The default: never ends a search."""


_check: ContextVar[Callable[[], None]] = ContextVar("check", default=_go_on)


@contextmanager
def interruptible(check: Callable[[], None]) -> Iterator[None]:
    """Call a check repeatedly while a with-block lasts.

    Args:
        check: Returns to go on, raises to end what is under way. Must not take long.
    """
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def check_in() -> None:
    """Check whether to go on; there is at most one round of a search between two calls.

    Raises:
        Exception: Whatever the caller's check raises, to end the search.
    """
    _check.get()()
