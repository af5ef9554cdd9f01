"""The dVRK's own Python client against a simulated arm: what works on the robot works here.

./dvrk up arm:=PSM1 servers:=false                 # in another terminal
./dvrk python examples/07_official_client.py       # needs crtk_python_client (dvrk.repos)
"""

import sys

EXPLANATION = """\
crtk_python_client is not installed. The dVRK's own scripts use it; dvrk.repos names it:

    vcs import src < dvrk.repos && colcon build        # in a ROS 2 workspace

With it this example enables and homes the arm, moves it by move_jp and its tip by servo_cp."""


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
    ral.spin_and_execute(client.move, ral)
    return 0


class _Client:
    def __init__(self, ral: object, crtk: object) -> None:
        utils = crtk.utils(self, ral)  # what of CRTK is used here
        utils.add_operating_state()
        utils.add_setpoint_js()
        utils.add_setpoint_cp()
        utils.add_servo_cp()
        utils.add_move_jp()

    def move(self, ral: object) -> None:
        ral.check_connections(30.0)
        assert self.enable(10.0) and self.home(60.0), "the topics error and warning say why"
        rate, quiet = ral.create_rate(100), 0
        while quiet < 50:  # home() also returns for a moment before homing begins
            rate.sleep()
            quiet = 0 if self.is_busy(start_time=ral.create_time()) else quiet + 1
        q, _ = self.setpoint_jp(wait_timeout=10.0)
        q[:3] = 0.2, 0.0, 0.12
        self.move_jp(q).wait()
        pose, _ = self.setpoint_cp()
        for _ in range(100):
            pose.p[2] -= 0.0001
            self.servo_cp(pose)
            rate.sleep()
        print(f"joints {self.setpoint_jp()[0]}, tip {self.setpoint_cp()[0].p}")


if __name__ == "__main__":
    sys.exit(main())
