"""Props as meshes: each fills the box of its actor, and no contact sees another shape."""

import numpy as np
import pytest

from jaywalk.server.sensors.models import Body, actor_look
from jaywalk.server.world._prop_blueprints import NOVEL_PROPS, PROPS, TREES
from jaywalk.server.world.blueprints import find
from jaywalk.server.world.textures import TEXTURED

# Small things and those that are boxes or balls anyway.
SOLID = {
    "ball", "bike helmet", "brokentile", "calibrator", "clothesline", "colacan", "garbage",
    "gardenlamp", "ironplank", "maptable", "mobile", "motorhelmet", "pergola", "platformgarbage",
    "purse", "streetfountain", "wateringcan", *(name for name, _ in TREES), *TEXTURED,
}  # fmt: skip


def look(name):
    body = find(f"static.prop.{name}").body
    box = body.half_extents_m, body.centre_m
    return actor_look(Body(f"static.prop.{name}", {}, *box, (90, 90, 90), 5)), body


@pytest.mark.parametrize("name", [name for name, _ in (*PROPS, *TREES, *NOVEL_PROPS)])
def test_a_prop_fills_its_box_at_every_level(name):
    shown, body = look(name)
    kind = name.rstrip("0123456789")
    assert (shown is None) == (kind in SOLID or name in SOLID)
    if shown is None:
        return
    half, centre = np.array(body.half_extents_m), np.array(body.centre_m)
    counts = []
    for mesh in shown.look.model.levels:
        used = mesh.points_m[np.unique(mesh.triangles)]
        assert used.min(axis=0) == pytest.approx(centre - half, abs=1e-9)
        assert used.max(axis=0) == pytest.approx(centre + half, abs=1e-9)
        assert np.abs(np.linalg.norm(mesh.normals, axis=2) - 1.0).max() < 1e-3
        counts.append(len(mesh.triangles))
    assert counts == sorted(counts, reverse=True)
    assert counts[2] <= 420


def test_warnings_face_those_who_come():
    """Scenarios put the trailer with -y and the signs with +y towards the traffic."""
    for name, side in (("trafficwarning", -1.0), ("warningconstruction", 1.0)):
        shown, _ = look(name)
        mesh = shown.look.model.levels[0]
        area = np.cross(
            mesh.points_m[mesh.triangles[:, 1]] - mesh.points_m[mesh.triangles[:, 0]],
            mesh.points_m[mesh.triangles[:, 2]] - mesh.points_m[mesh.triangles[:, 0]],
        )
        facing = mesh.normals.mean(axis=1)[:, 1] * side > 0.9
        kinds, far = np.unique(mesh.material[facing]), np.unique(mesh.material[~facing])
        assert len(kinds) >= 3
        assert np.abs(area[facing]).sum() > 0.5
        assert set(kinds.tolist()) - set(far.tolist())  # its picture is on this side only
