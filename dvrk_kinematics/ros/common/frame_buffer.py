"""Frames on tf and tf_static: a small buffer that finds one frame in another.

tf2_ros is not available everywhere that rclpy is. This buffer keeps the frames of the last
seconds, walks chains of frames, and knows how old each is. Age counts from arrival, on our
monotonic clock: stamps may come from a machine whose clock is off, and are compared only with
each other.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np

from dvrk_kinematics.errors import FrameError
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array, frozen

__all__ = ["HISTORY_NS", "FrameBuffer"]

HISTORY_NS = 2_000_000_000
"""How long moving frames are kept, for lookups in the past."""


@dataclass(slots=True)
class _Edge:
    """A frame in its parent.

    Attributes:
        parent: The frame above.
        is_static: Whether it came on tf_static and never ages.
        arrival_ns: When the newest pose arrived (monotonic).
        stamps: Stamps (ns), increasing.
        poses: T_parent_child for each of them, shape (4, 4).
    """

    parent: str
    is_static: bool
    arrival_ns: int
    stamps: list[int] = field(default_factory=list)
    poses: list[Array] = field(default_factory=list)

    def add(self, stamp_ns: int, T: Array) -> None:
        if self.is_static or (self.stamps and stamp_ns < self.stamps[-1]):
            # A clock that went back starts a new history.
            self.stamps.clear()
            self.poses.clear()
        self.stamps.append(stamp_ns)
        self.poses.append(T)
        while self.stamps[-1] - self.stamps[0] > HISTORY_NS:
            self.stamps.pop(0)
            self.poses.pop(0)

    def pose(self, stamp_ns: int) -> Array | None:
        """Return T_parent_child at a stamp, interpolated if necessary; None if unknown."""
        if self.is_static or stamp_ns == 0:
            return self.poses[-1]
        k = bisect_right(self.stamps, stamp_ns)
        if k == 0 or (k == len(self.stamps) and stamp_ns != self.stamps[-1]):
            return None
        before = self.poses[k - 1]
        if stamp_ns == self.stamps[k - 1]:
            return before
        part = (stamp_ns - self.stamps[k - 1]) / (self.stamps[k] - self.stamps[k - 1])
        return _between(before, self.poses[k], part)


class FrameBuffer:
    """All known frames; any thread may look them up or add to them."""

    def __init__(self) -> None:
        self._edges: dict[str, _Edge] = {}
        self._lock = threading.Lock()

    @property
    def frames(self) -> tuple[str, ...]:
        """Return all known frames, sorted."""
        with self._lock:
            return tuple(sorted({*self._edges, *(edge.parent for edge in self._edges.values())}))

    def add(
        self, parent: str, child: str, T: Array, stamp_ns: int, arrival_ns: int, is_static: bool
    ) -> None:
        """Add one transform.

        Args:
            parent: The frame above.
            child: The frame.
            T: T_parent_child, shape (4, 4).
            stamp_ns: Its stamp; 0 marks a moving frame as invalid, and it is left out.
            arrival_ns: When it arrived (monotonic).
            is_static: Whether it came on tf_static.
        """
        if not child or child == parent or not np.isfinite(T).all():
            return
        if stamp_ns == 0 and not is_static:
            return
        with self._lock:
            edge = self._edges.get(child)
            if edge is None or edge.parent != parent or edge.is_static != is_static:
                edge = self._edges[child] = _Edge(parent, is_static, arrival_ns)
            edge.arrival_ns = arrival_ns
            edge.add(stamp_ns, frozen(T))

    def lookup(
        self, target: str, source: str, now_ns: int, max_age_s: float, stamp_ns: int = 0
    ) -> Array:
        """Find the pose of one frame in another.

        Args:
            target: The frame to express in.
            source: The frame to find.
            now_ns: Time now (monotonic).
            max_age_s: Largest age of a moving frame on the way (s), counted from its arrival.
            stamp_ns: The moment to look up, on the stamps' clock; 0 means the latest.

        Returns:
            T_target_source, shape (4, 4).

        Raises:
            FrameError: A frame is unknown, the two are not connected, or one on the way is too
                old or not known at that moment.
        """
        with self._lock:
            up, down = self._find_way(source, target)
            moment = (now_ns, max_age_s, stamp_ns)
            T_common_source = self._walk(up, *moment)
            T_common_target = self._walk(down, *moment)
        return np.asarray(se3.inverse(T_common_target) @ T_common_source)

    def _find_way(self, source: str, target: str) -> tuple[list[str], list[str]]:
        """Return the frames to climb from each of two, without their lowest common ancestor.

        Higher frames are not on the way: they may be old, or unknown at the requested moment.
        """
        # The source is the frame that the caller wants, so we name it first.
        self._refuse_unknown(source)
        self._refuse_unknown(target)
        ups, downs = self._climb(source), self._climb(target)
        common = next((frame for frame in ups if frame in downs), None)
        if common is None:
            raise FrameError(
                source,
                f"is not connected with {target!r}: its tree ends at {ups[-1]!r}, "
                f"the other at {downs[-1]!r}",
            )
        return ups[: ups.index(common)], downs[: downs.index(common)]

    def _climb(self, frame: str) -> list[str]:
        """Return the frame and all its ancestors."""
        names = [frame]
        while (edge := self._edges.get(names[-1])) is not None:
            if edge.parent in names:
                raise FrameError(
                    frame, f"hangs on itself: {' -> '.join([*names, edge.parent])} is a circle"
                )
            names.append(edge.parent)
        return names

    def _walk(self, frames: list[str], now_ns: int, max_age_s: float, stamp_ns: int) -> Array:
        """Return the pose of the first frame in the parent of the last."""
        T = np.eye(4)
        for name in frames:
            edge = self._edges[name]
            age_s = (now_ns - edge.arrival_ns) * 1e-9
            if not edge.is_static and age_s > max_age_s:
                raise FrameError(name, f"is {age_s:.3g} s old; at most {max_age_s:g} s is allowed")
            step = edge.pose(stamp_ns)
            if step is None:
                first, last = edge.stamps[0] * 1e-9, edge.stamps[-1] * 1e-9
                raise FrameError(
                    name,
                    f"is not known at {stamp_ns * 1e-9:.3f} s, only from {first:.3f} to "
                    f"{last:.3f} s",
                )
            T = step @ T
        return T

    def _refuse_unknown(self, frame: str) -> None:
        if frame in self._edges or any(edge.parent == frame for edge in self._edges.values()):
            return
        known = sorted({*self._edges, *(edge.parent for edge in self._edges.values())})
        raise FrameError(frame, f"is not on tf; there are: {', '.join(known) or 'none'}")


def _between(T_a: Array, T_b: Array, part: float) -> Array:
    """Interpolate between two poses, at constant linear and angular rate."""
    T = np.eye(4)
    T[:3, :3] = T_a[:3, :3] @ so3.exp(part * so3.log(T_a[:3, :3].T @ T_b[:3, :3]))
    T[:3, 3] = (1.0 - part) * T_a[:3, 3] + part * T_b[:3, 3]
    return T
