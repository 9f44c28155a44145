"""Views of a run's options: parsed once, and with the same values as Beam's own."""

import copy
import pickle

import apache_beam as beam
from apache_beam.options.pipeline_options import (
    DebugOptions,
    PipelineOptions,
    StandardOptions,
    TypeOptions,
)

from pairweave.pipelines.engines.run_options import RunOptions

FLAGS = ["--runner=DirectRunner", "--experiments=one", "--no_pipeline_type_check"]


def test_a_pipeline_parses_its_options_once(monkeypatch):
    parsed = []
    add = TypeOptions._add_argparse_args

    def count(parser):
        parsed.append(parser)
        add(parser)

    monkeypatch.setattr(TypeOptions, "_add_argparse_args", count)
    pipeline = beam.Pipeline(options=RunOptions(FLAGS))
    rows = pipeline | beam.Create([1, 2])
    for step in range(5):
        rows |= str(step) >> beam.Map(abs)
    assert len(parsed) == 1


def test_views_have_what_beams_own_have():
    ours, beams = RunOptions(FLAGS), PipelineOptions(FLAGS)
    for kind in (StandardOptions, DebugOptions, TypeOptions):
        assert str(ours.view_as(kind)) == str(beams.view_as(kind))
    assert ours.get_all_options() == beams.get_all_options()


def test_what_is_set_in_a_view_is_seen_in_every_other():
    options = RunOptions(FLAGS)
    earlier = options.view_as(DebugOptions)
    options.view_as(StandardOptions).view_as(DebugOptions).add_experiment("two")
    options.view_as(DebugOptions).number_of_worker_harness_threads = 3
    assert earlier.experiments == ["one", "two"]
    assert options.get_all_options()["number_of_worker_harness_threads"] == 3


def test_copies_are_options_of_their_own():
    options = RunOptions(FLAGS)
    options.view_as(DebugOptions)
    for other in (copy.deepcopy(options), pickle.loads(pickle.dumps(options))):
        other.view_as(DebugOptions).add_experiment("two")
        assert other.view_as(DebugOptions).experiments == ["one", "two"]
        assert options.view_as(DebugOptions).experiments == ["one"]
