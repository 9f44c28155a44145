"""Finds plugins in this environment by name, checks and loads them, the same on every worker."""

import dataclasses
import difflib
import functools
import importlib.metadata
import json
import re
from importlib.metadata import EntryPoint

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.plugins.code_digest import code_digest
from pairweave.transforms.plugins.plugin_kind import NAME, PluginKind


@dataclasses.dataclass(frozen=True)
class Plugin:
    """A planned plugin, described so that workers load the same one.

    Attributes:
        group: The group of its entry point.
        name: Its name.
        value: The object that the entry point names, as ``module:object``.
        distribution: The distribution that declares it.
        version: The version of the distribution.
        sha256: Hash of the code (`code_digest`).
    """

    group: str
    name: str
    value: str
    distribution: str
    version: str
    sha256: str

    def __str__(self) -> str:
        """Return its name in messages."""
        return f"{self.name} of {self.distribution} {self.version}"

    def to_text(self) -> str:
        """Return the plugin as one line, which `from_text` reads."""
        return json.dumps(dataclasses.asdict(self), sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> "Plugin":
        """Undo `to_text`.

        Raises:
            ConfigError: The text is not the line of a plugin.
        """
        try:
            return cls(**{name: str(value) for name, value in json.loads(text).items()})
        except (ValueError, TypeError, AttributeError) as error:
            raise ConfigError(f"{text[:80]!r} is not the line of a plugin: {error}") from error

    @property
    def facts(self) -> dict[str, str]:
        """Return its entry in a plan: the package, and the hash of its code."""
        return {
            "distribution": f"{self.distribution} {self.version}",
            "entry_point": self.value,
            "code": self.sha256,
        }

    def failed(
        self, option: str, method: str, what: str, expected: str, advice: str
    ) -> ConfigError:
        """Return the error for a method that fails, or returns a wrong result.

        Args:
            option: The option that names the plugin, without dashes.
            method: The method.
            what: The fault, such as `raised`.
            expected: The result that it must return.
            advice: Advice to users other than fixing the package.
        """
        return ConfigError(
            f"--{option} {self.name}: {method} of {self.distribution} {self.version} "
            f"({self.value}) {what}; expected {expected}; fix that package, or {advice}"
        )


def raised(error: BaseException) -> str:
    """Return a line that says that a plugin raised an error."""
    return f"raised {_one_line(error)}"


def installed(kind: PluginKind) -> list[EntryPoint]:
    """Return the entry points of a kind in this environment, by name and distribution."""
    entries = importlib.metadata.entry_points(group=kind.group)
    return sorted(entries, key=lambda each: (each.name, _distribution(each)))


def known_names(kind: PluginKind) -> list[str]:
    """Return the names of the installed plugins of a kind, except pairweave's own names."""
    return sorted({each.name for each in installed(kind)} - kind.built_in)


def known_name(kind: PluginKind, name: str, own: tuple[str, ...]) -> str:
    """Check that a name is one of pairweave's own or an installed plugin's.

    Entry points are read only if it is not pairweave's own.

    Args:
        kind: The kind of plugins.
        name: The name.
        own: pairweave's own names that are allowed here.

    Raises:
        ValueError: No plugin has that name.
    """
    if name in own:
        return name
    others = known_names(kind)
    if name not in others:
        more = f" (installed: {', '.join(others)})" if others else ""
        raise ValueError(
            f"no such {kind.noun}; expected one of {', '.join(own)}, or one of an installed "
            f"package{more}"
        )
    return name


def plan_plugin(kind: PluginKind, name: str, option: str) -> tuple[Plugin, object]:
    """Find a plugin, load it in this process, and hash its code.

    Args:
        kind: Its kind.
        name: Its name.
        option: The option that names it, for messages.

    Returns:
        The plugin, and the object that its entry point names.

    Raises:
        ConfigError: No plugin has this name, or several do; it cannot be loaded, or is not a valid
            plugin of its kind. The message names the distribution and the entry point.
    """
    entry = _find(kind, name, option)
    plugin = _identified(entry)
    try:
        return plugin, load_plugin(plugin, kind)
    except ConfigError as error:
        raise ConfigError(f"{option} {name}: {error}") from error


def _find(kind: PluginKind, name: str, option: str) -> EntryPoint:
    """Return the entry point of a name."""
    every = installed(kind)
    matches = [each for each in every if each.name == name]
    named = " and ".join(f"{_distribution(each)} ({_text(each)})" for each in matches)
    if name in kind.built_in:
        whose = f", but {named} has an entry point of that name" if matches else ""
        advice = "rename the entry point" if matches else "it needs no plugin"
        raise ConfigError(
            f"{option} {name}: this name is pairweave's own{whose}; expected a {kind.noun} of "
            f"another package, with another name; {advice}"
        )
    if len(matches) > 1:
        raise ConfigError(
            f"{option} {name}: {named} have an entry point of that name; expected one package with "
            "it; uninstall all others, or rename their entry points"
        )
    if not matches:
        names = sorted({each.name for each in every})
        near = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ConfigError(
            f"{option} {name}: no installed package has a {kind.noun} of that name; {hint}"
            f"expected one of the entry points {kind.group}: {', '.join(names) or 'there are none'}"
            "; install the package that has it (pip install)"
        )
    if not re.fullmatch(NAME, name):
        raise ConfigError(
            f"{option} {name}: {named}: expected a name of at most 40 small letters, digits and "
            "underscores that begins with a letter; rename the entry point"
        )
    return matches[0]


def _identified(entry: EntryPoint) -> Plugin:
    """Return the plugin of an entry point, with the current hash of its code."""
    distribution = entry.dist
    assert distribution is not None  # `installed` reads entry points of distributions
    if EntryPoint.pattern.fullmatch(entry.value) is None:
        raise ConfigError(
            f"plugin {entry.name} of {_distribution(entry)} ({_text(entry)}): does not name an "
            "object; expected MODULE:OBJECT; fix the entry point of that package"
        )
    try:
        digest = code_digest(distribution, entry.module)
    except (OSError, ImportError, ValueError) as error:
        raise ConfigError(
            f"plugin {entry.name} of {_distribution(entry)} ({_text(entry)}): its code cannot be "
            f"read: {error}; install that package again"
        ) from error
    name, version = distribution.metadata["Name"], distribution.version
    return Plugin(entry.group, entry.name, entry.value, str(name), str(version), digest)


@functools.cache
def load_plugin(plugin: Plugin, kind: PluginKind) -> object:
    """Return the object of a planned plugin, which a process loads once.

    Raises:
        ConfigError: It cannot be loaded, is not a valid plugin of its kind, has code other than
            planned, or no installed package declares it.
    """
    entry = EntryPoint(plugin.name, plugin.value, plugin.group)
    place = f"{plugin.distribution} {plugin.version} ({_text(entry)})"
    code = _digest_here(plugin)
    if code != plugin.sha256:
        raise ConfigError(
            f"{place}: its code changed after this process loaded it, or is not the same on all "
            "machines; expected that of the plan; run the command again, with the same package "
            "wherever workers run"
        )
    if not _is_declared(plugin, kind):
        # A file, such as that of a model, may name a plugin, but not any other module.
        raise ConfigError(
            f"{place}: the package does not declare this entry point; expected one of "
            f"{kind.group}; install the version of the package that has it"
        )
    try:
        loaded = entry.load()
        fault = kind.fault(loaded)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of Rust is not an Exception
        text = _one_line(error)
        raise ConfigError(
            f"{place}: cannot be loaded: {text}; expected {kind.expected}; install that package "
            "and what it needs again, or leave it out"
        ) from error
    if fault is not None:
        raise ConfigError(
            f"{place}: {fault}; expected {kind.expected}; install a version of that package that "
            "fits, or leave it out"
        )
    return loaded


def _is_declared(plugin: Plugin, kind: PluginKind) -> bool:
    """Tell whether the installed package of a plugin declares it as one of its kind."""
    declared = importlib.metadata.distribution(plugin.distribution).entry_points
    wanted = (kind.group, plugin.name, plugin.value)
    return wanted in {(each.group, each.name, each.value) for each in declared}


@functools.cache
def _digest_of_module(distribution: str, module: str) -> str:
    """Return the hash of a plugin's code when this process first saw it."""
    return code_digest(importlib.metadata.distribution(distribution), module)


def _digest_here(plugin: Plugin) -> str:
    module = EntryPoint(plugin.name, plugin.value, plugin.group).module
    try:
        return _digest_of_module(plugin.distribution, module)
    except (OSError, ImportError, ValueError) as error:
        raise ConfigError(
            f"{plugin.distribution} {plugin.version}: is not installed where a worker runs, or "
            f"cannot be read there: {_one_line(error)}; expected the package of the plan; install "
            "it in that environment"
        ) from error


def descriptions(kind: PluginKind) -> list[str]:
    """Return a line of help for each installed plugin of a kind, even if it has a fault."""
    lines = []
    for entry in installed(kind):
        try:
            plugin = _identified(_find(kind, entry.name, ""))
            said = kind.describe(load_plugin(plugin, kind))
        except ConfigError as error:
            said = f"cannot be used: {str(error).strip()}"
        lines.append(f"{entry.name} (of {_distribution(entry)}): {said}")
    return lines


def _text(entry: EntryPoint) -> str:
    """Return an entry point in the form of the package's ``pyproject.toml``."""
    return f"[{entry.group}] {entry.name} = {entry.value}"


def _distribution(entry: EntryPoint) -> str:
    return "" if entry.dist is None else f"{entry.dist.metadata['Name']} {entry.dist.version}"


def _one_line(error: BaseException) -> str:
    """Return the type and the message of an error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")
