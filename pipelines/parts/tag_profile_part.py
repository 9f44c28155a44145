"""The tag profile of ``augment``, from which numbers, forms and lengths of tags are drawn."""

import hashlib

from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.parts.part import Part, Planning, Settled
from pairweave.transforms.output.run_files import to_json
from pairweave.transforms.tags.tag_profile import TagProfile, read_profile


class TagProfilePart(Part[AugmentOptions, TagProfile | None]):
    """The profile; None if none is given. The plan contains all of it, to make runs repeatable."""

    name = "tag_profile"
    options = AugmentOptions

    def plan(self, options: AugmentOptions, planning: Planning) -> Settled[TagProfile | None]:
        """Read the profile.

        Raises:
            ConfigError: It cannot be read.
        """
        if options.tag_profile is None:
            return Settled(None)
        profile = read_profile(options.tag_profile).to_json()
        return Settled(
            TagProfile.from_json(profile),
            settings={"tag_profile": hashlib.sha256(to_json(profile)).hexdigest()},
            facts={"tag_profile": profile},
        )


TAG_PROFILE = TagProfilePart()
