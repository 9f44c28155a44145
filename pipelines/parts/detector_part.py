"""The language detector of ``filter``; the block ``filter:`` of other jobs names one too."""

from pairweave.pipelines.job_options.filter_options import FilterJobOptions
from pairweave.pipelines.parts.file_facts import files_facts
from pairweave.pipelines.parts.part import Part, Planning, Settled
from pairweave.transforms.filtering import detectors
from pairweave.transforms.filtering.rule_options import RuleOptions


class DetectorPart(Part[FilterJobOptions, str]):
    """The detector, by its name in the plan, which includes the digest of its file, if any."""

    name = "detector"
    options = RuleOptions

    def check(self, options: FilterJobOptions) -> None:
        """Check that the detector is installed."""
        check_detector(options.detector)

    def plan(self, options: FilterJobOptions, planning: Planning) -> Settled[str]:
        """Hash the detector's file, if it has one."""
        settings = detector_settings(options.detector)
        return Settled(str(settings["detector"]), settings=settings)


def check_detector(name: str) -> None:
    """Load a detector now, before a worker does.

    Raises:
        ConfigError: It is not installed.
    """
    if name != "none":
        detectors.load(name)


def detector_settings(name: str) -> dict[str, object]:
    """Return the plan's entries for a detector: the digest of its file, and its version."""
    if name == "none":
        return {"detector": name}
    kind, colon, path = name.partition(":")
    digest = files_facts([path])[0]["sha256"] if path else ""
    return {"detector": kind + colon + digest, "detector_version": detectors.version(name)}


DETECTOR = DetectorPart()
