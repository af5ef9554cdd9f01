"""The patient cart: three PSMs, the ECM and the setup joints, simulated or real."""

import launch
import launch_ros

from dvrk_kinematics.ros.bringup.launch import describe


def generate_launch_description():
    return describe("patient_cart", launch, launch_ros)
