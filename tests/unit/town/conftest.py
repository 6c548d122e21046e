"""Towns for the tests: a small one written here, and CARLA's where the shared data lies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jaywalk.town.town import Town, load_town, town_from_opendrive

CARLA_TOWNS = Path(__file__).resolve().parents[4] / "shared" / "data" / "carla_towns"

LANES = """
<lanes><laneOffset s="0" a="0" b="0" c="0" d="0"/><laneSection s="0">
<left>
 <lane id="2" type="sidewalk" level="false"><width sOffset="0" a="2" b="0" c="0" d="0"/></lane>
 <lane id="1" type="driving" level="false"><link><predecessor id="1"/><successor id="1"/></link>
  <width sOffset="0" a="3.5" b="0" c="0" d="0"/><roadMark sOffset="0" type="solid" width="0.15"/>
  </lane>
</left>
<center><lane id="0" type="none" level="false">
 <roadMark sOffset="0" type="broken" color="yellow" width="0.15"/></lane></center>
<right>
 <lane id="-1" type="driving" level="false"><link><predecessor id="-1"/><successor id="-1"/></link>
  <width sOffset="0" a="3.5" b="0" c="0" d="0"/><roadMark sOffset="0" type="solid" width="0.15"/>
  </lane>
 <lane id="-2" type="sidewalk" level="false"><width sOffset="0" a="2" b="0" c="0" d="0"/></lane>
</right></laneSection></lanes>"""

SIGNALS = """
<signals>
 <signal id="77" name="light" s="90" t="-6" zOffset="4" hOffset="0" orientation="-" dynamic="yes"
  country="OpenDRIVE" type="1000001" subtype="-1" value="-1"><validity fromLane="-1" toLane="-1"/>
 </signal>
 <signal id="78" name="stop" s="20" t="6" zOffset="2" hOffset="3.14159" orientation="+" dynamic="no"
  country="OpenDRIVE" type="206" subtype="-1" value="-1"/>
 <signal id="79" name="limit" s="30" t="-6" zOffset="2" hOffset="0" orientation="-" dynamic="no"
  country="OpenDRIVE" type="274" subtype="50" value="50"/>
</signals>"""

CROSSWALK = """
<objects><object id="5" name="Crosswalk" type="crosswalk" s="60" t="0" zOffset="0" hdg="0"
 orientation="none" width="0" length="0"><outline>
 <cornerLocal u="-2" v="-3.5" z="0"/><cornerLocal u="2" v="-3.5" z="0"/>
 <cornerLocal u="2" v="3.5" z="0"/><cornerLocal u="-2" v="3.5" z="0"/>
 <cornerLocal u="-2" v="-3.5" z="0"/></outline></object></objects>"""


def street_text() -> str:
    """One straight street of 120 m along +x, climbing 5 %, followed by an arc."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<OpenDRIVE><header revMajor="1" revMinor="4" name="" version="1" north="0" south="0" east="0"
 west="0"><geoReference><![CDATA[+proj=tmerc +lat_0=0 +lon_0=0]]></geoReference></header>
<road name="a" length="120" id="1" junction="-1">
 <link><successor elementType="road" elementId="2" contactPoint="start"/></link>
 <type s="0" type="town"><speed max="30" unit="mph"/></type>
 <type s="80" type="town"><speed max="10" unit="m/s"/></type>
 <planView><geometry s="0" x="0" y="0" hdg="0" length="120"><line/></geometry></planView>
 <elevationProfile><elevation s="0" a="0" b="0.05" c="0" d="0"/></elevationProfile>
 {LANES}{CROSSWALK}{SIGNALS}</road>
<road name="b" length="60" id="2" junction="-1">
 <link><predecessor elementType="road" elementId="1" contactPoint="end"/></link>
 <planView><geometry s="0" x="120" y="0" hdg="0" length="60"><arc curvature="0.02"/></geometry>
 </planView><elevationProfile><elevation s="0" a="6" b="0" c="0" d="0"/></elevationProfile>
 {LANES}</road>
<controller id="9" name="c" sequence="0"><control signalId="77" type=""/>
 <control signalId="77" type=""/></controller>
</OpenDRIVE>"""


@pytest.fixture(scope="session")
def street_opendrive() -> str:
    return street_text()


@pytest.fixture(scope="session")
def street(street_opendrive: str) -> Town:
    return town_from_opendrive(street_opendrive, "Street")


@pytest.fixture(scope="session")
def carla_town():  # type: ignore[no-untyped-def]
    """A function giving one of CARLA's towns by name; skips where the shared data is absent.

    Towns of our own stand in for them, so that each of these tests always runs.
    """
    kept: dict[str, Town] = {}

    def get(name: str) -> Town:
        if name not in kept and name in ("Harbour", "Orchard", "Ridge"):
            kept[name] = load_town(name)
        if name not in kept:
            if not CARLA_TOWNS.is_dir():
                pytest.skip("needs CARLA's towns in ../shared/data/carla_towns")
            old = os.environ.get("JAYWALK_TOWN_PATH")
            os.environ["JAYWALK_TOWN_PATH"] = str(CARLA_TOWNS)
            try:
                kept[name] = load_town(name)
            finally:
                if old is None:
                    del os.environ["JAYWALK_TOWN_PATH"]
                else:
                    os.environ["JAYWALK_TOWN_PATH"] = old
        return kept[name]

    return get
