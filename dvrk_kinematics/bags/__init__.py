"""Bags as files: writes and reads MCAP record by record, complete or not."""

from dvrk_kinematics.bags.bag_metadata import (
    BagMetadata,
    read_metadata,
)
from dvrk_kinematics.bags.bag_reader import (
    BagReader,
    BagTopic,
)
from dvrk_kinematics.bags.mcap_reader import (
    McapReader,
    McapTopic,
)
from dvrk_kinematics.bags.mcap_writer import McapWriter

__all__ = [
    "BagMetadata",
    "BagReader",
    "BagTopic",
    "McapReader",
    "McapTopic",
    "McapWriter",
    "read_metadata",
]
