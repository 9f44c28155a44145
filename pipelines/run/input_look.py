"""The look of ``check``: from options that name files to findings."""

import numpy as np
import pyarrow as pa

from pairweave.pipelines.job_options.check_options import CheckOptions
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.finding_notices import of_planning
from pairweave.transforms.findings import Finding
from pairweave.transforms.formats import registry
from pairweave.transforms.inspection.input_files import pair_files
from pairweave.transforms.inspection.look import look_at
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.sentences.coverage_evidence import PairCoverage
from pairweave.transforms.text.iso_languages import UNDETERMINED
from pairweave.transforms.units import CorpusInput, Plan, ReadLimits

_PAIRS_AT_ONCE = 1 << 14


def look_at_input(options: CheckOptions) -> tuple[Plan, list[Finding]]:
    """Read every line of the files that options name.

    Returns:
        The plan of reading them, with its notices, and the findings.

    Raises:
        ConfigError: The files cannot be read as a corpus, or there is no such aligner.
    """
    coverage = None if options.model is None else _coverage_by(options.model)
    limits = pick(ReadLimits, options)
    plan = make_plan([corpus_of(options)], limits)
    return plan, [*of_planning(plan.notices), *look_at(plan.units, limits, coverage)]


def _coverage_by(directory: str) -> PairCoverage:
    """Return the judge of pairs that uses a fitted aligner.

    Raises:
        ConfigError: There is no fitted aligner in the directory.
    """
    from pairweave.models.hmm import hmm_reference, pair_scores
    from pairweave.transforms.text.text_tables import token_table

    fitted = hmm_reference.read(directory)
    own = [(fitted.about.get(f"{side}_lang") or [UNDETERMINED])[0] for side in ("source", "target")]

    def coverage(sides: tuple[pa.Array, pa.Array], languages: tuple[str, str]) -> np.ndarray:
        both = zip(languages, own, strict=True)
        given = [other if one == UNDETERMINED else one for one, other in both]
        values = [np.zeros(0, np.float32)]
        for first in range(0, len(sides[0]), _PAIRS_AT_ONCE):
            source, target = (side.slice(first, _PAIRS_AT_ONCE).to_pylist() for side in sides)
            table = token_table((source, target), fitted.tokens, (given[0], given[1]))
            values.append(pair_scores.coverages(fitted.model, table).min(axis=0))
        return np.concatenate(values)

    return coverage


def corpus_of(options: CheckOptions) -> CorpusInput:
    """Return the files as a corpus; two files of text are its sides.

    Raises:
        ConfigError: The role of the files is unclear.
    """
    named_files = options.input, options.source_input, options.target_input
    if any(named_files):
        both, source, target = _as_given(options)
    else:
        both, source, target = pair_files(options.files, options.format)
    return CorpusInput(
        options.source_lang,
        options.target_lang,
        format=options.format,
        source_field=options.source_field,
        target_field=options.target_field,
        field_count=options.field_count,
        inline_tags=options.inline_tags,
        format_options=registry.given_options(dict(options)),
        input=both,
        source_input=source,
        target_input=target,
    )


def _as_given(options: CheckOptions) -> tuple[tuple[str, ...], ...]:
    """Return the files that are named by the options that jobs also have, as `pair_files` does.

    Raises:
        ConfigError: They do not form one corpus.
    """
    if options.files:
        raise ConfigError(
            f"{options.files[0]}: give the files after check, or with --input, --source_input and "
            "--target_input, not both"
        )
    sides = options.source_input, options.target_input
    if options.input and any(sides):
        raise ConfigError(
            "--input is for files with both sides of each pair, --source_input and --target_input "
            "for text line by line: give one of them"
        )
    if any(sides) and not all(sides):
        missing = "target_input" if sides[0] else "source_input"
        raise ConfigError(f"--{missing} is missing: give the files of both sides")
    return options.input, *sides
