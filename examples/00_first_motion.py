"""A first motion: enable, home, joint states, inverse kinematics, a goal, a jog, hold.

./dvrk up                                      # a simulated PSM1, in another terminal
./dvrk python examples/00_first_motion.py      # before a real arm: "safety first" in the README
"""

import sys
import time

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
from dvrk_kinematics.ros.client import PATIENT, call, looking_at, run_client, send_goal


def move(node: Node) -> None:
    """Move the tip of PSM1 by 10 mm with a goal, by 5 mm with a jog; stop at what fails first."""
    print("looking for PSM1; if it is not up, type in another terminal: ./dvrk up")
    for name in ("enable", "home"):
        answer = call(node.create_client(Trigger, f"bridge/PSM1/{name}"), Trigger.Request())
        answer.success or sys.exit(f"{name}: {answer.message}")
        print(f"{name}: {answer.message}")
    states: list[JointState] = []  # every joint of the URDF by name: rad for angles, m for slides
    node.create_subscription(JointState, "PSM1/joint_states", states.append, 1)
    PATIENT.wait(looking_at(lambda: bool(states)), "joint states") or sys.exit("no joint states")
    state, psm = states[-1], load_arm("PSM")
    q = np.array([state.position[state.name.index(name)] for name in psm.joint_names])
    T_base_tip = psm.forward(q)
    print(f"the tip is at {np.round(1e3 * T_base_tip[:3, 3], 2)} mm in PSM1_base")
    T_base_tip[0, 3] += 0.010
    solved = psm.inverse(T_base_tip, seed=q)
    solved.ok or sys.exit(f"10 mm along x: {solved.reason}")
    point = JointTrajectoryPoint(positions=solved.q, time_from_start=Duration(sec=2))
    trajectory = JointTrajectory(joint_names=psm.joint_names, points=[point])
    follow = ActionClient(node, FollowJointTrajectory, "bridge/PSM1/follow_joint_trajectory")
    with send_goal(follow, FollowJointTrajectory.Goal(trajectory=trajectory)) as sent:
        result = sent.result(60.0).result  # Ctrl-C cancels it
    result.error_code == result.SUCCESSFUL or sys.exit(f"goal: {result.error_string}")
    print(f"goal: {result.error_string}")
    jog = node.create_publisher(TwistStamped, "bridge/PSM1/jog", 1)
    PATIENT.wait(looking_at(lambda: jog.get_subscription_count() > 0), "a reader") or sys.exit(1)
    for _ in range(50):  # a velocity that must be sent again and again
        jog.publish(TwistStamped(twist=Twist(linear=Vector3(x=0.005))))
        time.sleep(0.02)
    answer = call(node.create_client(Trigger, "bridge/PSM1/hold"), Trigger.Request())
    print(f"hold: {answer.message}")


sys.exit(run_client("first_motion", move))
