"""The parts of ``bitext`` other than the aligner: parallel text, a splitter, an encoder."""

from pairweave.models.sentences import sentence_encoder_reference
from pairweave.models.sentences.sentence_encoder_reference import SentenceEncoderReference
from pairweave.pipelines.job_options.bitext_options import BitextOptions
from pairweave.pipelines.parts.part import Part, Planning, Settled, files_facts
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.sentences.splitting import splitting_of
from pairweave.transforms.text.iso_languages import UNDETERMINED
from pairweave.transforms.units import CorpusInput, Plan


def _plan_parallel_text(options: BitextOptions, planning: Planning) -> Settled[Plan | None]:
    """Plan the text, and hash its files."""
    names = (*options.parallel_source_input, *options.parallel_target_input)
    settings = {"parallel": files_facts(names)}
    if not options.parallel_source_input:
        return Settled(None, settings=settings)
    unit = planning.plan.units[0]
    corpus = CorpusInput(
        source_lang=unit.source_lang or UNDETERMINED,
        target_lang=unit.target_lang,
        source_input=options.parallel_source_input,
        target_input=options.parallel_target_input,
        c1_controls=options.c1_controls,
    )
    plan = make_plan([corpus], planning.limits, options.unit_rows)
    return Settled(plan, settings=settings)


PARALLEL_TEXT = Part("parallel_text", _plan_parallel_text)
"""The line-parallel text that the aligner is fitted on too; None if there is none."""


def _plan_sentences(
    options: BitextOptions, planning: Planning
) -> Settled[SentenceEncoderReference | None]:
    """Find the encoder, and name the splitter.

    Raises:
        ConfigError: There is no such model or layer, or the extra ``neural`` is not installed.
    """
    settings: dict[str, object] = {}
    if options.split != "none":
        settings["splitter"] = splitting_of(options.split).splitter
    if options.fits_alone:
        settings["min_document_gain"] = options.min_document_gain
    if options.scorer == "words" or options.encoder is None:
        return Settled(None, settings=settings | options.least_scores)
    encoder = sentence_encoder_reference.find(
        options.encoder, options.layer, options.revision, options.similarity
    )
    settings |= {"encoder": encoder.digest, "layer": encoder.config.layer}
    settings |= options.least_scores
    return Settled(encoder, settings=settings, models=(encoder,))


SENTENCES = Part("sentences", _plan_sentences)
"""How documents are split and compared; the encoder that scores pairs, if there is one."""
