"""Pick and place with the CYBER 310: eight named solutions, and curves that go around a post.

Run it in a clone:  ./dvrk python examples/09_around_an_obstacle.py
A picture of it:
    ./dvrk python -m dvrk_kinematics.cli.papers.obstacle_report --output obstacle.png
"""

from __future__ import annotations

import numpy as np

from dvrk_kinematics import load_arm
from dvrk_kinematics.cli.papers import PickAndPlace, clearance, curve_joints
from dvrk_kinematics.motion import Curve, MoveAbsJ, make_motion_limits, plan_motion

np.set_printoptions(precision=3, suppress=True)

# A CYBER 310 with the six joints of a PUMA, as data in config/models/cyber310.yaml.
arm = load_arm("CYBER310")

# Where the object is picked, the hand pointing down: all eight solutions, by name.
task = PickAndPlace()
T_pick = np.diag([1.0, -1.0, -1.0, 1.0])
T_pick[:3, 3] = task.pick
for name, found in zip(arm.branch_names, arm.inverse_all(T_pick), strict=True):
    outside = ", ".join(violation.joint for violation in found.violations)
    print(f"{name:<28} {found.q}  {'ok' if found.ok else 'outside limits: ' + outside}")

# One of them by its name, or the one that is nearest to where the arm is.
print("by name ", arm.inverse_branch(T_pick, "left/elbow_up/wrist_down").q)
print("nearest ", arm.inverse(T_pick, seed=[2.5, -2.5, 3.4, 0.0, 0.8, 2.5]).q)

# Each joint follows a logistic curve; its centre A says when. All at the same time: the arm goes
# through the post. The lifting joints first and the turning joints later: it goes over it.
together = (0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
up_first = (0.7, 0.3, 0.3, 0.5, 0.3, 0.7)
limits = make_motion_limits(arm)
for name, centres in (("together", together), ("up first", up_first)):
    motion = curve_joints(arm, task, centres)
    gap = clearance(arm, motion.q, task.post)
    k = int(np.argmin(gap))
    print(
        f"{name}: nearest to the post {1e3 * gap[k]:.1f} mm at {motion.t[k]:.2f} s, "
        f"{'hits it' if gap[k] < 0.0 else 'passes'}; "
        f"{100 * np.abs(motion.qd / limits.velocity).max():.0f} % of the speeds allowed"
    )

# The same as a plan, proven and ready for the bridge, as quick as the joints allow.
start, end = motion.q[0], motion.q[-1]
curves = tuple(Curve(centre, task.half_width, task.delta) for centre in up_first)
plan = plan_motion(arm, [MoveAbsJ(end, speed=1.0, acceleration=1.0, curves=curves)], start, limits)
print(f"planned: {plan.duration_s:.2f} s, {len(plan.times_ns)} knots")
