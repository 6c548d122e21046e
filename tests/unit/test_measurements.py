"""Measurement files of the docs name the code that was measured; benches are converted to them."""

import importlib.util
import json
import re
import sys
from pathlib import Path

from jaywalk.core.source_digest import sources_digest

ROOT = Path(__file__).parents[2]
# Measured up to 2026-11-19, when a digest was not asked for. Remove one that is measured again;
# every other file has the digest of the sources that were measured.
OLDER = """
acceptance-28093 acceptance-endurance acceptance-older-client acceptance-rungs
baselines-cost behaviour-cost behaviour-data behaviour-jaad behaviour-released behaviour-sim
criteria-evaluator criteria-export drivers-comfort-zone drivers-cost drivers-public-agents-2
drivers-public-agents drivers-random drivers-smoke-held-out fail2drive-cost fail2drive-pairs
fail2drive-second-opinion gym-speed habit-cmu habit-cost habit-crossers habit-determinism
habit-quality habit-town10 intervals motion-classes motion-cmu motion-everyday motion-judged
motion-model motion-playing motion-rigs motion-selection motion-video-real motion-video
people-crowd people-fit people-validation prediction-angles prediction-eth prediction-gaps
prediction-map prediction-network prediction-speed realism-checks realism-crossers
realism-exactness realism-people realism-run record-size remote_agents-loop report-size
safety-sensitivity safety-time scoring-bench2drive scoring-fail2drive server-determinism
server-loads server-speed toolbox-partners
"""
WITHOUT_CODE = set(OLDER.split())


def tool(name):
    """A script of ``tools`` as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tools/{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


docs_tables = tool("docs_tables")
sensor_measurement = tool("sensor_measurement")
read_measurement = docs_tables.read_measurement


def test_measurements_name_the_code_that_was_measured():
    files = sorted((ROOT / "docs/measurements").glob("*.json"))
    codes = {path.stem: read_measurement(path).get("code") for path in files}
    assert {name for name, code in codes.items() if not code} <= WITHOUT_CODE
    assert set(codes) >= WITHOUT_CODE  # none of the exceptions is out of date
    named = [code for code in codes.values() if code]
    assert all(re.fullmatch(r"[0-9a-f]{12}|[0-9a-f]{64}", code) for code in named)


def test_a_bench_of_sensors_becomes_a_measurement(tmp_path, capsys):
    rig = {"name": "RGB 1024x512", "server_cpu_ms_per_tick": 50.0, "sensor_cpu_ms_per_tick": 49.0}
    bench = {
        "rigs": [
            rig | {"name": "no sensor", "cores": 1, "ticks_per_s": 900.0},
            rig | {"cores": 1, "ticks_per_s": 15.04},
            rig | {"cores": 2, "ticks_per_s": 28.0},
            rig | {"name": "radar", "cores": 2, "ticks_per_s": 200.0},
        ],
        "aims": {"RGB 1024x512": {"at_least": 60.0, "measured": 28.0, "met": False}},
        "rss_mb": 530.4,
        "memory_aim": {"at_most": 1200.0, "measured": 530.4, "met": True},
        "calibration_ms": 18.51,
        "calibration_after_ms": 19.8,
    }
    (tmp_path / "bench.json").write_text(json.dumps(bench))
    out = tmp_path / "sensors-cost.json"
    asked = [str(tmp_path / "bench.json"), "--commit", "1234567", "--date", "2026-11-20"]
    assert sensor_measurement.main([*asked, "--out", str(out)]) == 0
    assert "sensors-cost.json written" in capsys.readouterr().out
    facts = read_measurement(out)
    assert facts["code"] == sources_digest()
    assert facts["rows"] == [
        ["RGB 1024x512", "50", "50", "15.0", "28.0", "60"],
        ["radar", "-", "50", "-", "200.0", ""],
    ]
    assert facts["values"]["most-one"] == "40"
    assert facts["values"]["memory"] == "530 MB"
    text = docs_tables.render("measurement-sensors-cost", [], tmp_path)
    assert "| RGB 1024x512 | 50 | 50 | 15.0 | 28.0 | 60 |" in text


def test_the_published_sensor_costs_have_the_form_of_the_bench():
    facts = read_measurement(ROOT / "docs/measurements/sensors-cost.json")
    assert facts["columns"] == list(sensor_measurement.COLUMNS)
    assert set(facts["values"]) >= {"memory", "memory-aim", "most-one", "most-six-large"}
