"""Plugins are found by name; what is wrong with one is said in a line that names its package."""

import builtins
import dataclasses
import importlib.metadata
import re
import sys

import pytest

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.plugins.code_digest import code_digest
from pairweave.transforms.plugins.entry_points import (
    Plugin,
    descriptions,
    load_plugin,
    plan_plugin,
)
from pairweave.transforms.plugins.filter_rule import RULE
from pairweave.transforms.plugins.word_aligner import ALIGNER
from tests.makers import plugins
from tests.makers.plugins import write_package


@pytest.fixture(autouse=True)
def forgotten():
    yield
    plugins.forget()


def refusal(name="length"):
    with pytest.raises(ConfigError) as error:
        plan_plugin(RULE, name, "--plugin_rules")
    message = str(error.value)
    assert "\n" not in message
    return message


def test_a_plugin_is_known_by_its_package_and_the_hash_of_its_code(tmp_path, monkeypatch):
    plugins.use(monkeypatch, write_package(tmp_path / "site"))
    plugin, loaded = plan_plugin(RULE, "length", "--plugin_rules")
    assert loaded.limit == 10.0
    named = Plugin("pairweave.rules", "length", "a_module:RULE", "a-package", "1", plugin.sha256)
    assert plugin == named
    assert re.fullmatch("[0-9a-f]{64}", plugin.sha256)


@pytest.mark.parametrize("change", ["code", "module", "cache", "version"])
def test_the_hash_is_of_code_alone(tmp_path, monkeypatch, change):
    before, after = (write_package(tmp_path / name) for name in ("before", "after"))
    if change == "code":
        (after / "a_module.py").write_text(plugins.RULE + "# another\n")
    elif change == "module":
        (after / "other.py").write_text("")
        (next(after.glob("*.dist-info")) / "RECORD").write_text("a_module.py,,\nother.py,,\n")
    elif change == "cache":
        (after / "__pycache__").mkdir()
        (after / "__pycache__" / "a_module.pyc").write_bytes(b"compiled")
        info = next(after.glob("*.dist-info"))
        (info / "RECORD").write_text("a_module.py,,\n__pycache__/a_module.pyc,,\n")
    hashes = []
    for folder in (before, after):
        with monkeypatch.context() as patch:
            plugins.use(patch, folder)
            hashes.append(plan_plugin(RULE, "length", "--plugin_rules")[0].sha256)
    assert (hashes[0] != hashes[1]) == (change in ("code", "module"))


def test_a_package_in_development_is_known_by_the_files_of_its_folder(tmp_path, monkeypatch):
    site = write_package(tmp_path / "site", module="unused", points=_points("a_package.rule:RULE"))
    (site / "a_package").mkdir()
    (site / "a_package" / "__init__.py").write_text("")
    (site / "a_package" / "rule.py").write_text(plugins.RULE)
    hashes = []
    for text in ("1", "2"):
        (site / "a_package" / "data.txt").write_text(text)
        plugins.use(monkeypatch, site)
        hashes.append(plan_plugin(RULE, "length", "--plugin_rules")[0].sha256)
    assert hashes[0] != hashes[1]


@pytest.mark.parametrize("value", ["shared.rule", "shared.deep.rule", "shared.inner.rule"])
def test_a_module_in_a_shared_package_in_development_is_known_by_its_code(
    tmp_path, monkeypatch, value
):
    """A package without ``__init__.py``, of which the distribution lists no file."""
    site = write_package(tmp_path / "site", module="unused", points=_points(f"{value}:RULE"))
    path = site.joinpath(*value.split(".")).with_suffix(".py")
    path.parent.mkdir(parents=True)
    if "inner" in value:
        (path.parent / "__init__.py").write_text("")
    hashes = []
    for text in ("1", "2"):
        path.write_text(f"{plugins.RULE}# {text}\n")
        plugins.use(monkeypatch, site)
        hashes.append(plan_plugin(RULE, "length", "--plugin_rules")[0].sha256)
    forget_shared()
    assert hashes[0] != hashes[1]


def test_a_listed_module_of_a_shared_package_counts_once(tmp_path, monkeypatch):
    hashes = []
    for name in ("unlisted", "listed"):
        site = write_package(tmp_path / name, points=_points("shared.rule:RULE"))
        (site / "shared").mkdir()
        (site / "shared" / "rule.py").write_text(plugins.RULE)
        listed = "shared/rule.py,,\n" if name == "listed" else ""
        (next(site.glob("*.dist-info")) / "RECORD").write_text(listed)
        with monkeypatch.context() as patch:
            plugins.use(patch, site)
            hashes.append(plan_plugin(RULE, "length", "--plugin_rules")[0].sha256)
        forget_shared()
    assert hashes[0] == hashes[1]


def forget_shared():
    for module in [each for each in sys.modules if each.partition(".")[0] == "shared"]:
        del sys.modules[module]


def _points(value, name="length"):
    return {"pairweave.rules": {name: value}}


def test_a_name_that_no_package_has_is_refused_with_the_nearest(tmp_path, monkeypatch):
    plugins.use(monkeypatch, write_package(tmp_path / "site"))
    message = refusal("lenght")
    assert "--plugin_rules lenght: no installed package has a rule of that name" in message
    assert "did you mean length?" in message
    assert "the entry points pairweave.rules: length" in message


def test_a_name_that_two_packages_have_is_refused(tmp_path, monkeypatch):
    first = write_package(tmp_path / "first")
    second = write_package(tmp_path / "second", name="b-package", module="b_module", version="2")
    plugins.use(monkeypatch, first, second)
    message = refusal()
    assert "a-package 1 ([pairweave.rules] length = a_module:RULE) and b-package 2 (" in message
    assert "expected one package with it; uninstall all others" in message


