"""The options of Beam for one run, each parsed once."""

from typing import TypeVar

from apache_beam.options.pipeline_options import PipelineOptions

_View = TypeVar("_View", bound=PipelineOptions)


class RunOptions(PipelineOptions):
    """Options of a pipeline that keep their views.

    Beam asks for views several times for each step and builds a parser for each: a quarter of the
    time that a run on a few pairs takes.
    """

    def view_as(self, cls: type[_View]) -> _View:
        """Return these options as those of a class, the same object each time."""
        # All views share their values, so an earlier view has what was set since.
        views = self.__dict__.setdefault("_views", {})
        if cls not in views:
            views[cls] = super().view_as(cls)
        view: _View = views[cls]
        return view
