"""Names of the record's columns; the unit is part of the name.

Frame of all positions: CARLA's, left-handed, x east of its origin, y to the right, z up, in metres
and degrees, exactly as the client reports them. ``jaywalk.geometry.frames`` converts them.
"""

from __future__ import annotations

from typing import Final

TICK: Final = "tick"
TIME_S: Final = "time_s"
DELTA_S: Final = "delta_s"

ACTOR: Final = "actor"
SERVER_ID: Final = "server_id"
KIND: Final = "kind"
TYPE_ID: Final = "type_id"
ROLE_NAME: Final = "role_name"
PARENT: Final = "parent"
FIRST_TICK: Final = "first_tick"
LAST_TICK: Final = "last_tick"
ATTRIBUTES: Final = "attributes_json"
SEMANTIC_TAGS: Final = "semantic_tags"

X_M: Final = "x_m"
Y_M: Final = "y_m"
Z_M: Final = "z_m"
PITCH_DEG: Final = "pitch_deg"
YAW_DEG: Final = "yaw_deg"
ROLL_DEG: Final = "roll_deg"
VX_MPS: Final = "vx_mps"
VY_MPS: Final = "vy_mps"
VZ_MPS: Final = "vz_mps"
WX_DPS: Final = "wx_dps"
WY_DPS: Final = "wy_dps"
WZ_DPS: Final = "wz_dps"
AX_MPS2: Final = "ax_mps2"
AY_MPS2: Final = "ay_mps2"
AZ_MPS2: Final = "az_mps2"

HALF_X_M: Final = "half_x_m"
HALF_Y_M: Final = "half_y_m"
HALF_Z_M: Final = "half_z_m"
OFFSET_X_M: Final = "offset_x_m"
OFFSET_Y_M: Final = "offset_y_m"
OFFSET_Z_M: Final = "offset_z_m"
BOX_PITCH_DEG: Final = "box_pitch_deg"
BOX_YAW_DEG: Final = "box_yaw_deg"
BOX_ROLL_DEG: Final = "box_roll_deg"
MOUNT_X_M: Final = "mount_x_m"
MOUNT_Y_M: Final = "mount_y_m"
MOUNT_Z_M: Final = "mount_z_m"
MOUNT_PITCH_DEG: Final = "mount_pitch_deg"
MOUNT_YAW_DEG: Final = "mount_yaw_deg"
MOUNT_ROLL_DEG: Final = "mount_roll_deg"
MASS_KG: Final = "mass_kg"
FRONT_AXLE_X_M: Final = "front_axle_x_m"
REAR_AXLE_X_M: Final = "rear_axle_x_m"
MAX_STEER_DEG: Final = "max_steer_deg"
RIG: Final = "rig"
CLIP: Final = "clip"
SCALE: Final = "scale"
INTENDED_CLASS: Final = "intended_class"

THROTTLE: Final = "throttle"
STEER: Final = "steer"
BRAKE: Final = "brake"
HAND_BRAKE: Final = "hand_brake"
REVERSE: Final = "reverse"
MANUAL_GEAR: Final = "manual_gear"
GEAR: Final = "gear"
LAMPS: Final = "lamps"
SPEED_LIMIT_KMH: Final = "speed_limit_kmh"
AT_LIGHT: Final = "at_light"
LIGHT_STATE: Final = "light_state"
WALK_X: Final = "walk_x"
WALK_Y: Final = "walk_y"
WALK_Z: Final = "walk_z"
WALK_SPEED_MPS: Final = "walk_speed_mps"
JUMP: Final = "jump"
CLIP_PHASE: Final = "clip_phase"
CLIP_BLEND: Final = "clip_blend"
GAZE_YAW_DEG: Final = "gaze_yaw_deg"
GAZE_PITCH_DEG: Final = "gaze_pitch_deg"
GAZE_ACTOR: Final = "gaze_actor"
ATTENTION: Final = "attention"
DECISION: Final = "decision"
EVIDENCE: Final = "evidence"
PERCEIVED_GAP_S: Final = "perceived_gap_s"
PERCEIVED_ACTOR: Final = "perceived_actor"
PEOPLE_GROUP: Final = "group"

INDEX: Final = "index"
ROAD_OPTION: Final = "road_option"
ROAD_ID: Final = "road_id"
SECTION_ID: Final = "section_id"
LANE_ID: Final = "lane_id"
S_M: Final = "s_m"
LANE_WIDTH_M: Final = "lane_width_m"
IS_JUNCTION: Final = "is_junction"

OPENDRIVE_ID: Final = "opendrive_id"
POLE_INDEX: Final = "pole_index"
GROUP: Final = "group_actors"
TRIGGER_X_M: Final = "trigger_x_m"
TRIGGER_Y_M: Final = "trigger_y_m"
TRIGGER_Z_M: Final = "trigger_z_m"
TRIGGER_HALF_X_M: Final = "trigger_half_x_m"
TRIGGER_HALF_Y_M: Final = "trigger_half_y_m"
TRIGGER_HALF_Z_M: Final = "trigger_half_z_m"
TRIGGER_PITCH_DEG: Final = "trigger_pitch_deg"
TRIGGER_YAW_DEG: Final = "trigger_yaw_deg"
TRIGGER_ROLL_DEG: Final = "trigger_roll_deg"
STOP_WAYPOINTS: Final = "stop_waypoints"
AFFECTED_WAYPOINTS: Final = "affected_waypoints"

STATE: Final = "state"
ELAPSED_S: Final = "elapsed_s"
FROZEN: Final = "frozen"
GREEN_S: Final = "green_s"
YELLOW_S: Final = "yellow_s"
RED_S: Final = "red_s"

COMMAND: Final = "command"
COMMAND_THROTTLE: Final = "command_throttle"
COMMAND_STEER: Final = "command_steer"
COMMAND_BRAKE: Final = "command_brake"
ROUTE_INDEX: Final = "route_index"
PATH_X_M: Final = "path_x_m"
PATH_Y_M: Final = "path_y_m"
PATH_TIME_S: Final = "path_time_s"

EVENT: Final = "event"
END_TICK: Final = "end_tick"
SOURCE: Final = "source"
NAME: Final = "name"
OTHER: Final = "other"
OTHER_TYPE_ID: Final = "other_type_id"
SPEED_MPS: Final = "speed_mps"
OTHER_SPEED_MPS: Final = "other_speed_mps"
CLOSING_MPS: Final = "closing_mps"
IMPULSE_NS: Final = "impulse_ns"
NORMAL_X: Final = "normal_x"
NORMAL_Y: Final = "normal_y"
DETAIL: Final = "detail_json"

FRAME: Final = "frame"
MODE: Final = "mode"
WEIGHT: Final = "weight"
VAR_XX_M2: Final = "var_xx_m2"
VAR_XY_M2: Final = "var_xy_m2"
VAR_YY_M2: Final = "var_yy_m2"
TOPIC: Final = "topic"

# In CARLA's own words and order; percent, degrees, metres and scales as CARLA defines them.
WEATHER_FIELDS: Final = (
    "cloudiness",
    "precipitation",
    "precipitation_deposits",
    "wind_intensity",
    "sun_azimuth_angle",
    "sun_altitude_angle",
    "fog_density",
    "fog_distance",
    "fog_falloff",
    "wetness",
    "scattering_intensity",
    "mie_scattering_scale",
    "rayleigh_scattering_scale",
    "dust_storm",
)
