"""Registries: names, discovery by package, plug-ins of other distributions."""

import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from jaywalk.core import registry as module
from jaywalk.core.errors import RegistryError
from jaywalk.core.registry import Registry, Spec, load_plugins
from jaywalk.core.text import suggestion


class First:
    pass


class Second:
    pass


@pytest.fixture
def no_plugins(monkeypatch):
    monkeypatch.setattr(module, "load_plugins", lambda: ())


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Write a package into a folder of the search path."""

    def write(name, **modules):
        folder = tmp_path / name
        folder.mkdir()
        for key, text in {"__init__": "", **modules}.items():
            (folder / f"{key}.py").write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path))
        for key in [k for k in sys.modules if k.split(".")[0] == name]:
            monkeypatch.delitem(sys.modules, key)
        return name

    return write


@pytest.fixture
def entry_points(monkeypatch):
    """Pretend that distributions declare these entry points."""

    def declare(**modules):
        entries = [EntryPoint(name=k, value=v, group="jaywalk") for k, v in modules.items()]
        monkeypatch.setattr(module, "entry_points", lambda group: entries)
        load_plugins.cache_clear()

    yield declare
    load_plugins.cache_clear()


def things(*names):
    registry = Registry("thing")
    for name in names:
        registry.register(Spec(name=name, summary=f"the {name}", target=First))
    return registry


def test_lists_are_sorted_by_name(no_plugins):
    registry = things("b", "a", "c")
    assert [spec.name for spec in registry] == ["a", "b", "c"]
    assert len(registry) == 3
    assert "a" in registry
    assert "d" not in registry


def test_ids_carry_the_version():
    assert Spec(name="expert", summary="", version=3).id == "expert-v3"
    assert Spec(name="kalman-v1", summary="").id == "kalman-v1"


def test_load_returns_the_object_or_imports_it():
    assert Spec(name="a", summary="", target=First).load() is First
    assert Spec(name="a", summary="", target="collections:OrderedDict").load().__name__ == (
        "OrderedDict"
    )


def test_a_taken_name_names_both_modules():
    registry = things("a")
    registry.register(Spec(name="a", summary="again", target=First))  # the same object
    with pytest.raises(RegistryError, match=r"'a' is registered twice: by .*test_registry and by"):
        registry.register(Spec(name="a", summary="", target=Second))
    with pytest.raises(RegistryError, match=r"by .*test_registry and by other\.place"):
        registry.register(Spec(name="a", summary="", target="other.place:Thing"))


def test_an_unknown_name_suggests_the_nearest(no_plugins):
    with pytest.raises(RegistryError, match=r"Unknown thing 'expret'\. Did you mean 'expert'\?"):
        things("expert", "blind").get("expret")
    with pytest.raises(RegistryError, match=r"Unknown thing 'zzz'\. Known: blind, expert\."):
        things("expert", "blind").get("zzz")
    with pytest.raises(RegistryError, match="Known: none"):
        things().get("a")


def test_facts_of_a_kind_are_part_of_its_spec():
    @dataclass(frozen=True, slots=True, kw_only=True)
    class WheelSpec(Spec):
        spokes: int

        def facts(self):
            return {"spokes": self.spokes}

    assert WheelSpec(name="a", summary="", spokes=5).facts() == {"spokes": 5}
    assert Spec(name="a", summary="").facts() == {}


def test_modules_of_its_packages_are_imported_on_first_use(no_plugins, package, monkeypatch):
    text = "from registry_of_things import THINGS\nfrom jaywalk.core.registry import Spec\n"
    text += "THINGS.register(Spec(name=__name__, summary='', target=object))\n"
    holder = ModuleType("registry_of_things")
    holder.THINGS = Registry("thing", packages=(package("found_things", one=text, two=text),))
    monkeypatch.setitem(sys.modules, "registry_of_things", holder)
    assert "found_things.one" not in sys.modules
    names = [spec.name for spec in holder.THINGS]
    assert names == ["found_things.one", "found_things.two"]


def test_a_failed_import_is_reported_every_time(no_plugins, package):
    registry = Registry("thing", packages=(package("broken_things", bad="1 / 0"),))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            registry.get("a")


def test_plug_ins_are_loaded_once_in_order(entry_points, package):
    package("plugin_things", a="LOADED = []", b="from plugin_things.a import LOADED\nLOADED += [1]")
    entry_points(zz="plugin_things.b", aa="plugin_things.a")
    assert load_plugins() == ("aa", "zz")
    assert load_plugins() == ("aa", "zz")
    assert sys.modules["plugin_things.a"].LOADED == [1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import not_there_at_all", "No module named 'not_there_at_all'"),
        ("raise ValueError", "ValueError"),
        ("1 / 0", "division by zero"),
    ],
)
def test_a_broken_plug_in_is_named(entry_points, package, text, reason):
    package("bad_things", bad=text)
    entry_points(broken="bad_things.bad")
    registry = things("a")
    for _ in range(2):
        with pytest.raises(RegistryError, match="The plug-in 'broken' of the package") as caught:
            registry.get("a")
        assert f"cannot be loaded: {reason}. Fix or uninstall" in str(caught.value)


def test_a_suggestion_names_one_name_or_a_few():
    many = [f"thing{number:02d}" for number in range(40)]
    assert suggestion("Thng07", many) == " Did you mean 'thing07'?"
    words = suggestion("zzz", many)
    assert words.startswith(" Known: thing00, thing01")
    assert words.endswith("thing11, ... (40 in all).")
