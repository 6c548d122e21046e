"""Author a scenario with motion capture of your own: from a BVH file to a report.

python examples/tutorials/author_scenario.py --out /tmp/scenario
python examples/tutorials/author_scenario.py --bvh my-takes --clip run-01 --out /tmp/scenario

Without ``--bvh`` the script writes a made-up take of a running child, 1.2 m tall.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path

FRAMES, RATE_HZ, SPEED_CMPS = 240, 60.0, 260.0
# Joint: parent, offset in centimetres (x left, y up, z forward).
BONES = {
    "Hips": ("", (0, 0, 0)),
    "Spine": ("Hips", (0, 9, 0)),
    "Chest": ("Spine", (0, 13, 0)),
    "Neck": ("Chest", (0, 12, 0)),
    "Head": ("Neck", (0, 7, 1)),
}
for side, sign in (("Left", 1), ("Right", -1)):
    BONES |= {
        f"{side}Shoulder": ("Chest", (sign * 4, 9, 0)),
        f"{side}Arm": (f"{side}Shoulder", (sign * 8, 0, 0)),
        f"{side}ForeArm": (f"{side}Arm", (sign * 18, 0, 0)),
        f"{side}Hand": (f"{side}ForeArm", (sign * 16, 0, 0)),
        f"{side}UpLeg": ("Hips", (sign * 6, -3, 0)),
        f"{side}Leg": (f"{side}UpLeg", (0, -27, 0)),
        f"{side}Foot": (f"{side}Leg", (0, -27, 0)),
        f"{side}ToeBase": (f"{side}Foot", (0, -4, 9)),
    }


def angles_deg(joint: str, phase: float) -> tuple[float, float, float]:
    """Rotations about z, x and y of a joint at a phase of the run, 0 to 1."""
    side = 1.0 if joint.startswith("Left") else -1.0
    swing = math.sin(2.0 * math.pi * (phase + (0.0 if side > 0 else 0.5)))
    lift = math.cos(2.0 * math.pi * (phase + (0.0 if side > 0 else 0.5)))
    if joint.endswith("UpLeg"):
        return 0.0, -12.0 - 38.0 * swing, 0.0
    if joint.endswith("Leg"):
        return 0.0, 30.0 + 55.0 * max(lift, 0.0), 0.0
    if joint.endswith("Foot"):
        return 0.0, -12.0, 0.0
    if joint.endswith("ForeArm"):
        return 0.0, 0.0, -side * 80.0
    if joint.endswith("Arm"):
        return -side * 72.0, 35.0 * swing, 0.0
    return (0.0, 8.0, 0.0) if joint == "Spine" else (0.0, 0.0, 0.0)


def hierarchy(joint: str) -> str:
    """The part of a BVH file that describes a joint and those below it."""
    parent, (x, y, z) = BONES[joint]
    below = "".join(hierarchy(one) for one, (above, _) in BONES.items() if above == joint)
    below = below or "End Site\n{\nOFFSET 0 0 4\n}\n"
    moves = "" if parent else "Xposition Yposition Zposition "
    channels = f"CHANNELS {3 if parent else 6} {moves}Zrotation Xrotation Yrotation"
    word = "JOINT" if parent else "ROOT"
    return f"{word} {joint}\n{{\nOFFSET {x} {y} {z}\n{channels}\n{below}}}\n"


def order(joint: str) -> list[str]:
    """A joint and those below it, in the order of the file."""
    below = [one for one, (above, _) in BONES.items() if above == joint]
    return [joint, *(name for one in below for name in order(one))]


def write_take(path: Path) -> None:
    """Write a take of a child who runs straight on."""
    lines = []
    for frame in range(FRAMES):
        seconds = frame / RATE_HZ
        phase = 1.5 * seconds
        row = [0.0, 57.0 + 2.0 * math.cos(4.0 * math.pi * phase), SPEED_CMPS * seconds]
        for joint in order("Hips"):
            row += angles_deg(joint, phase)
        lines.append(" ".join(f"{value:.4f}" for value in row))
    head = f"HIERARCHY\n{hierarchy('Hips')}MOTION\nFrames: {FRAMES}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{head}Frame Time: {1.0 / RATE_HZ:.7f}\n" + "\n".join(lines) + "\n")


def jaywalk(*words: object) -> str:
    """Run a command of Jaywalk, as ``jaywalk WORDS`` in a shell, and return what it prints."""
    command = [sys.executable, "-m", "jaywalk", *map(str, words)]
    print("jaywalk", *words, flush=True)  # noqa: T201
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def main() -> None:
    """Build a library, write a scenario with its clip, check it, run it and report."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=Path("tutorial-scenario"))
    options.add_argument("--bvh", type=Path, help="your own file or folder of BVH files")
    options.add_argument("--clip", default="run-01", help="name of the file without its suffix")
    options.add_argument("--agent", default="blind")
    given = options.parse_args()
    takes, library = given.bvh or given.out / "takes", given.out / "mychild"
    if given.bvh is None:
        write_take(takes / "run 01.bvh")
    jaywalk("motion", "build", "--bvh", takes, "--out", library, "--licence", "own", "--yes")
    scenario, clip = given.out / "ball.toml", f"params.clip={library}/{given.clip}"
    words = ("--type", "child-after-ball", "--town", "Harbour", "--set", clip, "--force")
    jaywalk("scenario", "new", "ball", *words, "--out", scenario)
    found = json.loads(
        jaywalk("scenario", "check", scenario, "--out", given.out / "check", "--json")
    )
    run = given.out / "run"
    jaywalk("run", scenario, "--agent", given.agent, "--out", run)
    scores = json.loads(jaywalk("score", run, "--json"))
    jaywalk("report", run, "-o", given.out / "report.html")
    result = {"solvable": found["solvable"], "metrics": scores["metrics"]}
    (given.out / "result.json").write_text(json.dumps(result, indent=1))
    print(f"solvable by expert: {found['solvable']}; see {given.out / 'report.html'}")  # noqa: T201


if __name__ == "__main__":
    main()
