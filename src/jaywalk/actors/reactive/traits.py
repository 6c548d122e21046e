"""Traits of reacting people, the parameters of the model, and the rows that its kernels share.

Sources: HIKER (gap acceptance in virtual reality, 60 people, 2,138 trials), DUT (walking speeds,
1,048 tracks), JAAD (601 looks, 686 groups), Pekkanen et al. 2021 (evidence accumulation), Zhao et
al. 2019 (gaps by crossing distance). Values without a source are our choice.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.core.seeds import derive_seed, stream

# Models of posed people: HABIT's protocol, road traffic, and negotiators as on a campus.
SCRIPTED, REACTIVE, CAMPUS_MODEL = "scripted", "reactive", "campus"
PEOPLE_MODELS: Final = (SCRIPTED, REACTIVE, CAMPUS_MODEL)
PEOPLE_VERSION: Final = 1  # of the models of reacting people; records name it

# Attention of a person.
ATTENTIVE, GLANCING, PHONE, OBLIVIOUS = 0, 1, 2, 3
# Age group of a person.
ADULT, CHILD, SENIOR = 0, 1, 2
# Relation of a person to the road.
OFF_ROAD, AT_KERB, ON_ROAD = 0, 1, 2
# Decision of a person; the numbers are written to records.
NONE, WANTS, WAITS, COMMITTED, YIELDS, HURRIES, STEPS_BACK, EVADES = range(8)
# Attention of the moment; the numbers are written to records.
UNAWARE, NOTICED, LOOKS, ON_PHONE = range(4)
# Order against a vehicle.
UNDECIDED, FIRST, AFTER = 0, 1, -1
# A person in a group: decides alone, waits for the leader's decision, or goes with the leader.
ALONE, HOLDS, GOES = 0, 1, 2

MEMORY: Final = 8  # vehicles that a person remembers
NEVER: Final = 1_000_000_000  # ticks ago

_SPEED_MEDIAN_MPS: Final = 1.31
_SPEED_SIGMA: Final = math.log(1.69 / 1.02) / (2.0 * 1.6449)  # 5 to 95 % in DUT: 1.02 to 1.69
SENIOR_SPEED: Final = 0.8
_CHILD_SPEED: Final = 0.95
_PATIENCE_S: Final = (18.0, 0.5)
_FIRST_LOOK_S: Final = (2.0, math.log(3.8 / 0.7) / (2.0 * 1.2816))


class ReactionSettings(NamedTuple):
    """Parameters of perception, decision and motion; times in s, lengths in m."""

    # 60 m would hide a car at 15.6 m/s until 3.9 s before it arrives, and every longer gap would be
    # accepted; HIKER has gaps of 5 s at that speed.
    sight_m: float = 100.0
    focus_rad: float = math.radians(30.0)
    periphery_rad: float = math.radians(110.0)
    growth_radps: float = 0.03  # growth of the visual angle that is noticed in the periphery
    notice_per_s: float = 2.0
    forget_s: float = 4.0
    startle_s: float = 1.0
    distance_noise: float = 0.06
    speed_noise: float = 0.10
    look_s: float = 0.97  # JAAD: median bout; 10 to 90 %: 0.37 to 2.7
    look_sigma: float = math.log(2.7 / 0.37) / (2.0 * 1.2816)
    pause_s: float = 1.0
    pause_sigma: float = math.log(3.0 / 0.4) / (2.0 * 1.2816)
    road_pause: float = 11.5  # factor on pauses while on the road: 8 % of the time is spent looking
    road_look: float = 0.5
    # Evidence accumulation.
    distance_weight: float = 0.752
    distance_speed_mps: float = 13.9
    braking_weight: float = 0.585
    yield_weight: float = 0.94
    drift_scale: float = 0.587
    drift_centre_s: float = 2.0
    leak: float = 1.844
    noise: float = (
        0.35  # noise, threshold and centre: fitted to HIKER with boldness drawn per person
    )
    threshold: float = 0.5
    far_per_m: float = 1.05  # of the required gap, per metre beyond 4 m to the far side of the lane
    near_enough_m: float = 4.0
    waiting_gain: float = 0.03
    waiting_most_s: float = 1.2
    crosswalk_s: float = 1.5
    crosswalk_braking_mps2: float = 2.0
    no_braking_s: float = 3.0
    senior_s: float = -0.8
    child_s: float = 0.4
    follows_s: float = 0.5
    follows_group_s: float = 1.5
    large_s: float = -0.5
    night_s: float = -0.3
    rain_s: float = 0.2
    tail_s: float = 0.3
    # On the road.
    road_advantage_s: float = 0.5  # time advantage that a person wants in order to go first
    crosswalk_advantage_s: float = -0.5
    boldness_advantage: float = 0.3
    hysteresis_s: float = 0.5
    sure_s: float = 0.6
    counts_on_mps2: float = 3.0
    # Velocity.
    horizon_s: float = 2.6
    lag_s: float = 0.4
    margin_m: float = 0.8
    turn_cost: float = 0.5
    slow_cost: float = 0.8
    change_cost: float = 0.25
    contact_cost: float = 6.0
    margin_cost: float = 1.5
    person_cost: float = 3.0
    person_margin_m: float = 0.35
    stop_s: float = 0.35  # delay of a stop in the middle of a step
    stop_mps2: float = 2.5
    last_gap_m: float = 0.35
    fastest: float = 1.25  # share of the wanted speed
    running: float = 2.2  # the same of people who may run
    speed_drift: float = 0.05  # slow fluctuation of the speed: its deviation and its time
    speed_drift_s: float = 1.5
    # The first steps on the road.
    back_m: float = 1.2  # people go back to the kerb from no farther than this
    hesitant: float = 0.2  # evidence below which they walk at half speed
    # Groups.
    follows_share: float = 0.8  # of the members who go with the leader
    follows_after_s: float = 0.4  # median delay, with a deviation of its logarithm
    follows_sigma: float = 0.5
    strangers_share: float = 0.25  # of people who follow somebody else's step onto the road
    # Factor on pauses off the road. With passing vehicles, which draw looks, people who do not
    # cross look for about as much of their time as in JAAD, 36 %.
    calm_pause: float = 2.0
    evades_s: float = 0.6  # length of an evasion
    evades_mps: float = 2.5
    stood_s: float = 0.5  # a driver who stands this long before somebody lets them go


CAMPUS: Final = ReactionSettings(road_advantage_s=-2.5, crosswalk_advantage_s=-2.5)
"""Negotiators as on the campus of DUT, who count on drivers."""

PRESETS: Final = {REACTIVE: ReactionSettings(), CAMPUS_MODEL: CAMPUS}
"""Parameters by the name of the people model."""


class AttentionShares(NamedTuple):
    """Shares of the kinds of attention; the rest is attentive."""

    glancing: float = 0.12
    phone: float = 0.06
    oblivious: float = 0.02


class Traits(NamedTuple):
    """Traits of people, one row each."""

    age: IntArray
    attention: IntArray
    free_mps: FloatArray  # wanted speed
    bold_s: FloatArray  # shift of every critical gap
    patience_s: FloatArray
    margin: FloatArray  # factor on the room that is kept to vehicles
    first_look_s: FloatArray  # before the expected step onto the road
    runs: BoolArray  # may run instead of hurrying
    group: IntArray  # row of the leader of the group; -1: walks alone


class Reactions(NamedTuple):
    """State of reacting people; one row each, (n,) unless noted."""

    # Set by the caller before each step.
    x: FloatArray
    y: FloatArray
    vx: FloatArray
    vy: FloatArray
    yaw: FloatArray  # of the body
    aim_x: FloatArray  # next point of the path
    aim_y: FloatArray
    left_m: FloatArray  # rest of the path across the road, or to the goal
    kerb_m: FloatArray  # to the road, along the path; inf: no crossing
    where: IntArray  # OFF_ROAD, AT_KERB or ON_ROAD
    painted: BoolArray
    may_go: BoolArray  # the pedestrian light allows it, or there is none
    active: BoolArray  # takes part in the model
    onto_m: FloatArray  # distance walked since the road began; inf: cannot go back
    haste: FloatArray  # factor on the free speed: to meet somebody, or to stay with the group
    leader: IntArray  # row of the person whose decision counts; -1 or the own row: nobody
    follow: IntArray  # ALONE, HOLDS or GOES
    goes_s: FloatArray  # time at which a member follows; inf: not yet known; -1: decides alone
    keeps_path: BoolArray  # the path itself leads around things that stand still
    to_x: (
        FloatArray  # point to walk to while the gap is judged for the way to the aim; NaN: the aim
    )
    to_y: FloatArray
    stays: BoolArray  # stands or acts on the spot: looks around and remembers, decides nothing
    near_side: FloatArray  # from where the traffic of the next lane comes: -1 left, 1 right
    lane: IntArray  # lanes whose border the person has reached, since the kerb
    looks_from: IntArray  # number of looks when the approach began
    bias: FloatArray  # added to the evidence at the first step onto the road
    # Perception.
    looking: BoolArray
    until_s: FloatArray  # end of the present look or pause
    looks: IntArray
    looked: BoolArray  # at the road, since the approach began
    looked_lane: IntArray  # last lane at whose border the person has looked
    gaze_rad: FloatArray  # relative to the body, positive to the right
    gaze_id: IntArray  # vehicle that is looked at, 0: none
    memory_id: IntArray  # (n, MEMORY); 0: empty
    memory: FloatArray  # (n, MEMORY, 10), as the rows of vehicles
    memory_s: FloatArray  # (n, MEMORY) time of the last sight
    stood_s: FloatArray  # (n, MEMORY) for how long the vehicle has been seen to stand
    order: IntArray  # (n, MEMORY) FIRST or AFTER
    belief: FloatArray  # (n, MEMORY, 10) remembered vehicles as they are believed to be now
    error: FloatArray  # (n, MEMORY, 2) factors on speed and distance, from the last look
    error_of: IntArray  # (n, MEMORY) look and vehicle that the errors belong to
    # Decision.
    evidence: FloatArray
    waited_s: FloatArray
    decision: IntArray
    gap_s: FloatArray  # perceived gap to the governing vehicle; inf: none
    gap_id: IntArray  # the governing vehicle; 0: none
    hesitates: BoolArray  # walks slowly because the gap is doubtful
    drift: FloatArray  # present fluctuation of the speed
    free: FloatArray  # free speed now
    was_on_road: BoolArray
    stepped_tick: IntArray  # of the last step onto the road
    joins_s: FloatArray  # time from which the person follows a stranger; inf: nobody
    # Velocity.
    wanted: FloatArray  # speed that the decision asks for
    share: FloatArray  # of the wanted speed, as chosen to avoid others
    turn: FloatArray  # from the direction of the path, as chosen to avoid others
    speed: FloatArray
    course: FloatArray
    evades_until_s: FloatArray  # end of the present evasion
    evades_course: FloatArray


def make_reactions(count: int) -> Reactions:
    """Return rows for ``count`` inactive people."""
    whole = {"where", "looks", "gaze_id", "memory_id", "order", "decision", "gap_id"}
    whole |= {"follow", "leader", "error_of", "lane", "looks_from", "looked_lane", "stepped_tick"}
    flags = {"painted", "may_go", "active", "looking", "looked", "keeps_path", "hesitates"}
    flags |= {"stays", "was_on_road"}
    wide = {
        "memory_id": (MEMORY,),
        "memory": (MEMORY, 10),
        "memory_s": (MEMORY,),
        "stood_s": (MEMORY,),
        "order": (MEMORY,),
        "belief": (MEMORY, 10),
        "error": (MEMORY, 2),
        "error_of": (MEMORY,),
    }
    rows: dict[str, Any] = {}
    for name in Reactions._fields:
        kind: Any = np.int64 if name in whole else np.bool_ if name in flags else np.float64
        rows[name] = np.zeros((count, *wide.get(name, ())), kind)
    rows["kerb_m"] += np.inf
    rows["gap_s"] += np.inf
    rows["onto_m"] += np.inf
    rows["error_of"] -= 1
    rows["leader"] -= 1
    rows["goes_s"] += np.inf
    rows["may_go"] |= True
    rows["keeps_path"] |= True
    rows["haste"] += 1.0
    rows["to_x"] += np.nan
    rows["to_y"] += np.nan
    rows["share"] += 1.0
    rows["near_side"] -= 1.0  # traffic keeps to the right
    rows["stepped_tick"] -= NEVER
    rows["joins_s"] += np.inf
    rows["evades_until_s"] -= np.inf
    return Reactions(**rows)


GROUP_SIZES: Final = ((0.46, 1), (0.33, 2), (0.13, 3), (0.08, 4))  # JAAD: shares of people


def draw_traits(
    seed: int,
    children: BoolArray,
    shares: AttentionShares,
    name: str = "habit",
    senior: float = 0.15,
) -> Traits:
    """Draw the traits of people from their own streams.

    Args:
        seed: Seed of the episode.
        children: (n,) which people are children.
        shares: Shares of the kinds of attention.
        name: Name of the component, so that posed people and the crowd have streams of their own.
        senior: Share of seniors among adults.
    """
    count = len(children)
    whole = {"age", "attention", "group"}
    rows: dict[str, Any] = {
        field: np.zeros(count, np.int64 if field in whole else np.float64)
        for field in Traits._fields
    }
    rows["runs"] = np.zeros(count, np.bool_)
    rows["group"] -= 1
    edges = np.cumsum([shares.oblivious, shares.phone, shares.glancing])
    for k in range(count):
        random = stream(seed, name, "traits", k)
        age_draw, attention_draw, run_draw = random.random(3)
        normal = random.standard_normal(5)
        child = bool(children[k])
        age = CHILD if child else SENIOR if age_draw < senior else ADULT
        factor = {ADULT: 1.0, CHILD: _CHILD_SPEED, SENIOR: SENIOR_SPEED}[age]
        rows["age"][k] = age
        kinds = (OBLIVIOUS, PHONE, GLANCING, ATTENTIVE)
        rows["attention"][k] = kinds[int(np.searchsorted(edges, attention_draw, side="right"))]
        rows["free_mps"][k] = _SPEED_MEDIAN_MPS * factor * math.exp(_SPEED_SIGMA * normal[0])
        rows["bold_s"][k] = 1.1 * normal[1]
        rows["patience_s"][k] = _PATIENCE_S[0] * math.exp(_PATIENCE_S[1] * normal[2])
        rows["margin"][k] = math.exp(0.3 * normal[3])
        rows["first_look_s"][k] = _FIRST_LOOK_S[0] * math.exp(_FIRST_LOOK_S[1] * normal[4])
        rows["runs"][k] = run_draw < (0.4 if child else 0.1)
    return Traits(**rows)


def noise_key(seed: int, name: str) -> int:
    """Key of the counter-based noise of one component; fits into 63 bits."""
    return derive_seed(seed, name, "reactions") >> 1
