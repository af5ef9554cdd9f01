"""What a client is told of an error."""

from __future__ import annotations

import traceback
from typing import Any

from dvrk_kinematics.errors import DvrkError

__all__ = ["explain", "log_failure"]


def log_failure(logger: Any, what: str, error: BaseException) -> None:
    """Log an error that ends only what caused it; from any thread.

    Args:
        logger: Of the node.
        what: What it was about.
        error: As it was raised.
    """
    told = "".join(traceback.format_exception(error))
    logger.error(f"{what} failed:\n{told}")


def explain(error: Exception, logger: Any) -> str:
    """Put an error into words, for the answer to a request.

    A mistake of ours must neither leave a client waiting nor take the node from all others: it is
    answered too, and its traceback goes to the log.

    Args:
        error: What was raised.
        logger: The node's logger.
    """
    if isinstance(error, DvrkError):
        return str(error)
    logger.error("".join(traceback.format_exception(error)))
    return f"internal error, {type(error).__name__}: {error}"
