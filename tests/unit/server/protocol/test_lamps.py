"""Street lamps as programs switch them."""

import math

import pytest

from jaywalk.server.encoding._structs import encode_street_lights, update_street_lights
from jaywalk.server.world._lights import street_lights
from jaywalk.town.town import load_town


def test_lamps_keep_only_what_every_client_can_decode():
    lamps = street_lights(load_town("Harbour").scenery)
    _, place, *_ = before = encode_street_lights(lamps.values())[0]
    for intensity, group in ((1.0, 2**40), (1.0, -1), (math.inf, 2)):
        with pytest.raises(ValueError, match="lamp 1"):
            update_street_lights(lamps, [[1, place, intensity, group, [1, 2, 3], True]])
    assert encode_street_lights(lamps.values())[0] == before
    update_street_lights(lamps, [[1, place, 5.0, 3, [300, 2, -3], True]])
    assert encode_street_lights(lamps.values())[0] == [1, place, 5.0, 3, [255, 2, 0], True]
