"""A node spun by one thread of its own, started and ended in order."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from types import TracebackType

from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

from dvrk_kinematics.ros.rclpy_ext.guarded_executor import GuardedExecutor

__all__ = ["SpinningNode"]


class _Stop:
    """Tells the executor whether to go on.

    It stands in for a Future. A real one gets another callback in every round of the executor and
    keeps them all, so the memory of a node that spins for days would grow without limit.
    """

    def __init__(self) -> None:
        self.is_set = False

    def add_done_callback(self, _: Callable[..., None]) -> None:
        """Do nothing: the code that sets it also wakes the executor."""

    def done(self) -> bool:
        return self.is_set

    def cancelled(self) -> bool:
        return False


class SpinningNode:
    """Spins a node in a thread during a with-block.

    The executor is single-threaded: callbacks never overlap, and a multi-threaded one costs more
    and gains nothing under Python's interpreter lock. No incoming message can end it, but an
    exception from a timer or a task does.

    Args:
        node: The node; it is not destroyed at the end.
        on_end: Called in the thread when it stops spinning, for whatever reason.
    """

    def __init__(self, node: Node, on_end: Callable[[], None] | None = None) -> None:
        self.node = node
        self.failure: Exception | None = None
        """The exception that ended the spinning early, if a timer or a task raised one."""
        self._on_end = on_end
        self._executor = GuardedExecutor(node)
        self._stop = _Stop()
        self._thread = threading.Thread(target=self._spin, name="executor", daemon=True)

    def __enter__(self) -> SpinningNode:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Joined before anything is destroyed: a process that exits while a thread spins aborts.
        self._stop.is_set = True
        self._executor.wake()
        self._thread.join()
        self._executor.shutdown()

    def finish_tasks(self, timeout_s: float) -> bool:
        """Wait until the executor has done all its earlier tasks, such as sending results.

        Args:
            timeout_s: Longest time to wait (s).

        Returns:
            Whether they are done.
        """
        if not self._thread.is_alive():
            return False
        done = threading.Event()
        # An executor takes tasks in rounds, the newest of a round first. All tasks waiting now
        # are done when the round after the next one begins.
        self._executor.create_task(lambda: self._executor.create_task(done.set) and None)
        return done.wait(timeout_s)

    def _spin(self) -> None:
        try:
            self._executor.spin_until_future_complete(self._stop)
        except ExternalShutdownException:
            return
        except Exception as failure:
            # Reported at once: otherwise, threads that wait for this node would not know why.
            self.node.get_logger().fatal("".join(traceback.format_exception(failure)))
            self.failure = failure
        finally:
            if self._on_end is not None:
                self._on_end()
