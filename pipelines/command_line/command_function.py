"""Commands whose options are the parameters of a function.

The function is called with the values, once they are checked::

    @command()
    def main(
        directory: Annotated[str, FINISHED_RUNS, "directory of a finished run"],
        *,
        pairs: Annotated[int, Field(ge=1), "pairs to print"] = 6,
    ) -> int:

Words of the command line are parameters by position, flags are parameters by keyword; a text in an
annotation is the help. A parameter whose type is a class of options, such as those of a step,
stands for all of them.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any, cast, get_args

import pydantic
from pydantic import Field

from pairweave.pipelines.command_line import flags, parsers
from pairweave.pipelines.command_line.command_table import COMMANDS, SUBCOMMANDS
from pairweave.pipelines.options.base import Options
from pairweave.pipelines.process import terminal
from pairweave.transforms.config import Config

BEAM_OPTIONS = "beam_options"
"""The parameter that gets the options of Beam, in a command that takes them."""


class CommandFunction:
    """A command that is called with its name and its command line, and returns its exit status.

    Attributes:
        run: The function.
        forms: This command, and its other form if it has one.
    """

    def __init__(
        self,
        run: Callable[..., int],
        about: str,
        *,
        beam: bool,
        other_form: "CommandFunction | None",
    ) -> None:
        self.run, self._about, self._beam = run, about, beam
        self.forms = (self,) if other_form is None else (self, other_form)
        parameters = dict(inspect.signature(run).parameters)
        self._takes_beam_options = parameters.pop(BEAM_OPTIONS, None) is not None
        kinds = {name: parameter.annotation for name, parameter in parameters.items()}
        self._blocks = {name: kind for name, kind in kinds.items() if isinstance(kind, type)}
        self._single = {name: parameters[name] for name in kinds if name not in self._blocks}

    def __call__(self, name: str, arguments: Sequence[str]) -> int:
        """Run the command.

        Args:
            name: The command, with its subcommand if it has one.
            arguments: The command line after it.

        Raises:
            ConfigError: The command line is wrong.
        """
        if self.forms[1:] and {"-h", "--help"} & {*arguments}:
            terminal.say("\n".join(form.help(name) for form in self.forms))
            return 0
        flags_given = {word.partition("=")[0] for word in arguments if word.startswith("--")}
        for other in self.forms[1:]:
            fields = other.model(name).model_fields
            if flags_given & {f"--{word}" for word in fields if fields[word].is_required()}:
                return other(name, arguments)
        model, prog = self.model(name), f"pairweave {name}"
        options, extra = flags.parse(model, prog, self.about(name), arguments, beam=self._beam)
        values = {word: getattr(options, word) for word in self._single}
        values |= {word: _part(options, kind) for word, kind in self._blocks.items()}
        if self._takes_beam_options:
            values[BEAM_OPTIONS] = extra
        return self.run(**values)

    def about(self, name: str) -> str:
        """Return what the command of this name does, in one line."""
        return self._about or (COMMANDS | SUBCOMMANDS)[name].about

    def help(self, name: str) -> str:
        """Return the help of the command of this name in this form."""
        parser = parsers.new_parser(self.model(name), f"pairweave {name}", beam=self._beam)
        parser.description = self.about(name)
        return parser.format_help()

    def model(self, name: str) -> type[Options]:
        """Return the model of the options of a command of this name."""
        fields: dict[str, Any] = {}
        for place, (word, parameter) in enumerate(self._single.items()):
            kind, *facts = get_args(parameter.annotation)
            facts = [Field(description=each) if type(each) is str else each for each in facts]
            if parameter.kind is not parameter.KEYWORD_ONLY:
                facts.append(Field(json_schema_extra={"at": place}))
            is_required = parameter.default is parameter.empty
            fields[word] = Annotated[kind, *facts], ... if is_required else parameter.default
        bases: tuple[type[Config], ...] = tuple(self._blocks.values())
        if not fields and len(bases) == 1 and issubclass(bases[0], Options):
            return bases[0]
        about = f"Options of ``{name}``."
        bases = (*bases, Options)
        module = self.run.__module__
        made: Any = pydantic.create_model(
            "Options", __base__=bases, __doc__=about, __module__=module, **fields
        )
        return cast("type[Options]", made)


def command(
    about: str = "", *, beam: bool = False, other_form: CommandFunction | None = None
) -> Callable[[Callable[..., int]], CommandFunction]:
    """Make a command of a function.

    Args:
        about: One-line description, for ``--help``; "" for that in the table of commands.
        beam: Whether options of Beam may follow; the parameter ``beam_options`` gets them.
        other_form: The same command with other options, which is run where one of its required
            flags is given.
    """
    return lambda run: CommandFunction(run, about, beam=beam, other_form=other_form)


def _part(options: Options, kind: type[Config]) -> Config:
    """Return the options of one class; those that were not given are not set."""
    if type(options) is kind:
        return options
    given = options.model_fields_set & kind.model_fields.keys()
    return kind(**{name: getattr(options, name) for name in given})
