"""Forward and inverse kinematics of a PSM, without ROS and without a robot.

Run it in a clone:  ./dvrk python examples/01_forward_and_inverse.py
"""

from __future__ import annotations

import numpy as np

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import InvalidInput

np.set_printoptions(precision=4, suppress=True)

# An arm is a name and an instrument; both are data in config/models/.
psm = load_arm("PSM", instrument="400006")
print(psm, psm.joint_names)

# Where is the tip? Base is the remote centre of motion; metres and radians. At these angles the
# closed form of the Block-O paper took joint 5 for -150 instead of 30 degrees.
q = np.radians([20.0, 22.0, 0.0, 15.0, 30.0, 25.71])
q[2] = 0.15
T = psm.forward(q)
print("tip at", T[:3, 3], "m")

# Which joints put it there? The closed form gives the turn of roll that is nearest the seed.
found = psm.inverse(T, seed=q)
print("back to", found.q, "ok" if found.ok else found.status.name)

# A pose beyond the limits is solved too, and names the joints that forbid it.
deep = T.copy()
deep[:3, 3] *= 2.5
for joint, value, lower, upper in psm.inverse(deep, seed=q).violations:
    print(f"{joint} would be {value:.3f}, allowed {lower:.3f} to {upper:.3f}")

# All eight branches of the same pose, inside the limits or not.
print(len(psm.inverse_all(T)), "branches,", sum(r.ok for r in psm.inverse_all(T)), "inside limits")

# Ten thousand poses at once, with a status each.
many = psm.forward(psm.random_q(np.random.default_rng(0), 10_000))
print(psm.inverse_batch(many, seed=q).ok.sum(), "of", len(many), "solved inside limits")

# Every link, the bars of the parallelogram and the counterweight included.
print(
    len(psm.frames(q)), "links, the counterweight at", psm.frames(q)["counterweight_link"][:3, 3]
)

# Velocities: what the joints have to do for 10 mm/s along x, and how much damping it took.
rates = psm.solve_velocity(q, [0.01, 0, 0, 0, 0, 0])
print("joint velocities", rates.rate, "damping", rates.damping)

# What no arm could make sense of is refused, with the reason.
try:
    psm.inverse(np.diag([1.0, 1.0, -1.0, 1.0]))
except InvalidInput as error:
    print("refused:", error)
