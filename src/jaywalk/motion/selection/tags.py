"""Tags: what a caption says is done, in a small vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jaywalk.motion.selection.lemmas import Token

#: Lemmas (also adverbs) that give each tag.
TAGS: Final[dict[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in {
        "walk": "walk step stroll wander amble march stride strut hike trudge saunter tiptoe pace "
        "shuffle plod lumber meander mosey sneak waddle",
        "run": "run jog sprint dash rush hurry trot gallop",
        "jump": "jump hop leap skip bounce hurdle jack vault",
        "turn": "turn pivot spin twirl rotate around twist veer curve revolve",
        "circle": "circle circular oval loop counterclockwise clockwise anticlockwise",
        "back": "backward backwards back return reverse retreat backpedal backtrack",
        "stop": "stop halt pause freeze standstill",
        "stand": "stand wait stay remain still idle",
        "gesture": "gesture wave point clap raise arm hand motion salute beckon shrug nod greet "
        "scratch reach signal conduct swing stretch shake finger elbow wrist play mime flap",
        "handle": "pick carry put place throw catch lift hold grab push pull toss pass pour drop "
        "wipe wash clean stir open close drink eat phone give take",
        "look": "look glance peer watch gaze stare peek search see",
        "crouch": "crouch squat kneel bend duck stoop bow lunge lean",
        "sit": "sit chair seat lie lay floor crawl",
        "fall": "fall trip stumble collapse tumble topple slip push shove",
        "stagger": "stagger limp sway drunk wobble hobble injure unsteady balance reel zigzag",
        "kick": "kick punch box fight karate spar strike hit jab",
        "dance": "dance waltz salsa ballet groove twirl boogie chicken",
        "climb": "climb stair ladder ascend descend hill ramp",
        "hesitate": "hesitate wait hesitant cautious cautiously decide",
    }.items()
}


def tags_of(captions: Sequence[Sequence[Token]]) -> tuple[str, ...]:
    """Tags of a clip, in the order of ``TAGS``; ``other`` if none fits."""
    lemmas = {token.lemma for tokens in captions for token in tokens}
    found = tuple(tag for tag, words in TAGS.items() if lemmas & words)
    return found or ("other",)
