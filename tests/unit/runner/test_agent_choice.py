"""Arguments of agents from options and files."""

import json

import pytest

from jaywalk.core.errors import RegistryError, UsageError
from jaywalk.runner.agent_choice import PerceptionLevel, agent_specs


def test_perception_is_always_written_down():
    assert [spec.arguments for spec in agent_specs("expert,blind")] == [{"perception": "full"}] * 2
    (spec,) = agent_specs("expert", perception=PerceptionLevel.limited)
    assert spec.arguments == {"perception": "limited"}


def test_the_predictor_goes_to_who_uses_one():
    expert, careful = agent_specs("expert,comfort-zone", predictor="kalman")
    assert expert.arguments == {"perception": "full"}
    assert careful.arguments == {"perception": "full", "predictor": "kalman-v1"}
    (plain,) = agent_specs("comfort-zone")
    assert plain.arguments["predictor"] == "constant-velocity-v1"


def test_options_win_over_the_file(tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"perception": "limited", "thresholds": [0.1, 0.2, 0.3]}))
    (spec,) = agent_specs("comfort-zone", path, predictor="social-force-v1")
    assert spec.arguments == {
        "perception": "limited",
        "predictor": "social-force-v1",
        "thresholds": [0.1, 0.2, 0.3],
    }
    (spec,) = agent_specs("comfort-zone", path, PerceptionLevel.full)
    assert spec.arguments["perception"] == "full"


def test_a_file_gets_its_config_as_a_path(tmp_path):
    agent, config = tmp_path / "a.py", tmp_path / "c.yaml"
    agent.write_text("")
    config.write_text("")
    (spec,) = agent_specs(str(agent), config)
    assert spec.arguments == {"config": str(config)}


@pytest.mark.parametrize(
    ("names", "options", "error", "said"),
    [
        (",", {}, UsageError, "expected a name, a file or ws://HOST:PORT"),
        ("nobody", {}, RegistryError, "Unknown agent"),
        ("expert", {"predictor": "kalman"}, UsageError, "comfort-zone does"),
        ("comfort-zone", {"predictor": "kalmann"}, RegistryError, "Did you mean 'kalman-v1'"),
        ("comfort-zone", {"predictor": "cvae"}, UsageError, "needs a trained model"),
        (
            "comfort-zone",
            {"predictor": "cvae=no.onnx"},
            UsageError,
            "the file 'no.onnx' does not exist",
        ),
        ("ws://here:1", {"perception": PerceptionLevel.limited}, UsageError, "sensors of its own"),
    ],
)
def test_what_does_not_fit_is_refused(names, options, error, said):
    with pytest.raises(error, match=said):
        agent_specs(names, **options)


def test_unknown_arguments_are_refused(tmp_path):
    path = tmp_path / "c.json"
    path.write_text('{"percepton": "full"}')
    with pytest.raises(UsageError, match="'percepton', which expert does not take"):
        agent_specs("expert", path)
    path.write_text('{"perception": "half"}')
    with pytest.raises(UsageError, match="expected full or limited"):
        agent_specs("expert", path)
