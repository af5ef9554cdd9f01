"""What the ROS edge costs: ordinary messages beside patched and raw ones, and a batch of poses."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from dvrk_kinematics_interfaces.srv import SolveIk
from geometry_msgs.msg import TransformStamped
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from bench.machine import describe_machine
from dvrk_kinematics.geometry import so3
from dvrk_kinematics.ros.common.conversions import (
    cp_to_matrices,
    cp_to_rows,
    make_joint_state,
    matrices_to_cp,
    to_flat,
)
from dvrk_kinematics.ros.common.stamps import write_stamp
from dvrk_kinematics.ros.rclpy_ext.patched_message import PatchedMessage, RawReader

OUTPUT = Path(__file__).parents[2] / ".dvrk" / "bench" / "messages.json"
JOINTS = ("yaw", "pitch", "insertion", "roll", "wrist_pitch", "wrist_yaw", "jaw")
POSES = 10_000
STAMP_NS = 1_700_000_000_123_456_789


def best_us(work: Callable[[], Any], passes: int = 7, least_s: float = 0.05) -> float:
    """Microseconds of one call: the best of several passes, each long enough to measure."""
    calls = 1
    while True:
        started = time.perf_counter()
        for _ in range(calls):
            work()
        if time.perf_counter() - started > least_s:
            break
        calls *= 2
    best = float("inf")
    for _ in range(passes):
        started = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, (time.perf_counter() - started) / calls)
    return best * 1e6


def joint_states() -> dict[str, float]:
    """A JointState of seven joints: to bytes and back to numbers."""
    q = np.linspace(0.0, 1.0, len(JOINTS))
    message = make_joint_state(JOINTS, q, q)
    patched = PatchedMessage(message, ["position", "velocity"])
    reader = RawReader(JointState, ["position", "velocity"])
    data = serialize_message(message)

    def fill() -> bytes:
        write_stamp(message.header.stamp, STAMP_NS)
        message.position, message.velocity = to_flat(q), to_flat(q)
        return bytes(serialize_message(message))

    def patch() -> bytes:
        patched["position"], patched["velocity"] = q, q
        return patched.stamped(STAMP_NS)

    return {
        "JointState(7) to bytes, ordinary": best_us(fill),
        "JointState(7) to bytes, patched": best_us(patch),
        "JointState(7) to numpy, ordinary": best_us(
            lambda: np.array(deserialize_message(data, JointState).position)
        ),
        "JointState(7) to numpy, raw": best_us(lambda: reader.read(data)["position"]),
    }


def transforms() -> dict[str, float]:
    """A TFMessage of twenty transforms: to bytes."""
    message = TFMessage()
    for number in range(20):
        message.transforms.append(TransformStamped(child_frame_id=f"PSM1_link_{number}"))
    rows = np.tile([0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0], (20, 1))
    patched = PatchedMessage(message, ["transforms[].transform"])

    def fill() -> bytes:
        for stamped, row in zip(message.transforms, rows.tolist(), strict=True):
            write_stamp(stamped.header.stamp, STAMP_NS)
            p, q = stamped.transform.translation, stamped.transform.rotation
            p.x, p.y, p.z, q.x, q.y, q.z, q.w = row
        return bytes(serialize_message(message))

    def patch() -> bytes:
        patched["transforms[].transform"] = rows
        return patched.stamped(STAMP_NS)

    return {
        "TFMessage(20) to bytes, ordinary": best_us(fill),
        "TFMessage(20) to bytes, patched": best_us(patch),
    }


def batches() -> dict[str, float]:
    """A request of ten thousand poses: from matrices and back to matrices."""
    T = np.tile(np.eye(4), (POSES, 1, 1))
    T[:, :3, :3] = so3.exp(np.random.default_rng(0).uniform(-2.0, 2.0, (POSES, 3)))
    cp = matrices_to_cp(T)
    request = SolveIk.Request(cp=to_flat(cp))
    return {
        f"SolveIk of {POSES} poses, fields written": best_us(
            lambda: SolveIk.Request(cp=to_flat(cp))
        ),
        f"SolveIk of {POSES} poses, fields read": best_us(lambda: cp_to_rows(request.cp)),
        f"{POSES} matrices to flat poses": best_us(lambda: matrices_to_cp(T)),
        f"{POSES} flat poses to matrices": best_us(lambda: cp_to_matrices(cp)),
    }


def main() -> int:
    """Measure, print, and keep the figures as JSON."""
    figures = joint_states() | transforms() | batches()
    print(f"{describe_machine()}\n\n| what | us |\n|---|---|")
    for what, us in figures.items():
        print(f"| {what} | {us:.1f} |")
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps(figures, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
