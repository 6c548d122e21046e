"""Every sensor blueprint of CARLA 0.9.16: attributes, their types, defaults and choices.

The default of an attribute is its first recommended value, as in the real library.

Attribute values of one sensor as numbers, with the catalogue's defaults filled in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from jaywalk.core.errors import RegistryError, UsageError
from jaywalk.server.world.blueprint_types import AttributeType


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorAttribute:
    """One attribute of a sensor blueprint."""

    id: str
    type: AttributeType
    recommended: tuple[str, ...]
    restricted: bool = False  # only recommended values are allowed

    @property
    def default(self) -> str:
        """The value a fresh blueprint carries."""
        return self.recommended[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorBlueprint:
    """One sensor type: id, attributes in library order, and which clients know it."""

    id: str
    attributes: tuple[SensorAttribute, ...]
    only_0916: bool = False  # unknown to 0.9.15 clients: leave it out of their library

    @property
    def tags(self) -> str:
        """The id split at its dots, joined with commas."""
        return self.id.replace(".", ",")


def _floats(**defaults: str) -> tuple[SensorAttribute, ...]:
    return tuple(
        SensorAttribute(id=name, type=AttributeType.FLOAT, recommended=(value,))
        for name, value in defaults.items()
    )


def _int(name: str, default: str) -> SensorAttribute:
    return SensorAttribute(id=name, type=AttributeType.INT, recommended=(default,))


def _bool(name: str, default: str) -> SensorAttribute:
    return SensorAttribute(id=name, type=AttributeType.BOOL, recommended=(default,))


def _choice(name: str, *values: str) -> SensorAttribute:
    return SensorAttribute(id=name, type=AttributeType.STRING, recommended=values, restricted=True)


def _common(*roles: str) -> tuple[SensorAttribute, ...]:
    """What every blueprint of the library starts with."""
    return (
        SensorAttribute(id="role_name", type=AttributeType.STRING, recommended=roles),
        SensorAttribute(id="ros_name", type=AttributeType.STRING, recommended=("",)),
        SensorAttribute(id="ros_frame_id", type=AttributeType.STRING, recommended=("",)),
        _bool("ros_publish_tf", "true"),
    )


_PLACES: Final = (
    "front",
    "back",
    "left",
    "right",
    "front_left",
    "front_right",
    "back_left",
    "back_right",
)
_PLACED: Final = _common(*_PLACES)
_UNPLACED: Final = _common("default")
_TICK: Final = _floats(sensor_tick="0.0")
_SEED: Final = (_int("noise_seed", "0"),)

_LENS: Final = (
    _int("image_size_x", "800"),
    _int("image_size_y", "600"),
    *_floats(
        fov="90.0",
        lens_circle_falloff="5.0",
        lens_circle_multiplier="0.0",
        lens_k="-1.0",
        lens_kcube="0.0",
        lens_x_size="0.08",
        lens_y_size="0.08",
    ),
)
_EXPOSURE: Final = (
    _choice("exposure_mode", "histogram", "manual"),
    *_floats(exposure_compensation="0.0", shutter_speed="200.0", iso="100.0", fstop="1.4"),
    _bool("enable_postprocess_effects", "true"),
    *_floats(
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
    _int("blade_count", "5"),
    *_floats(
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
_EVENTS: Final = (
    *_floats(
        positive_threshold="0.3",
        negative_threshold="0.3",
        sigma_positive_threshold="0.0",
        sigma_negative_threshold="0.0",
    ),
    _int("refractory_period_ns", "0"),
    _bool("use_log", "true"),
    *_floats(log_eps="0.001"),
)
_SCAN: Final = (
    _int("channels", "32"),
    *_floats(range="10.0"),
    _int("points_per_second", "56000"),
    *_floats(rotation_frequency="10.0", upper_fov="10.0", lower_fov="-30.0"),
)
_SCAN_WIDTH: Final = _floats(horizontal_fov="360.0")
_SCAN_LOSSES: Final = (
    *_floats(atmosphere_attenuation_rate="0.004"),
    *_SEED,
    *_floats(
        dropoff_general_rate="0.45",
        dropoff_intensity_limit="0.8",
        dropoff_zero_intensity="0.4",
        noise_stddev="0.0",
    ),
)
_BODY_NOISE: Final = _floats(
    noise_accel_stddev_x="0.0",
    noise_accel_stddev_y="0.0",
    noise_accel_stddev_z="0.0",
    noise_gyro_stddev_x="0.0",
    noise_gyro_stddev_y="0.0",
    noise_gyro_stddev_z="0.0",
    noise_gyro_bias_x="0.0",
    noise_gyro_bias_y="0.0",
    noise_gyro_bias_z="0.0",
)
_PLACE_NOISE: Final = _floats(
    noise_lat_stddev="0.0",
    noise_lat_bias="0.0",
    noise_lon_stddev="0.0",
    noise_lon_bias="0.0",
    noise_alt_stddev="0.0",
    noise_alt_bias="0.0",
)
_RADIO: Final = (
    *_floats(
        transmit_power="21.5",
        receiver_sensitivity="-99.0",
        frequency_ghz="5.9",
        combined_antenna_gain="10.0",
    ),
    _choice("scenario", "highway", "rural", "urban"),
    *_floats(path_loss_exponent="2.7", d_ref="1.0", filter_distance="500.0"),
    _bool("use_etsi_fading", "true"),
    *_floats(custom_fading_stddev="0.0"),
    _choice("path_loss_model", "winner", "geometric"),
)
_RADIO_MESSAGES: Final = (
    *_floats(gen_cam_min="0.1", gen_cam_max="1.0"),
    _bool("fixed_rate", "false"),
    *_PLACE_NOISE,
    *_floats(
        noise_head_stddev="0.0",
        noise_head_bias="0.0",
        noise_accel_stddev_x="0.0",
        noise_accel_stddev_y="0.0",
        noise_accel_stddev_z="0.0",
        noise_yawrate_stddev="0.0",
        noise_yawrate_bias="0.0",
        noise_vel_stddev_x="0.0",
    ),
)


def _sensor(
    type_id: str, *groups: tuple[SensorAttribute, ...], only_0916: bool = False
) -> SensorBlueprint:
    return SensorBlueprint(
        id=f"sensor.{type_id}", attributes=sum(groups, start=()), only_0916=only_0916
    )


SENSORS: Final = (
    _sensor("camera.rgb", _PLACED, _TICK, _LENS, _EXPOSURE),
    _sensor("camera.depth", _PLACED, _TICK, _LENS),
    _sensor("camera.semantic_segmentation", _PLACED, _TICK, _LENS),
    _sensor("camera.instance_segmentation", _PLACED, _TICK, _LENS),
    _sensor("camera.normals", _PLACED, _TICK, _LENS),
    _sensor("camera.optical_flow", _PLACED, _TICK, _LENS),
    _sensor("camera.dvs", _PLACED, _TICK, _LENS, _EXPOSURE, _EVENTS),
    _sensor("camera.cosmos_visualization", _PLACED, _TICK, _LENS, only_0916=True),
    _sensor("lidar.ray_cast", _PLACED, _TICK, _SCAN, _SCAN_LOSSES, _SCAN_WIDTH),
    _sensor("lidar.ray_cast_semantic", _PLACED, _TICK, _SCAN, _SCAN_WIDTH),
    _sensor(
        "other.radar",
        _UNPLACED,
        _TICK,
        _floats(horizontal_fov="30", vertical_fov="30", range="100"),
        (_int("points_per_second", "1500"),),
        _SEED,
    ),
    _sensor("other.imu", _UNPLACED, _TICK, _SEED, _BODY_NOISE),
    _sensor("other.gnss", _UNPLACED, _TICK, _SEED, _PLACE_NOISE),
    _sensor(
        "other.obstacle",
        _PLACED,
        _TICK,
        _floats(distance="5.0", hit_radius="0.5"),
        (_bool("only_dynamics", "false"), _bool("debug_linetrace", "false")),
    ),
    _sensor("other.collision", _PLACED),
    _sensor("other.lane_invasion", _PLACED),
    _sensor("other.rss", _PLACED),
    _sensor("other.v2x", _UNPLACED, _TICK, _SEED, _RADIO, _RADIO_MESSAGES, only_0916=True),
    _sensor("other.v2x_custom", _UNPLACED, _TICK, _SEED, _RADIO, only_0916=True),
)

_BY_ID: Final = {blueprint.id: blueprint for blueprint in SENSORS}


def sensor_blueprint(type_id: str) -> SensorBlueprint:
    """Return the blueprint called ``type_id``."""
    try:
        return _BY_ID[type_id]
    except KeyError:
        known = ", ".join(sorted(_BY_ID))
        raise RegistryError(f"Unknown sensor '{type_id}'. Known: {known}.") from None


class Attributes:
    """What a client set on a blueprint; values arrive as strings, integers often as "64.0"."""

    def __init__(self, type_id: str, values: Mapping[str, str]) -> None:
        self.type_id = type_id
        defaults = {item.id: item.default for item in sensor_blueprint(type_id).attributes}
        self._values = {**defaults, **values}

    def has(self, name: str) -> bool:
        """True if the sensor has an attribute of this name."""
        return name in self._values

    def number(self, name: str, least: float = -math.inf, most: float = math.inf) -> float:
        """A finite number between ``least`` and ``most``; anything else is an error."""
        text = self._values[name]
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most or math.isinf(value):
            raise UsageError(
                f"{self.type_id}: attribute {name}='{text}' must be a number"
                f" between {least} and {most}."
            )
        return value

    def integer(self, name: str, least: int, most: int) -> int:
        """A whole number; a fractional part is cut off, as the real simulator does."""
        return int(self.number(name, least, most))

    def flag(self, name: str) -> bool:
        """True for "true", "1", "yes" and "on", in any case."""
        return self._values[name].strip().lower() in ("true", "1", "yes", "on")
