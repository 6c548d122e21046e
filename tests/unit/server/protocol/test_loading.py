"""Loading of towns."""

from jaywalk.server.session._publisher import NoPublisher
from jaywalk.server.session._simulation import Simulation
from jaywalk.server.start import start_server
from jaywalk.town.town import load_town


def test_layers_are_chosen_when_an_opt_town_is_loaded():
    simulation = Simulation(load_town("Harbour"), NoPublisher())
    every = len(simulation.world.scenery.visible())
    simulation.load("Harbour", reset_settings=True, layers=0)
    assert len(simulation.world.scenery.visible()) == every
    simulation.load("Harbour_Opt", reset_settings=True, layers=0xFFFF)
    assert len(simulation.world.scenery.visible()) == every
    simulation.load("Harbour_Opt", reset_settings=True, layers=0xFFFF & ~1)
    assert 0 < len(simulation.world.scenery.visible()) < every


def test_a_server_starts_at_the_beginning_whatever_was_compiled():
    server = start_server(port=0)
    try:
        world = server.simulation.world
        assert world.time_s == 0.0
        assert world.last_id == len(world.actors)
        assert world.lights.controllers["elapsed"].max() == 0.0
    finally:
        server.close()
