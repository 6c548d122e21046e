"""Tables of materials."""

from __future__ import annotations

from jaywalk.server.sensors import _materials as materials
from jaywalk.server.sensors._materials import Material


def test_every_material_has_a_row_in_every_table() -> None:
    assert [int(material) for material in Material] == list(range(len(Material)))
    for name in ("COLORS", "GLOSS", "ROUGHNESS", "TEXTURE", "SLOT", "LAMP"):
        assert len(getattr(materials, f"MATERIAL_{name}")) == len(Material)


def test_lamps_and_slots_are_those_of_their_materials() -> None:
    assert materials.MATERIAL_LAMP[Material.BRAKE_LAMP] == materials.Lamp.BRAKE
    assert materials.MATERIAL_SLOT[Material.TOP] == materials.Slot.TOP
    assert max(materials.MATERIAL_SLOT) < materials.SLOTS
