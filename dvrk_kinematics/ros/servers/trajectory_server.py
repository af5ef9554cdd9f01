"""The node trajectory_server: moves and figures of the tip, proven before they are sent."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rclpy.node import Node

from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.motion.cannula import WRIST_DEPTH_M, make_cannula_rule
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.moves import Frame
from dvrk_kinematics.ros.common.frame_listener import FrameListener
from dvrk_kinematics.ros.common.parameters import Parameters, parameter
from dvrk_kinematics.ros.common.run_node import run_node
from dvrk_kinematics.ros.common.sole_publisher import claim_topic
from dvrk_kinematics.ros.common.user_path import user_path
from dvrk_kinematics.ros.servers.arm_mover import ArmMover
from dvrk_kinematics.ros.servers.contract import FLIGHT_PLAN, MOVE, TRACE_BLOCK_O
from dvrk_kinematics.ros.servers.load_arms import ArmSettings, base_frame, load_arms
from dvrk_kinematics.ros.servers.trajectory_jobs import JobPlanner, frame_or_base

__all__ = ["TrajectoryServer", "TrajectorySettings", "main"]

_END_S = 10.0
"""How long shutdown waits for the arms to stop (s); a bridge may have gone silent."""


@dataclass(frozen=True)
class TrajectorySettings(ArmSettings):
    """What a user can choose about the trajectory server."""

    velocity_scale: float = parameter(
        1.0,
        "part of the model's joint velocities that may be used; as at the bridge",
        minimum=0.001,
        maximum=1.0,
    )
    acceleration_scale: float = parameter(
        1.0,
        "part of the model's joint accelerations that may be used; as at the bridge",
        minimum=0.001,
        maximum=1.0,
    )
    cannula_depth: float = parameter(
        WRIST_DEPTH_M,
        "least distance of the wrist from the remote centre in Cartesian motion; 0 for no rule",
        unit="m",
        minimum=0.0,
        maximum=0.2,
        read_only=True,
    )
    max_points: int = parameter(
        10_000,
        "most knots of a goal; as at the bridge",
        minimum=2,
        maximum=10_000_000,
        read_only=True,
    )
    max_planning_time: float = parameter(
        120.0,
        "longest time that a goal may take to be planned before it is refused",
        unit="s",
        minimum=0.1,
        maximum=3600.0,
    )
    joint_prefix: str = parameter("", "prefix of joints; as at the bridge", read_only=True)
    frame_age: float = parameter(
        0.5,
        "oldest frame on tf that a goal may refer to",
        unit="s",
        minimum=0.01,
        maximum=10.0,
    )
    recordings: str = parameter(
        "", "folder of recordings; empty for dvrk_recordings in ROS_HOME", read_only=True
    )

    @property
    def folder(self) -> Path:
        """Where recordings are kept."""
        if self.recordings:
            return user_path(self.recordings, "recordings")
        home = os.environ.get("ROS_HOME", "~/.ros")
        return user_path(home, "ROS_HOME") / "dvrk_recordings"


class TrajectoryServer(Node):
    """Plans and executes motions of any set of arms."""

    def __init__(self) -> None:
        super().__init__("trajectory_server")
        self._settings = Parameters(self, TrajectorySettings, on_change=self._adopt)
        self._frames = FrameListener(self)
        self._movers = [
            self._make_mover(name, arm) for name, arm in load_arms(self._settings.values).items()
        ]
        arms = ", ".join(self._settings.values.arms)
        self.get_logger().info(
            f"motions of {arms}: actions trajectory/<arm>/move and trajectory/<arm>/trace_block_o"
        )

    def stop(self) -> None:
        """Stop all arms at once, and wait for them."""
        for mover in self._movers:
            mover.begin_to_close()
        deadline = time.monotonic() + _END_S
        for mover in self._movers:
            mover.wait_until_closed(max(0.0, deadline - time.monotonic()))

    def _make_mover(self, name: str, arm: Arm) -> ArmMover:
        settings, base = self._settings.values, base_frame(name)
        claim_topic(self, FLIGHT_PLAN.name_of(name), f"trajectory_server of {name}")
        mover = ArmMover(self, name, arm, base, settings.joint_prefix, settings.max_planning_time)
        mover.offer(TRACE_BLOCK_O, lambda goal: self._plan_for(arm, base).read_trace(goal))
        mover.offer(MOVE, lambda goal: self._plan_for(arm, base).read_moves(goal))
        return mover

    def _plan_for(self, arm: Arm, base: str) -> JobPlanner:
        """The planner for a goal that arrives now, with the current parameters."""
        settings = self._settings.values

        def find_frame(frame_id: str) -> Frame:
            known = frame_or_base(frame_id.lstrip("/"), base)
            if known is not None:
                return known
            return self._frames.lookup(base, frame_id.lstrip("/"), settings.frame_age)

        depth = settings.cannula_depth
        return JobPlanner(
            arm=arm,
            limits=make_motion_limits(arm, settings.velocity_scale, settings.acceleration_scale),
            cannula=make_cannula_rule(arm, depth) if depth > 0.0 else None,
            find_frame=find_frame,
            folder=settings.folder,
            max_knots=settings.max_points,
        )

    def _adopt(self, settings: TrajectorySettings) -> None:
        """Apply changed parameters to the planning of later goals."""
        for mover in self._movers:
            mover.max_planning_s = settings.max_planning_time


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until it is told to stop."""
    return run_node(
        TrajectoryServer, arguments, on_stop=TrajectoryServer.stop, executable="trajectory_server"
    )


if __name__ == "__main__":
    sys.exit(main())
