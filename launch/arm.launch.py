"""One arm with its bridge and servers, simulated or real."""

import launch
import launch_ros

from dvrk_kinematics.ros.bringup.launch import describe


def generate_launch_description():
    return describe("arm", launch, launch_ros)
