"""Small URDFs as text, for tests of how they are read."""

from __future__ import annotations

LIMIT = '<limit lower="-1" upper="2" velocity="3" effort="4"/>'


def joint_text(
    name: str, parent: str, child: str, inside: str = "", kind: str = "revolute"
) -> str:
    """One joint; a revolute or prismatic one gets a limit if it has none."""
    limit = LIMIT if kind in ("revolute", "prismatic") and "<limit" not in inside else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{limit}{inside}</joint>"
    )


def robot_text(*joints: str, links: str = "a b c d") -> str:
    """A robot of empty links and some joints."""
    bodies = "".join(f'<link name="{name}"/>' for name in links.split())
    return f'<robot name="r">{bodies}{"".join(joints)}</robot>'
