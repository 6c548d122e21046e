"""Draw the picture at the top of the README, or that of everyday people in the docs.

    cd tools && python -m studies.readme_picture street ../docs/img/street_camera.jpg
    cd tools && python -m studies.readme_picture everyday ../docs/img/everyday_camera.jpg

Everybody stands at a crosswalk of Harbour where this script puts them, posed by clips of the motion
library; the pictures are those of the server's colour camera.
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
    (14, (-0.5, 3.1), -90.0, "crossing-run-0001", None, ""),
    (3, (0.5, -0.1), 90.0, "crossing-walk-0007", None, ""),
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


_EVERYDAY: Final = (
    (10, (-1.6, 1.7), -90.0, "crossing-run-0001", None, ""),
    (3, (-0.2, -1.2), 90.0, "crossing-walk-0007", None, "pram"),
    (26, (1.4, 5.3), -90.0, "crossing-stroll-0001", 26, ""),
    (48, (6.0, 7.4), -150.0, "crossing-walk-0003", None, ""),
    (12, (6.9, 8.0), -160.0, "crossing-walk-0002", None, ""),
    (11, (7.5, 7.0), -140.0, "crossing-walk-0005", None, ""),
)
_WHEELCHAIR_M: Final = 0.66  # half its height with the person


def _put_readme(street: Street) -> None:
    for person in _PEOPLE:
        street.put_person(*person)
    for name, place, yaw, color in _VEHICLES:
        colors = {"color": color} if color else {}
        street.put(f"vehicle.{name}", place, yaw, attributes=colors, rolled_m=0.3)
    street.put("static.prop.ball", (-0.6, 1.5))
    street.put("walker.animal.1001", (0.4, -3.3), 80.0, rolled_m=0.35)


def _put_everyday(street: Street) -> None:
    for person in _EVERYDAY:
        street.put_person(*person)
    chair = {"use_wheelchair": "true"}
    street.put("walker.pedestrian.0021", (0.3, 2.9), -90.0, attributes=chair, up_m=_WHEELCHAIR_M)
    street.put("static.prop.ball", (-1.8, 0.5))
    street.put("walker.animal.1001", (0.5, 4.1), -90.0, rolled_m=0.35)
    street.put("vehicle.audi.a2", (9.0, 0.0), 180.0, attributes={"color": "180,44,44"})
    street.put("vehicle.mercedes.sprinter", (17.0, 3.4), 0.0)


_SCENES: Final = {"street": _put_readme, "everyday": _put_everyday}


def main(scene: str, file: Path) -> None:
    """Draw a scene into a file."""
    town = load_town("Harbour")
    street = Street(town, facing_crosswalk(town, _LIGHT))
    _SCENES[scene](street)
    sky = weather(azimuth=(street.yaw_deg + _SUN_DEG[0]) % 360.0, altitude=_SUN_DEG[1])
    eye = street.eye(_EYE_M[:2], _EYE_M[2], *_VIEW_DEG)
    picture = street.photo(eye, sky, _SIZE_PX, _FOV_DEG)
    Image.fromarray(picture).save(file, quality=90)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
