"""A bag of the standard topics of a running arm."""

import launch
import launch_ros

from dvrk_kinematics.ros.bringup.launch import describe


def generate_launch_description():
    return describe("record", launch, launch_ros)
