"""A weld seam with the RV-M1: position, velocity and acceleration of five joints, both ways.

Run it in a clone:  ./dvrk python examples/08_weld_line.py
Charts of it:       ./dvrk python -m dvrk_kinematics.cli.papers.weld_report --output weld_line.png
"""

from __future__ import annotations

import numpy as np

from dvrk_kinematics import load_arm
from dvrk_kinematics.cli.papers import WeldTask, link_rates, off_the_line, sample_weld

np.set_printoptions(precision=4, suppress=True)

# A Mitsubishi Movemaster, as data in config/models/rvm1.yaml; its base is on the floor.
arm = load_arm("RVM1")
print(arm, arm.joint_names)

# 250 mm straight down, half a metre in front, at 35.89 mm/s, the hand level: 70 samples.
task = WeldTask()
motion = sample_weld(arm, task)
print(f"{task.samples} samples, {1e3 * (motion.t[1] - motion.t[0]):.1f} ms apart")
print("joints at the start", motion.q[0], "and at the end", motion.q[-1])

# Inverse velocity and acceleration: what the joints do for a tip that moves evenly.
print("joint velocities at the start", motion.qd[0], "rad/s")
print("joint accelerations at the start", motion.qdd[0], "rad/s^2")

# And forward again: the tip's twist and acceleration, linear before angular.
print("twist", arm.twist(motion.q[0], motion.qd[0]))
print("acceleration", arm.acceleration(motion.q[0], motion.qd[0], motion.qdd[0]))

# How the links turn in the fixed frame: the hand, link 4, does not.
speeds = np.linalg.norm(link_rates(arm, motion).velocity, axis=2)
for k, name in enumerate(("waist", "upper arm", "fore arm", "hand"), 1):
    print(f"link {k}, the {name}: {speeds[0, k - 1]:.4f} to {speeds[-1, k - 1]:.4f} rad/s")

# The arm's own controller interpolates joints between n points of the line (command MS).
for points in (2, 4, 9, 19, 49):
    print(f"{points:>2} points: up to {1e3 * off_the_line(arm, task, points):.3f} mm off the line")

# Five joints cannot tilt the hand sideways: the answer says which part of the pose is missing.
sideways = task.poses(np.zeros(1))[0]
sideways[:3, :3] = np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]]) @ sideways[:3, :3]
answer = arm.inverse(sideways, seed=motion.q[0])
print(answer.status.name, "-", answer.reason)
