"""Draws the picture at the top of the README: people, vehicles and a dog at a crosswalk of Harbour.

    cd tools && python -m studies.readme_picture ../docs/img/street_camera.jpg

Everybody stands where this script puts them, posed by clips of the motion library; the picture is
that of the server's colour camera.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from PIL import Image

from jaywalk.town.town import load_town
from studies.street_scene import Street, facing_crosswalk, weather

_LIGHT: Final = 63
_SIZE_PX: Final = (1280, 640)
_FOV_DEG: Final = 60.0
_EYE_M: Final = (-8.4, 0.9, 1.4)  # ahead, to the right and above the crosswalk's middle
_VIEW_DEG: Final = (0.0, 1.5)  # heading from the street's, pitch
_SUN_DEG: Final = (218.0, 46.0)  # azimuth from the street's, altitude
# Number of the walker, place from the crosswalk (ahead, right), heading from the street's, clip,
# frame, what they carry.
_PEOPLE: Final = (
    (14, (-0.5, 3.1), -90.0, "crossing-run-0001", 14, ""),
    (3, (0.5, -0.1), 90.0, "crossing-walk-0007", 24, ""),
    (18, (0.2, -1.8), 80.0, "crossing-walk-0002", 30, "phone"),
    (26, (0.5, 4.6), -90.0, "crossing-stroll-0001", 26, "bag"),
    (40, (1.4, 6.3), -95.0, "crossing-walk-0003", 40, "stick"),
    (21, (13.0, 7.4), 180.0, "crossing-walk-0004", 20, ""),
    (36, (16.0, 8.2), 0.0, "crossing-walk-0005", 33, "umbrella"),
    (28, (18.0, -4.6), 180.0, "crossing-walk-0006", 25, ""),
)
_VEHICLES: Final = (
    ("mitsubishi.fusorosa", (11.2, 0.0), 180.0, ""),
    ("mini.cooper_s_2021", (14.0, 3.3), 0.0, "200,40,36"),
    ("gazelle.omafiets", (5.4, 3.7), 2.0, ""),
    ("tesla.model3", (24.0, 3.4), 0.0, "40,70,140"),
    ("ford.crown", (26.0, 0.0), 180.0, ""),
)


def main() -> None:
    """Draw the picture into the file that the command names."""
    town = load_town("Harbour")
    street = Street(town, facing_crosswalk(town, _LIGHT))
    for person in _PEOPLE:
        street.put_person(*person)
    for name, place, yaw, color in _VEHICLES:
        colors = {"color": color} if color else {}
        street.put(f"vehicle.{name}", place, yaw, attributes=colors, rolled_m=0.3)
    street.put("static.prop.ball", (-0.6, 1.5))
    street.put("walker.animal.1001", (0.4, -3.3), 80.0, rolled_m=0.35)
    sky = weather(azimuth=(street.yaw_deg + _SUN_DEG[0]) % 360.0, altitude=_SUN_DEG[1])
    eye = street.eye(_EYE_M[:2], _EYE_M[2], *_VIEW_DEG)
    picture = street.photo(eye, sky, _SIZE_PX, _FOV_DEG)
    Image.fromarray(picture).save(Path(sys.argv[1]), quality=92)


if __name__ == "__main__":
    main()
