"""The dVRK's own Python client against a simulated arm: what works on the robot works here.

./dvrk up arm:=PSM1 servers:=false                 # in another terminal
./dvrk python examples/07_official_client.py       # needs crtk_python_client (dvrk.repos)
"""

import sys

EXPLANATION = """\
crtk_python_client is not installed. The dVRK's own scripts use it; dvrk.repos names it:

    vcs import src < dvrk.repos && colcon build        # in a ROS 2 workspace
    ros2 run dvrk_kinematics arm_simulator             # the simulated arm, in another terminal
    python3 examples/07_official_client.py PSM1

With it this example enables and homes the arm, moves one joint by move_jp and the tip by servo_cp.
Nothing in it knows that the arm is simulated."""


def main() -> int:
    """Move an arm a little, with the client that moves the real one."""
    try:
        import crtk
    except ImportError:
        print(EXPLANATION)
        return 0
    arm = sys.argv[1] if len(sys.argv) > 1 else "PSM1"
    ral = crtk.ral("official_client")
    client = _Client(ral.create_child(arm), crtk)
    ral.spin()
    ral.check_connections()
    if not (client.enable(10.0) and client.home(60.0)):
        return 1
    q = client.setpoint_jp() * 0.5
    client.move_jp(q).wait()
    pose = client.setpoint_cp()
    for _ in range(100):
        pose.p[2] -= 0.0001
        client.servo_cp(pose)
        ral.create_rate(200).sleep()
    print(f"{arm}: joints {client.setpoint_jp()}, tip {client.setpoint_cp().p}")
    ral.shutdown()
    return 0


class _Client:
    """What of CRTK is used here."""

    def __init__(self, ral: object, crtk: object) -> None:
        utils = crtk.utils(self, ral, expected_interval=0.005)
        utils.add_operating_state()
        utils.add_setpoint_js()
        utils.add_setpoint_cp()
        utils.add_servo_cp()
        utils.add_move_jp()


if __name__ == "__main__":
    sys.exit(main())
