"""Every command of README.md and of the cheat sheet is run, on less work, in an empty folder.

`LESS` says which words of a command are changed to save time, `NOT_RUN` which commands are left out
and why. Each page has a folder of its own; its commands run in the order of the page.
"""

import re
import shlex
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
_JAYWALK = [sys.executable, "-c", "from jaywalk.cli.main import main; main()"]

# Less of the same: pattern in a command, and what takes its place. The first match of each counts.
LESS = (
    (r"^jaywalk run smoke(?!.*--subset)", r"jaywalk run smoke --subset 12"),  # one short route
    (r"--subset \S+", "--subset 12"),
    (r"--seeds \S+", "--seeds 1"),
    (r"^(jaywalk predict eval .*)", r"\1 --resamples 100 --draws 20"),
    (r"^(python \S*evaluate_predictor.py .*)", r"\1 --people 10 --resamples 100"),
    (r"^(jaywalk realism rollout .*)", r"\1 --n 2"),
    (r" DATA ", " people.txt --in-sample "),  # PREPARE writes it
    (r"--mp4 (\S+)", r"--png \1.png"),  # a picture of the same scene
)
# Commands that are not run, by a pattern, and what runs them instead.
NOT_RUN = (
    (r"^python3.11 -m venv|^pip |^pipx |^uv |^docker ", "installs: tests/wheel_check.py"),
    (r"^jaywalk serve", "does not end: tests/conformance and tests/loading"),
    (r"author_scenario.py|benchmark_models.py", "minutes: tests/running/test_tutorials.py"),
    (r"scenario check", "drives twice: tests/running/test_scenario_check.py"),
    (r"--files cmu|habit", "needs CMU's files or a run of habit: tests/unit/motion, test_posed"),
    (r"--annotations JAAD", "needs JAAD: tests/unit/forecasting/behaviour"),
)
# What the text takes for granted, by page: commands that come first.
PREPARE = {
    "README.md": (),
    "docs/cheat_sheet.md": ("jaywalk run smoke --agent cruise --subset 12",),
}
# Commands that do not end with 0, by a pattern, and their documented exit codes.
CODES = (
    (
        r"predict export",
        3,
    ),  # route 12 has no people; test_next_commands exports others
)


@dataclass(frozen=True)
class Done:
    """A command that was run."""

    command: str
    code: int
    seconds: float
    said: str


def commands_of(page):
    """Commands of the shell blocks of a page and, in the cheat sheet, of its table."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M):
        for line in block.replace("\\\n", " ").splitlines():
            if line.strip():
                yield re.sub(r"\s#\s.*$", "", line).strip()
    if page.endswith("cheat_sheet.md"):
        for row in re.findall(r"^\| .* \|$", text, re.M):
            yield from re.findall(r"`((?:jaywalk|python) [^`]+)`", row)


def lessened(command):
    for pattern, less in LESS:
        command = re.sub(pattern, less, command, count=1)
    return command


def is_run(command):
    return not any(re.search(pattern, command) for pattern, _ in NOT_RUN)


def run(command, folder):
    words = shlex.split(command)
    head = _JAYWALK if words[0] == "jaywalk" else [sys.executable]
    began = time.monotonic()
    ended = subprocess.run(
        [*head, *words[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    return Done(command, ended.returncode, time.monotonic() - began, ended.stdout + ended.stderr)


def prepared(page, folder):
    """A folder with the files that the texts name, and the commands that come first."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    sys.path.insert(0, str(ROOT / "examples" / "tutorials"))
    try:
        from author_scenario import write_take
    finally:
        sys.path.pop(0)
    for place in ("takes", "tutorial-scenario/takes"):
        write_take(folder / place / "run 01.bvh")
    walks = [f"{10 * k} {who} {0.4 * k} {who}\n" for k in range(40) for who in range(4)]
    (folder / "people.txt").write_text("".join(walks))
    shutil.copy(ROOT / "examples/tutorials/slowing_predictor.py", folder / "mine.py")
    (folder / "my_run.toml").write_text('suite = "smoke"\nagent = "cruise"\nsubset = "12"\n')
    return PREPARE[page]


def follow(page, folder):
    """Run the commands of a page; those that come twice only once."""
    done = [run(command, folder) for command in prepared(page, folder)]
    commands = dict.fromkeys(map(lessened, filter(is_run, commands_of(page))))
    return [*done, *(run(command, folder) for command in commands)]


@pytest.mark.parametrize("page", PREPARE)
def test_every_command_is_run_or_left_out_for_a_reason(page):
    commands = list(commands_of(page))
    assert len(commands) > 20
    left_out = [one for one in commands if not is_run(one)]
    assert len(left_out) < len(commands) / 2
    for command in commands:
        assert command.split()[0] in ("jaywalk", "python") or not is_run(command), command


def test_every_exception_is_needed():
    every = [command for page in PREPARE for command in commands_of(page)]
    for pattern, _ in (*LESS, *NOT_RUN, *CODES):
        assert any(re.search(pattern, command) for command in every)


def test_the_commands_end_as_documented(tmp_path):
    folders = {page: tmp_path / Path(page).stem for page in PREPARE}
    with ThreadPoolExecutor(len(folders)) as pool:  # as many as CI has cores
        pages = list(pool.map(follow, folders, folders.values()))
    done = [one for page in pages for one in page]
    for one in done:
        print(f"{one.seconds:6.1f} s  {one.command}")
    for one in done:
        codes = [code for pattern, code in CODES if re.search(pattern, one.command)]
        assert one.code == (codes[0] if codes else 0), f"{one.command}\n{one.said[-3000:]}"
