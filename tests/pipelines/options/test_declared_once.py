"""An option is declared once, beside its step: one default, one check, one help text."""

import dataclasses
import importlib
import inspect
import pkgutil
import re
import typing

import pydantic
import pytest
from pydantic import Field

from pairweave.pipelines.commands import completion
from pairweave.pipelines.options.base import Options
from pairweave.transforms.config import Config, pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_marks import listed_after, listed_before
from pairweave.transforms.option_places import role_of
from pairweave.transforms.storage.byte_streams import COMPRESSIONS

ROOMS = (
    "pipelines.options",
    "pipelines.job_options",
    "pipelines.aligners.aligner_options",
    "pipelines.commands.command_options",
    "pipelines.refresh.refresh_options",
    "pipelines.streaming.stream_options",
    "pipelines.commands.tags.tag_options",
    "pipelines.trial.trial_options",
    "transforms",
    "models.finetune.finetune_config",
    "models.translators.translator",
)

RESOLVED = {
    "segmenter": "the option names a way, the configuration the segmenter that it led to",
    "representation": "the option names a template, the configuration holds its forms",
    "objectives": "the option is a text with commas",
    "tokens": "the option is a text, the configuration says how it is cut",
    "head": "the option is a name, the configuration of an encoder holds the settings of the head",
    "model": "the option is an aligner's, the configuration a translator's",
}
"""What a configuration derives of an option of the same name."""

OWN_DEFAULTS = {
    "AlignOptions": {"max_tokens", "max_ratio", "max_token_chars"},
    "BitextOptions": {"max_tokens", "max_ratio", "max_token_chars"},
    "TrialOptions": {"fit_pairs"},
    "SuggestOptions": {"max_tokens", "head", "unit"},
    "StreamedTagOptions": {"tag_profile"},
    "FinetuneConfig": {"threads"},
}
"""Options for which a job or a step has another default; the check is the first one's."""

OTHER_VALUES = {
    "aligner": "a job has the aligners that suit it",
    "corpora": "a job's corpora have the options of its input",
    "inline_tags": "only tagged pairs have a place for tags",
    "output": "what only shows something need not write it",
    "tokens": "only some aligners train a model of tokens, or bring pieces of their own",
}
"""Options that a job declares again because it takes other values."""

OLD_CONFIGS = {"ExternalConfig", "HmmConfig"}
"""Dataclasses that declare again what an option sets."""


def subclasses(kind):
    for child in kind.__subclasses__():
        yield child
        yield from subclasses(child)


def load(name):
    module = importlib.import_module(f"pairweave.{name}")
    for _, below, _ in pkgutil.iter_modules(getattr(module, "__path__", ())):
        load(f"{name}.{below}")


@pytest.fixture(scope="module")
def classes():
    for room in ROOMS:
        load(room)
    functions = completion.functions()
    models = [each.model(name) for name, of_name in functions.items() for each in of_name]
    assert len(models) > 30  # as long as they are here, they are found below
    result = {kind for kind in subclasses(Config) if kind.__module__.startswith("pairweave.")}
    return sorted(result, key=lambda kind: kind.__name__)


def declaring(model, name):
    """Return the classes that a model has an option from, the first one first."""
    return [kind for kind in reversed(model.__mro__) if name in inspect.get_annotations(kind)]


def own_default(kind, name):
    return name in OWN_DEFAULTS.get(kind.__name__, ())


def alike(first, second):
    """Tell whether two fields take the same values and have the same default."""
    return all(
        getattr(first, fact) == getattr(second, fact)
        for fact in ("annotation", "default", "metadata")
    )


def test_a_model_declares_an_option_once(classes):
    twice = {
        (model.__name__, name)
        for model in classes
        for name in model.model_fields
        for kind in declaring(model, name)[1:]
        if name not in OTHER_VALUES and not own_default(kind, name)
    }
    assert twice == set()


def test_a_step_s_configuration_and_a_job_s_options_take_the_same_values(classes):
    configs = [kind for kind in classes if not kind.__module__.startswith("pairweave.pipelines.")]
    jobs = [kind for kind in classes if issubclass(kind, Options)]
    assert len(configs) > 10
    twice = set()
    for config in configs:
        for job in jobs:
            common = set(config.__mro__) & set(job.__mro__) - set(Config.__mro__)
            if not common:
                continue  # the job has no such step
            for name in (config.model_fields.keys() & job.model_fields.keys()) - RESOLVED.keys():
                lines = declaring(config, name)[0], declaring(job, name)[0]
                fields = [line.model_fields[name] for line in lines]
                if lines[0] is not lines[1] and not alike(*fields):
                    twice.add((config.__name__, job.__name__, name))
    assert twice == set()


def test_an_option_that_a_job_declares_again_keeps_its_facts(classes):
    def facts(kind, name):
        field, role = kind.model_fields[name], role_of(kind.model_fields[name])
        marks = field.json_schema_extra or {}
        return {
            *marks.keys() - {"unsaid", "at", "listed_after", "listed_before", "not_by"},
            *(["role"] if role else []),
        }

    lost = {
        (model.__name__, name)
        for model in classes
        for name in model.model_fields
        for kind in declaring(model, name)
        if facts(kind, name) - facts(model, name)
    }
    assert lost == set()


def test_a_default_of_its_own_keeps_the_check(classes):
    for kind in classes:
        for name in OWN_DEFAULTS.get(kind.__name__, ()):
            first = declaring(kind, name)[0]
            assert kind.model_fields[name].metadata == first.model_fields[name].metadata
            assert kind.model_fields[name].annotation == first.model_fields[name].annotation


