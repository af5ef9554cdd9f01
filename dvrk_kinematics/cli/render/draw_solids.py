"""Draws the solids of a URDF with VTK, without a screen."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import Any, NamedTuple

from dvrk_kinematics.errors import MissingExtra
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.models.urdf.solids import Shape, Solid

__all__ = ["DrawnTrace", "draw"]

_HINT = "install requirements/render.txt"
_BACKGROUND = "white"


class DrawnTrace(NamedTuple):
    """A line in space.

    Attributes:
        points: Where it goes (m), shape (N, 3), N >= 2.
        colour: Its colour, as ``#rrggbb``.
        radius: Half of its width (m).
    """

    points: Array
    colour: str
    radius: float


def draw(
    solids: Iterable[Solid],
    frames: Mapping[str, Array],
    *,
    eye: tuple[float, float, float],
    target: tuple[float, float, float],
    angle: float,
    floor: float | None,
    size: tuple[int, int],
    traces: Iterable[DrawnTrace] = (),
) -> bytes:
    """Renders solids at the poses of their links.

    Args:
        solids: What to draw.
        frames: Poses of the links, shape (4, 4) each.
        eye: Where the camera is (m).
        target: What it looks at (m).
        angle: Vertical opening of the camera (deg).
        floor: Height of a floor that takes shadows (m), None for none.
        size: Width and height (pixels).
        traces: Lines to draw as well.

    Returns:
        The picture as a PNG.

    Raises:
        MissingExtra: If pyvista is not installed.
    """
    pyvista = _pyvista()
    plotter = pyvista.Plotter(off_screen=True, window_size=size, lighting="none")
    plotter.set_background(_BACKGROUND)
    for rgba, mesh in _meshes(pyvista, solids, frames).items():
        _add(plotter, mesh, rgba)
    for trace in traces:
        line = pyvista.lines_from_points(trace.points)
        plotter.add_mesh(line.tube(radius=trace.radius, n_sides=12), color=trace.colour)
    if floor is not None:
        plane = pyvista.Disc(center=(target[0], target[1], floor), inner=0, outer=1.4, c_res=96)
        plotter.add_mesh(plane, color="#e3e6e8", specular=0.0, ambient=0.4, diffuse=0.6)
    _light(pyvista, plotter, eye, target)
    plotter.camera.position = eye
    plotter.camera.focal_point = target
    plotter.camera.up = (0.0, 0.0, 1.0)
    plotter.camera.view_angle = angle
    plotter.reset_camera_clipping_range()
    plotter.enable_depth_peeling(8)
    # Darkens edges and corners, without which white on white has no shape.
    reach = math.dist(eye, target)
    plotter.enable_ssao(radius=0.03 * reach, bias=0.002 * reach, kernel_size=128)
    plotter.enable_anti_aliasing("ssaa")
    pixels = plotter.screenshot(return_img=True)
    plotter.close()
    image = importlib.import_module("PIL.Image")
    picture = BytesIO()
    image.fromarray(pixels).save(picture, format="png", optimize=True)
    return picture.getvalue()


def _pyvista() -> Any:
    # Import by name: users who only drive an arm do not install it.
    try:
        return importlib.import_module("pyvista")
    except ImportError as error:
        raise MissingExtra("pyvista", _HINT) from error


def _meshes(
    pyvista: Any, solids: Iterable[Solid], frames: Mapping[str, Array]
) -> dict[tuple[float, ...], Any]:
    """One mesh for all solids of a colour, in the root's frame."""
    by_colour: dict[tuple[float, ...], list[Any]] = {}
    for solid in solids:
        mesh = _mesh(pyvista, solid)
        mesh.transform(frames[solid.link] @ solid.T_link_solid, inplace=True)
        by_colour.setdefault(solid.rgba, []).append(mesh)
    return {rgba: pyvista.merge(meshes) for rgba, meshes in by_colour.items()}


def _mesh(pyvista: Any, solid: Solid) -> Any:
    if solid.shape is Shape.BOX:
        x, y, z = solid.size
        return pyvista.Cube(x_length=x, y_length=y, z_length=z)
    if solid.shape is Shape.SPHERE:
        return pyvista.Sphere(radius=solid.size[0], theta_resolution=48, phi_resolution=48)
    radius, length = solid.size
    return pyvista.Cylinder(direction=(0, 0, 1), radius=radius, height=length, resolution=48)


def _add(plotter: Any, mesh: Any, rgba: tuple[float, ...]) -> None:
    surface = mesh.compute_normals(
        split_vertices=True, feature_angle=30.0, consistent_normals=False
    )
    plotter.add_mesh(
        surface,
        color=rgba[:3],
        opacity=rgba[3],
        smooth_shading=True,
        ambient=0.3,
        diffuse=0.8,
        specular=0.25,
        specular_power=18.0,
    )


def _light(
    pyvista: Any,
    plotter: Any,
    eye: tuple[float, float, float],
    target: tuple[float, float, float],
) -> None:
    """A key light over the camera's left shoulder, a fill from its right, one from behind."""
    forward = [t - e for t, e in zip(target, eye, strict=True)]
    right = (forward[1], -forward[0])
    reach = math.dist(eye, target)
    for along, across, up, intensity in (
        (-1.0, -0.7, 1.1, 0.75),
        (-0.8, 0.9, 0.35, 0.42),
        (0.9, 0.2, 0.9, 0.3),
    ):
        place = (
            target[0] + along * forward[0] + across * right[0],
            target[1] + along * forward[1] + across * right[1],
            target[2] + up * reach,
        )
        plotter.add_light(pyvista.Light(position=place, focal_point=target, intensity=intensity))
