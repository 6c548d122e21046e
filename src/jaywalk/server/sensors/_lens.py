"""Attributes of cameras: the lens, and how a colour camera turns light into bytes."""

from __future__ import annotations

from typing import Final

from jaywalk.server.sensors._lighting import FilmCurve
from jaywalk.server.sensors._shading import Exposure
from jaywalk.server.sensors.catalogue import Attributes, choice, flag, floats, integer

LENS: Final = (
    integer("image_size_x", "800"),
    integer("image_size_y", "600"),
    *floats(
        fov="90.0",
        lens_circle_falloff="5.0",
        lens_circle_multiplier="0.0",
        lens_k="-1.0",
        lens_kcube="0.0",
        lens_x_size="0.08",
        lens_y_size="0.08",
    ),
)
EXPOSURE: Final = (
    choice("exposure_mode", "histogram", "manual"),
    *floats(exposure_compensation="0.0", shutter_speed="200.0", iso="100.0", fstop="1.4"),
    flag("enable_postprocess_effects", "true"),
    *floats(
        gamma="2.2",
        motion_blur_intensity="0.45",
        motion_blur_max_distortion="0.35",
        lens_flare_intensity="0.1",
        bloom_intensity="0.675",
        motion_blur_min_object_screen_size="0.1",
        exposure_min_bright="10.0",
        exposure_max_bright="12.0",
        exposure_speed_up="3.0",
        exposure_speed_down="1.0",
        calibration_constant="16.0",
        focal_distance="1000.0",
        min_fstop="1.2",
    ),
    integer("blade_count", "5"),
    *floats(
        blur_amount="1.0",
        blur_radius="0.0",
        slope="0.88",
        toe="0.55",
        shoulder="0.26",
        black_clip="0.0",
        white_clip="0.04",
        temp="6500.0",
        tint="0.0",
        chromatic_aberration_intensity="0.0",
        chromatic_aberration_offset="0.0",
    ),
)

_LIMIT: Final = 1e6
# CARLA's defaults, for which a camera with manual exposure is right at noon.
_SHUTTER_PER_S, _ISO, _FSTOP, _BLOOM, _TEMPERATURE_K = 200.0, 100.0, 1.4, 0.675, 6500.0
_WARMTH: Final = 0.4  # exponent of the gain of red, and of blue, by the colour temperature


def exposure_of(attributes: Attributes) -> Exposure:
    """Return how a camera turns light into bytes, from its attributes."""

    def number(name: str) -> float:
        return attributes.number(name, -_LIMIT, _LIMIT)

    gamma = min(max(number("gamma"), 0.05), 20.0)
    effects = attributes.flag("enable_postprocess_effects")
    if not effects:
        return Exposure(fixed=True, film=FilmCurve(gamma=gamma, curved=False), bloom=0.0)
    gain = 2.0 ** min(max(number("exposure_compensation"), -20.0), 20.0)
    fixed = attributes.text("exposure_mode") == "manual"
    if fixed:
        light = max(number("iso"), 1e-3) / _ISO
        light *= _SHUTTER_PER_S / max(number("shutter_speed"), 1e-3)
        light *= (_FSTOP / max(number("fstop"), 1e-3)) ** 2
        gain *= light
    warm = (max(number("temp"), 1000.0) / _TEMPERATURE_K) ** _WARMTH
    green = 2.0 ** (-0.5 * min(max(number("tint"), -4.0), 4.0))
    return Exposure(
        gain=(gain * warm, gain * green, gain / warm),
        fixed=fixed,
        film=FilmCurve(gamma, number("slope"), number("black_clip"), number("white_clip")),
        bloom=max(number("bloom_intensity"), 0.0) / _BLOOM,
        vignette=(max(number("lens_circle_multiplier"), 0.0), number("lens_circle_falloff")),
    )
