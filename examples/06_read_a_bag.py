"""Reading a bag without ROS: which topics it holds, and how far each joint went.

./dvrk demo                                              # records one
.venv/bin/python examples/06_read_a_bag.py FOLDER        # or the newest of the demos
"""

import sys
from pathlib import Path

import numpy as np

DEMOS = Path(__file__).parents[1] / ".dvrk" / "demos"


def newest_bag() -> Path | None:
    """The newest bag of the demonstrations that was closed; None if there is none."""
    closed = sorted(DEMOS.glob("*/bag/metadata.yaml"))
    return closed[-1].parent if closed else None


def main() -> None:
    """Print what a bag holds."""
    bag = Path(sys.argv[1]) if len(sys.argv) > 1 else newest_bag()
    if bag is None:
        print("there is no bag yet; ./dvrk demo records one")
        return
    try:
        from rosbags.rosbag2 import Reader
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        print("rosbags is not installed; ./dvrk report installs it, and so does pip")
        return
    store = get_typestore(Stores.ROS2_JAZZY)
    with Reader(bag) as reader:
        print(f"{bag}: {reader.duration * 1e-9:.1f} s, {reader.message_count} messages")
        for connection in sorted(reader.connections, key=lambda c: c.topic):
            print(f"  {connection.topic:<45} {connection.msgtype:<40} {connection.msgcount}")
        states = [c for c in reader.connections if c.topic.endswith("/measured_js")]
        positions: dict[tuple[str, ...], list[np.ndarray]] = {}
        for connection, _, data in reader.messages(connections=states[:1]):
            message = store.deserialize_cdr(data, connection.msgtype)
            # A stamp of 0 says that the arm itself calls its state invalid. Names change: while
            # a PSM homes, it reports the discs of its instrument instead of the wrist.
            if message.header.stamp.sec:
                positions.setdefault(tuple(message.name), []).append(message.position)
    if not positions:
        print("no valid state of an arm in it")
        return
    names, rows = max(positions.items(), key=lambda item: len(item[1]))
    q = np.array(rows)
    for name, low, high in zip(names, q.min(axis=0), q.max(axis=0), strict=True):
        print(f"  {name:<12} from {low:+.4f} to {high:+.4f}")


if __name__ == "__main__":
    main()
