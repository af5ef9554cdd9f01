"""A first motion: enable, home, joint states, inverse kinematics, a goal, a jog, hold.

./dvrk up                                      # a simulated PSM1, in another terminal
./dvrk python examples/00_first_motion.py      # before a real arm: "safety first" in the README
"""

import sys
import time
from queue import SimpleQueue

import numpy as np
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import Twist, TwistStamped, Vector3
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dvrk_kinematics import load_arm
from dvrk_kinematics.ros.calls import call, send_goal
from dvrk_kinematics.ros.client_process import run_client


def move(node: Node) -> None:
    """Move the tip of PSM1 by 10 mm with a goal, and by 5 mm with a jog."""
    print("looking for PSM1; if it is not up, type in another terminal: ./dvrk up")
    for name in ("enable", "home"):
        answer = call(node.create_client(Trigger, f"bridge/PSM1/{name}"), Trigger.Request())
        print(f"{name}: {answer.message}")
        if not answer.success:
            sys.exit(1)
    # joint_states has every joint of the URDF by name: angles in rad, slides in m.
    states: SimpleQueue[JointState] = SimpleQueue()
    node.create_subscription(JointState, "PSM1/joint_states", states.put, 1)
    state, psm = states.get(timeout=30.0), load_arm("PSM")
    q = np.array([state.position[state.name.index(name)] for name in psm.joint_names])
    T_base_tip = psm.forward(q)
    print(f"the tip is at {np.round(1e3 * T_base_tip[:3, 3], 2)} mm in PSM1_base")
    T_base_tip[0, 3] += 0.010
    solved = psm.inverse(T_base_tip, seed=q)
    print(f"10 mm along x: {np.round(solved.q, 4)}, {solved.reason or 'within the limits'}")
    point = JointTrajectoryPoint(positions=solved.q, time_from_start=Duration(sec=2))
    trajectory = JointTrajectory(joint_names=psm.joint_names, points=[point])
    follow = ActionClient(node, FollowJointTrajectory, "bridge/PSM1/follow_joint_trajectory")
    with send_goal(follow, FollowJointTrajectory.Goal(trajectory=trajectory)) as goal:
        print(f"goal: {goal.result(60.0).result.error_string}")
    # Ctrl-C cancels a goal. A jog is a velocity that must be sent again and again.
    jog = node.create_publisher(TwistStamped, "bridge/PSM1/jog", 1)
    twist = TwistStamped(twist=Twist(linear=Vector3(x=0.005)))
    for _ in range(50):
        jog.publish(twist)
        time.sleep(0.02)
    hold = node.create_client(Trigger, "bridge/PSM1/hold")
    print(f"hold: {call(hold, Trigger.Request()).message}")


sys.exit(run_client("first_motion", move))
