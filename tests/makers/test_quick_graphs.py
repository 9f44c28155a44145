"""What Beam is told is what it would find out itself."""

import apache_beam as beam
from apache_beam.internal import cloudpickle_pickler
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from apache_beam.runners.worker import statecache
from apache_beam.transforms import userstate

from tests.makers import quick_graphs

BAG = userstate.BagStateSpec("bag", beam.coders.StrUtf8Coder())
IN_BAG = beam.DoFn.StateParam(BAG)


class Plain(beam.DoFn):
    def process(self, element):
        yield element


class Keeping(beam.DoFn):
    def process(self, element, bag=IN_BAG):
        bag.add(element)


def test_steps_with_state_are_known_however_often_they_are_asked():
    quick_graphs.install()
    for _ in range(3):
        assert userstate.get_dofn_specs(Keeping()) == ({BAG}, set())
        assert userstate.get_dofn_specs(Plain()) == (set(), set())
        assert not userstate.is_stateful_dofn(beam.Map(str).fn)


def test_a_method_that_one_step_was_given_is_asked():
    quick_graphs.install()
    step = Plain()
    assert not userstate.is_stateful_dofn(step)
    step.process = Keeping().process
    assert userstate.is_stateful_dofn(step)


def test_options_are_those_that_their_object_has():
    quick_graphs.install()
    options = PipelineOptions(["--runner=DirectRunner"]).view_as(StandardOptions)
    shown = sorted(name for name in dir(options._visible_options) if name[0] != "_")
    assert options._visible_option_list() == shown
    assert "runner" in shown


def test_what_is_compressed_in_small_blocks_is_read_as_it_was():
    quick_graphs.install()
    data = list(range(200_000))
    assert cloudpickle_pickler.loads(cloudpickle_pickler.dumps(data)) == data


def test_a_side_input_is_weighed_without_what_it_refers_to():
    quick_graphs.install()
    assert 10_000 < statecache.get_deep_size(bytes(10_000), "ä" * 10) < 11_000
