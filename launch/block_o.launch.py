"""One arm whose tip traces the Block-O."""

import launch
import launch_ros

from dvrk_kinematics.ros.bringup.launch import describe


def generate_launch_description():
    return describe("block_o", launch, launch_ros)
