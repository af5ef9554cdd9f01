"""The CRTK contract of the dVRK as one table."""

from dvrk_kinematics.ros.crtk.contract import (
    CONTRACT,
    CRTK_VERSION,
    Direction,
    Frame,
    Interface,
    Kind,
    Rate,
    Service,
    Topic,
    kind_of,
    namespace_of,
    type_name,
)

__all__ = [
    "CONTRACT",
    "CRTK_VERSION",
    "Direction",
    "Frame",
    "Interface",
    "Kind",
    "Rate",
    "Service",
    "Topic",
    "kind_of",
    "namespace_of",
    "type_name",
]
