from __future__ import annotations

import gzip

import pytest

from jaywalk.core.errors import DataError, RegistryError
from jaywalk.town.opendrive import parse_opendrive, structure_errors
from jaywalk.town.town import available_towns, load_town, town_from_opendrive


def test_loads_by_name_and_by_path(tmp_path, monkeypatch, street_opendrive):
    (tmp_path / "Corner.xodr.gz").write_bytes(gzip.compress(street_opendrive.encode()))
    monkeypatch.setenv("JAYWALK_TOWN_PATH", str(tmp_path))
    assert "Corner" in available_towns()
    by_name = load_town("Carla/Maps/corner_Opt")
    by_path = load_town(tmp_path / "Corner.xodr.gz")
    assert by_name.name == by_path.name == "Corner"
    assert by_name.sha256 == by_path.sha256
    assert by_name.carla_map.name == "Carla/Maps/Corner"


def test_unknown_name_lists_known_ones(tmp_path, monkeypatch, street_opendrive):
    (tmp_path / "Corner.xodr").write_text(street_opendrive)
    monkeypatch.setenv("JAYWALK_TOWN_PATH", str(tmp_path))
    with pytest.raises(RegistryError, match=r"Unknown town 'Cornr'.*Did you mean 'Corner'"):
        load_town("Cornr")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("<OpenDRIVE><road>", "well-formed"),
        ("<sumo/>", "expected <OpenDRIVE>"),
        ("<OpenDRIVE/>", "no <road>"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><OpenDRIVE>&b;</OpenDRIVE>', "entities"),
        ('<OpenDRIVE><road id="1" length="0" junction="-1"/></OpenDRIVE>', "length"),
    ],
)
def test_broken_text_is_refused_in_plain_words(text, message):
    with pytest.raises(DataError, match=message):
        town_from_opendrive(text, "broken")


def test_structure_errors_name_the_place(street_opendrive):
    text = street_opendrive.replace('elementId="2"', 'elementId="99"').replace(
        'id="2" j', 'id="1" j'
    )
    errors = structure_errors(parse_opendrive(text, "x"))
    assert any("road '99', which does not exist" in error for error in errors)
    assert any("road id '1' is used more than once" in error for error in errors)


def test_missing_file_and_broken_gzip(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        load_town(tmp_path / "none.xodr")
    bad = tmp_path / "bad.xodr.gz"
    bad.write_bytes(b"\x1f\x8bnot gzip at all")
    with pytest.raises(DataError, match="cannot be read"):
        load_town(bad)
