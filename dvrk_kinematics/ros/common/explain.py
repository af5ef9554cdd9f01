"""How errors are explained to clients."""

from __future__ import annotations

import traceback
from typing import Any

from dvrk_kinematics.errors import DvrkError

__all__ = ["explain", "log_failure"]


def log_failure(logger: Any, what: str, error: BaseException) -> None:
    """Log an error that ends only the activity that caused it; callable from any thread.

    Args:
        logger: The node's logger.
        what: The activity that failed.
        error: The exception raised.
    """
    told = "".join(traceback.format_exception(error))
    logger.error(f"{what} failed:\n{told}")


def explain(error: Exception, logger: Any) -> str:
    """Put an error into words, for the answer to a request.

    A bug of ours must not leave a client waiting, nor end the node for all others. So it is
    answered too, and its traceback is logged.

    Args:
        error: The exception raised.
        logger: The node's logger.
    """
    if isinstance(error, DvrkError):
        return str(error)
    logger.error("".join(traceback.format_exception(error)))
    return f"internal error, {type(error).__name__}: {error}"
