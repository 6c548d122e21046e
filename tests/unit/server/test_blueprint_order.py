"""Replays the client's hash map over our order and compares with what the real simulator printed.

The client stores the library in a `std::unordered_map` (GNU C++ library) that reserves room for all
entries, and filters by inserting the matches into a map that grows. Both are rebuilt here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jaywalk.server.world.blueprints import library

_PRIMES = (
    11,
    13,
    17,
    19,
    23,
    29,
    31,
    37,
    41,
    43,
    47,
    53,
    59,
    61,
    67,
    71,
    73,
    79,
    83,
    89,
    97,
    103,
    109,
    113,
    127,
    137,
    139,
    149,
    157,
    167,
    179,
    193,
    199,
    211,
    227,
    241,
    257,
)
_MASK = (1 << 64) - 1

# Printed by a C++ program (GNU library, 64 bit).
_GOLDEN_HASHES = {
    "": 6142509188972423790,
    "vehicle.audi.a2": 6736049373638863051,
    "static.prop.bin0": 670241341037688891,
}

# Registration order of the sensors of 0.9.15 (the order of the sensor registry).
_SENSORS_0_9_15 = (
    "other.collision camera.depth camera.normals camera.dvs other.gnss other.imu "
    "other.lane_invasion other.obstacle camera.optical_flow other.radar lidar.ray_cast_semantic "
    "lidar.ray_cast other.rss camera.rgb camera.semantic_segmentation camera.instance_segmentation"
)

# `filter("vehicle.*")` as printed by a 0.9.15 client (vehicle list of a public script).
_PRINTED_VEHICLES = """
audi.a2 citroen.c3 chevrolet.impala dodge.charger_police_2020 micro.microlino dodge.charger_police
audi.tt jeep.wrangler_rubicon mercedes.coupe yamaha.yzf mercedes.coupe_2020
harley-davidson.low_rider dodge.charger_2020 ford.ambulance lincoln.mkz_2020 mini.cooper_s_2021
ford.crown toyota.prius carlamotors.european_hgv carlamotors.carlacola vespa.zx125
nissan.patrol_2021 mercedes.sprinter audi.etron seat.leon volkswagen.t2_2021 tesla.cybertruck
lincoln.mkz_2017 carlamotors.firetruck ford.mustang volkswagen.t2 mitsubishi.fusorosa tesla.model3
diamondback.century gazelle.omafiets bmw.grandtourer bh.crossbike kawasaki.ninja nissan.patrol
nissan.micra mini.cooper_s
"""

# The 95 props in the order Fail2Drive measured them: `filter("static*")` of a 0.9.15 client.
_PRINTED_PROPS = """
haybalelb barbeque garbage04 maptable swingcouch trampoline chainbarrierend creasedbox02
plantpot01 plantpot08 box03 warningconstruction barrel streetbarrier garbage06 plantpot06 busstop
garbage01 trashcan03 pergola wateringcan garbage03 mailbox bin fountain guitarcase gnome garbage05
gardenlamp plantpot03 plantpot07 shoppingtrolley trafficcone02 plantpot05 atm shoppingbag
shoppingcart plantpot04 plastictable streetsign04 streetsign plasticbag trafficwarning trashcan05
plasticchair trashcan01 travelcase trashbag busstoplb calibrator brokentile03 briefcase
trafficcone01 vendingmachine garbage02 purse motorhelmet bench02 dirtdebris03 platformgarbage01
kiosk_01 doghouse swing advertisement creasedbox01 streetfountain streetsign01 constructioncone
dirtdebris01 box02 box01 warningaccident trashcan02 haybale colacan clothesline foodcart slide
clothcontainer dirtdebris02 glasscontainer container chainbarrier mobile bike~helmet table
creasedbox03 brokentile04 trashcan04 bench01 brokentile02 brokentile01 ironplank plantpot02
bench03
"""


def _murmur(data: bytes) -> int:
    """`std::hash<std::string>` of the GNU C++ library on 64-bit machines."""
    multiplier = (0xC6A4A793 << 32) + 0x5BD1E995
    aligned = len(data) & ~7
    value = 0xC70F6907 ^ ((len(data) * multiplier) & _MASK)

    def mixed(word: int) -> int:
        return word ^ (word >> 47)

    for start in range(0, aligned, 8):
        word = int.from_bytes(data[start : start + 8], "little")
        word = (mixed((word * multiplier) & _MASK) * multiplier) & _MASK
        value = ((value ^ word) * multiplier) & _MASK
    if len(data) & 7:
        value = ((value ^ int.from_bytes(data[aligned:], "little")) * multiplier) & _MASK
    return mixed((mixed(value) * multiplier) & _MASK)


class _Map:
    """Key order of `std::unordered_map`: one chain; a bucket's keys are neighbours in it."""

    def __init__(self, reserve: int = 0) -> None:
        self._buckets = next(p for p in _PRIMES if p >= reserve) if reserve else 1
        self._chain: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return iter(self._chain)

    def add(self, key: str) -> None:
        if len(self._chain) + 1 > self._buckets or self._buckets == 1:
            wanted = max(len(self._chain) + 2, 2 * self._buckets, 12 if self._buckets == 1 else 0)
            self._buckets = next(p for p in _PRIMES if p >= wanted)
            old, self._chain = self._chain, []
            for known in old:
                self._insert(known)
        self._insert(key)

    def _insert(self, key: str) -> None:
        """A new key stands before those already in its bucket, or at the head of the chain."""
        bucket = _murmur(key.encode()) % self._buckets
        for place, other in enumerate(self._chain):
            if _murmur(other.encode()) % self._buckets == bucket:
                self._chain.insert(place, key)
                return
        self._chain.insert(0, key)


def _ids() -> list[str]:
    ids = [item.id for item in library("0.9.15", novel=False)]
    vehicles = sum(name.startswith("vehicle.") for name in ids)
    sensors = [f"sensor.{name}" for name in _SENSORS_0_9_15.split()]
    return ids[:vehicles] + sensors + ids[vehicles:]


def _filtered(ids: Iterable[str], prefix: str) -> list[str]:
    names = list(ids)
    whole = _Map(reserve=len(names))
    for name in names:
        whole.add(name)
    matches = _Map()
    for name in whole:
        if name.startswith(prefix):
            matches.add(name)
    return list(matches)


def test_string_hash_is_the_one_of_the_c_plus_plus_library() -> None:
    assert {text: _murmur(text.encode()) for text in _GOLDEN_HASHES} == _GOLDEN_HASHES


def test_vehicles_come_out_in_the_printed_order() -> None:
    assert _filtered(_ids(), "vehicle.") == [
        f"vehicle.{name}" for name in _PRINTED_VEHICLES.split()
    ]


def test_props_come_out_in_the_printed_order() -> None:
    names = [name for name in _filtered(_ids(), "static") if name.startswith("static.prop.")]
    props = [name.removeprefix("static.prop.") for name in names if not name.endswith(".mesh")]
    assert len(props) == 95
    assert props == [name.replace("~", " ") for name in _PRINTED_PROPS.split()]
