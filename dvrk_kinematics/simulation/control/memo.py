"""Results computed for the present joints, kept until these change."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["Memo"]

_Answer = TypeVar("_Answer")


class Memo:
    """Results by name, each computed once until all are forgotten."""

    def __init__(self) -> None:
        self._answers: dict[str, object] = {}

    def once(self, name: str, compute: Callable[[], _Answer]) -> _Answer:
        """The result of a name; one name always stands for one computation."""
        if name not in self._answers:
            self._answers[name] = compute()
        return self._answers[name]  # type: ignore[return-value]

    def forget(self) -> None:
        """Drops all results: their inputs have changed."""
        self._answers.clear()