def test_every_default_passes_its_own_check(classes):
    """Otherwise an option could be left out, and be given with no value at all."""
    refused = []
    for kind in classes:
        for name, field in kind.model_fields.items():
            if field.is_required() or field.get_default(call_default_factory=True) is None:
                continue
            check = pydantic.create_model("Check", field=(field.annotation, field))
            try:
                check(field=field.get_default(call_default_factory=True))
            except pydantic.ValidationError as error:
                refused.append((kind.__name__, name, str(error)))
    assert refused == []


def test_no_configuration_is_a_dataclass_with_the_names_of_options(classes):
    options = {name for kind in classes if issubclass(kind, Options) for name in kind.model_fields}
    seen = {}
    for kind in {
        value
        for module in importlib.sys.modules.values()
        if getattr(module, "__name__", "").startswith("pairweave.")
        for value in vars(module).values()
        if isinstance(value, type) and dataclasses.is_dataclass(value)
    }:
        if kind.__name__.endswith("Config") and kind.__name__ not in OLD_CONFIGS:
            names = {field.name for field in dataclasses.fields(kind)} & options
            seen |= {kind.__name__: names} if names else {}
    assert seen == {
        "TokenConfig": {"model"},  # a SentencePiece model that an option named
        "WriteConfig": {"output"},  # the directory's absolute path
    }


class ToyOptions(Config):
    """A step's options."""

    size: int = Field(3, ge=1, le=9, description="size")
    way: typing.Literal["near", "far"] = Field("near", description="way")


class ToyConfig(ToyOptions):
    """And its configuration."""

    seed: int = 1


class AnyToyConfig(Config):
    """A configuration with an option of that step, and a value of its own."""

    size: int = 1
    depth: int = 1


class OtherToyConfig(Config):
    """A configuration whose value has the name of an option and another type."""

    way: str = "on foot"


class JobOptions(ToyOptions, Options):
    """A job."""

    seed: int = 5


def test_a_configuration_is_picked_from_options_by_name():
    options = JobOptions(size=4, way="far", seed=7)
    assert pick(ToyConfig, options) == ToyConfig(size=4, way="far", seed=7)
    assert pick(ToyConfig, options, seed=2).seed == 2
    assert pick(AnyToyConfig, options) == AnyToyConfig(size=4)
    assert pick(ToyConfig, ToyConfig(size=5, seed=8)).seed == 8


def test_an_option_of_another_type_is_not_picked_by_its_name():
    options = JobOptions()
    with pytest.raises(TypeError, match="OtherToyConfig: way differs from that of the options"):
        pick(OtherToyConfig, options)
    assert pick(OtherToyConfig, options, way="by boat").way == "by boat"


class LateOptions(Config):
    """Options that are listed behind those of the class that has them."""

    second: int = Field(1, json_schema_extra=listed_after("first"))
    first: int = Field(1, json_schema_extra=listed_after("size"))


class LateJobOptions(ToyOptions, LateOptions):
    """A job with them."""

    last: int = 1
    zero: int = Field(1, json_schema_extra=listed_before("one"))
    one: int = Field(1, json_schema_extra=listed_before("size"))


def test_an_option_is_listed_beside_the_one_that_it_names():
    assert list(LateOptions.model_fields) == ["first", "second"]  # no "size" to be behind
    names = ["zero", "one", "size", "first", "second", "way", "last"]
    assert list(LateJobOptions.model_fields) == list(LateJobOptions().model_dump()) == names
    wrong = dict.fromkeys(names, "?")
    with pytest.raises(pydantic.ValidationError) as caught:
        LateJobOptions.model_validate(wrong)
    assert [problem["loc"][0] for problem in caught.value.errors()] == names


def test_a_configuration_takes_values_in_order_and_is_frozen_and_hashable():
    config = ToyConfig(2, "far", seed=9)
    assert config == ToyConfig(size=2, way="far", seed=9)
    assert len({config, config.changed(size=2), config.changed(size=3)}) == 2
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        config.size = 3
    with pytest.raises(ConfigError, match="size must be 1 to 9, got 10"):
        config.changed(size=10)


@pytest.mark.parametrize(
    ("values", "named", "message"),
    [
        ((0,), {}, "size must be 1 to 9, got 0"),
        (("4",), {}, "size must be a whole number, 1 to 9, got '4'"),
        ((True,), {}, "size must be a whole number, 1 to 9, got True"),
        ((), {"way": "fra"}, "way 'fra' is unknown; did you mean 'far'? It is one of near, far"),
        ((), {"sizes": 1}, "sizes: extra inputs are not permitted"),
    ],
)
def test_a_configuration_says_what_a_value_may_be(values, named, message):
    with pytest.raises(ConfigError) as caught:
        ToyConfig(*values, **named)
    assert str(caught.value) == message


def test_a_value_that_is_read_may_be_text():
    assert ToyConfig.model_validate({"size": "4", "way": "far"}) == ToyConfig(4, "far")
    with pytest.raises(pydantic.ValidationError, match="less than or equal to 9"):
        ToyConfig.model_validate({"size": "10"})


def test_values_are_not_given_twice():
    with pytest.raises(TypeError, match="given twice"):
        ToyConfig(1, size=2)
    with pytest.raises(TypeError, match="too many"):
        ToyConfig(1, "far", 3, 4)


def test_help_names_every_compression_that_is_read(classes):
    listed = {
        words
        for model in classes
        for field in model.model_fields.values()
        for words in re.findall(r"\[(\.gz[^]]*)\]", field.description or "")
    }
    assert listed == {" ".join(COMPRESSIONS)}
