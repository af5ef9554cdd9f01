"""Exact kinematics, Cartesian motion and ROS 2 nodes for the da Vinci Research Kit."""

__version__ = "0.1.0"