@pytest.mark.parametrize("has_one", [True, False])
def test_a_name_of_pairweaves_own_is_refused(tmp_path, monkeypatch, has_one):
    points = _points("a_module:RULE", "copied" if has_one else "length")
    plugins.use(monkeypatch, write_package(tmp_path / "site", points=points))
    message = refusal("copied")
    assert "--plugin_rules copied: this name is pairweave's own" in message
    assert ("a-package 1 ([pairweave.rules] copied = a_module:RULE)" in message) == has_one


def test_a_name_that_no_column_can_have_is_refused(tmp_path, monkeypatch):
    site = write_package(tmp_path / "site", points=_points("a_module:RULE", "Too-Long"))
    plugins.use(monkeypatch, site)
    assert "small letters, digits and underscores" in refusal("Too-Long")


@pytest.mark.parametrize("value", ["a module", "a_module:RULE:more", ":RULE"])
def test_an_entry_point_that_names_no_object_is_refused(tmp_path, monkeypatch, value):
    plugins.use(monkeypatch, write_package(tmp_path / "site", points=_points(value)))
    message = refusal()
    assert (
        f"length of a-package 1 ([pairweave.rules] length = {value}): does not name an object"
        in message
    )


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise ValueError('two\\nlines')\n", "ValueError: two lines"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("raise BaseException('panic')\n", "BaseException: panic"),
        ("a = (\n", "SyntaxError: "),
        ("", "AttributeError: module 'a_module' has no attribute 'RULE'"),
        (f"{plugins.RULE}Rule.about = property(lambda _: 1 / 0)\n", "ZeroDivisionError: "),
        (f"{plugins.RULE}Rule.limit = 10**400\n", "OverflowError: "),
    ],
)
def test_code_that_cannot_be_loaded_is_refused(tmp_path, monkeypatch, code, said):
    plugins.use(monkeypatch, write_package(tmp_path / "site", code=code))
    message = refusal()
    where = "--plugin_rules length: a-package 1 ([pairweave.rules] length = a_module:RULE): "
    assert message.startswith(f"{where}cannot be loaded: {said}")
    assert "expected an instance with about" in message
    assert message.endswith("install that package and what it needs again, or leave it out")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("RULE = Rule", "Rule is a class"),
        ("Rule.about = ''", "about is '', not a line of text"),
        ("Rule.about = 'two\\nlines'", "about is 'two\\nlines', not a line of text"),
        ("Rule.limit = float('nan')", "limit is nan, not a finite number"),
        ("Rule.limit = True", "limit is True, not a finite number"),
        ("Rule.least = 1", "least is 1, not True or False"),
        ("Rule.measure = None", "it has no method measure"),
    ],
)
def test_another_interface_is_refused(tmp_path, monkeypatch, more, said):
    plugins.use(monkeypatch, write_package(tmp_path / "site", code=plugins.RULE + more))
    message = refusal()
    assert f"length = a_module:RULE): {said}; expected an instance with about" in message


def test_a_worker_with_other_code_or_without_the_package_is_refused(tmp_path, monkeypatch):
    site = write_package(tmp_path / "site")
    plugins.use(monkeypatch, site)
    plugin, _ = plan_plugin(RULE, "length", "--plugin_rules")
    (site / "a_module.py").write_text(plugins.RULE + "# another\n")
    plugins.forget()
    with pytest.raises(ConfigError, match=r"^a-package 1 .*is not the same on all machines"):
        load_plugin(plugin, RULE)
    monkeypatch.undo()
    plugins.forget()
    with pytest.raises(ConfigError, match=r"^a-package 1: is not installed where a worker runs"):
        load_plugin(plugin, RULE)


def test_code_that_changes_after_it_was_loaded_is_refused(tmp_path, monkeypatch):
    site = write_package(tmp_path / "site")
    plugins.use(monkeypatch, site)
    plan_plugin(RULE, "length", "--plugin_rules")
    (site / "a_module.py").write_text(plugins.RULE + "# another\n")
    assert "its code changed after this process loaded it" in refusal()


def test_help_describes_plugins_and_says_what_is_wrong_with_others(tmp_path, monkeypatch):
    good = write_package(tmp_path / "good")
    bad = write_package(
        *(tmp_path / "bad", "b-package", "b_module", "1/0"), points=_points("b_module:RULE", "bad")
    )
    plugins.use(monkeypatch, good, bad)
    lines = descriptions(RULE)
    assert lines[1] == "length (of a-package 1): characters of the source; maximum, default 10"
    assert lines[0].startswith("bad (of b-package 1): cannot be used: b-package 1 (")
    assert "ZeroDivisionError" in lines[0]


@pytest.mark.parametrize(
    "changed",
    [{"value": "a_module:Rule"}, {"name": "other"}, {"group": "pairweave.aligners"}],
    ids=lambda changed: next(iter(changed)),
)
def test_what_no_installed_package_declares_is_not_imported(tmp_path, monkeypatch, changed):
    """A model names the tokenizer that it was fitted on, and comes from anywhere."""
    code = plugins.RULE + "import builtins; builtins.imported_by_a_test = True\n"
    plugins.use(monkeypatch, write_package(tmp_path / "site", code=code))
    digest = code_digest(importlib.metadata.distribution("a-package"), "a_module")
    made = Plugin("pairweave.rules", "length", "a_module:RULE", "a-package", "1", digest)
    with pytest.raises(
        ConfigError, match="the package does not declare this entry point; expected one of"
    ):
        load_plugin(
            dataclasses.replace(made, **changed),
            ALIGNER if "group" in changed else RULE,
        )
    assert not hasattr(builtins, "imported_by_a_test")
    assert load_plugin(made, RULE).limit == 10.0
    assert builtins.imported_by_a_test
    del builtins.imported_by_a_test
