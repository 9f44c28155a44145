"""Both backends on small models made here: CTranslate2's is converted from transformers'."""

import json
import shutil
import struct

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")
pytest.importorskip("ctranslate2", reason="needs the extra `translate`")

from pairweave.models.encoder.batching import Budget  # noqa: E402
from pairweave.models.model_store import LoadedOnce  # noqa: E402
from pairweave.models.translators import (  # noqa: E402
    translator_ctranslate2,
    translator_reference,
    translator_transformers,
)
from pairweave.models.translators.translator import Rejection, TranslatorConfig  # noqa: E402
from pairweave.transforms.errors import ConfigError  # noqa: E402
from pairweave.transforms.rejects import Reject  # noqa: E402
from tests.makers import corpora, translators  # noqa: E402
from tests.makers.made_once import made_once  # noqa: E402

PAIRS = [corpora.sentence(number) for number in range(600)]
SOURCES = [corpora.sentence(number)[0] for number in range(1_000, 1_050)]
TARGETS = [corpora.sentence(number)[1] for number in range(1_000, 1_050)]
FAMILIES = {
    "marian": (translators.write_marian, ["source.spm", "target.spm"]),
    "m2m": (translators.write_m2m, ["sentencepiece.bpe.model"]),
    "nllb": (translators.write_nllb, ["tokenizer.json"]),
}
BACKENDS = {"transformers": translator_transformers, "ctranslate2": translator_ctranslate2}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a small model of each family, in both formats."""

    def make(directory):
        for name, (write, files) in FAMILIES.items():
            write(directory / name, PAIRS)
            translators.convert(directory / name, directory / f"{name}-ctranslate2", files)

    return made_once(tmp_path_factory, "translators", make)


@pytest.fixture(scope="module")
def load(directory):
    """Return a function that loads a model, each only once."""
    loaded = {}

    def loading(family, backend, **settings):
        path = directory / (family if backend == "transformers" else f"{family}-ctranslate2")
        settings = {"beam_size": 1, "max_translation_tokens": 60, **settings}
        config = TranslatorConfig(backend, str(path), **settings)
        if config not in loaded:
            loaded[config] = BACKENDS[backend].load(config)
        return loaded[config]

    return loading


def reasons(found):
    return [one.reason if isinstance(one, Rejection) else None for one in found]


@pytest.mark.parametrize("family", FAMILIES)
def test_both_backends_translate_alike(load, family):
    actual = [load(family, backend).translate(SOURCES, "en", "de") for backend in BACKENDS]
    assert actual[0] == actual[1]
    texts = [text for text in actual[0] if isinstance(text, str)]
    assert len(texts) > 40
    assert sum(text.endswith("Mal.") for text in texts) > 30
    assert not any(mark in text for text in texts for mark in ("</s>", "__", "_Latn", "▁", "<"))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_threads_change_nothing(load, family, backend):
    alone = load(family, backend, beam_size=2, translator_batch_tokens=60)
    several = BACKENDS[backend].load(alone._config, 4)
    assert several._engine.threads == 4
    sources, targets = SOURCES[:20], TARGETS[:20]
    wanted = alone.translate(sources, "en", "de")
    assert several.translate(sources, "en", "de") == wanted
    scores = [it.score(sources, targets, "en", "de") for it in (alone, several)]
    assert np.array_equal(*scores, equal_nan=True)


@pytest.mark.parametrize("family", FAMILIES)
def test_both_backends_score_alike(load, family):
    first, second = (
        load(family, backend).score(SOURCES, TARGETS, "en", "de") for backend in BACKENDS
    )
    assert first.dtype == np.float32
    np.testing.assert_allclose(first, second, atol=1e-5)
    assert (first < 0).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_score_is_the_mean_log_probability_of_the_pieces_and_the_end(load, directory, backend):
    transformers = pytest.importorskip("transformers")
    model = transformers.MarianMTModel.from_pretrained(directory / "marian").eval()
    vocabulary = json.loads((directory / "marian" / "vocab.json").read_text())
    cut = load("marian", backend)._pieces.cut
    source, target = (
        torch.tensor([[vocabulary[piece] for piece in cut([text])[0]] + [0]])
        for text in (SOURCES[0], TARGETS[0])
    )
    with torch.no_grad():
        logits = model(input_ids=source, labels=target).logits[0]
    logits[:, vocabulary["<pad>"]] = -torch.inf
    steps = logits.log_softmax(-1)
    wanted = sum(steps[place, piece].item() for place, piece in enumerate(target[0]))
    actual = load("marian", backend).score(SOURCES[:1], TARGETS[:1], "en", "de")
    assert actual[0] == pytest.approx(wanted / target.shape[1], abs=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_better_translation_scores_higher(load, backend):
    translator = load("marian", backend)
    right = translator.score(SOURCES, TARGETS, "en", "de")
    wrong = translator.score(
        SOURCES, ["Mal Mal Mal das das Zug Wolke" for _ in SOURCES], "en", "de"
    )
    assert (right > wrong).all()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_translation_does_not_hang_on_its_batch(load, family, backend, beam_size):
    whole = load(family, backend, beam_size=beam_size).translate(SOURCES, "en", "de")
    small = load(family, backend, beam_size=beam_size, translator_batch_tokens=1)
    assert small.translate(SOURCES[:12], "en", "de") == whole[:12]
    turned = load(family, backend, beam_size=beam_size).translate(SOURCES[::-1], "en", "de")
    assert turned[::-1] == whole


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_source_over_the_limit_is_rejected_and_never_cut(load, backend):
    translator = load("marian", backend, translator_source_tokens=20)
    pieces = len(translator._pieces.cut(SOURCES[:1])[0]) + 1
    assert pieces > 20
    (actual,) = translator.translate(SOURCES[:1], "en", "de")
    assert actual == Rejection(
        Reject.TOO_LONG_FOR_TRANSLATOR,
        f"{pieces} pieces including special ones; the translator's limit is 20",
    )
    just = load("marian", backend, translator_source_tokens=pieces)
    assert reasons(just.translate(SOURCES[:1], "en", "de")) == [None]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_models_own_positions_are_a_limit(load, family, backend):
    translator = load(family, backend)
    assert translator.source_limit == 64
    actual = translator.translate(["a " * 500, SOURCES[0]], "en", "de")
    assert reasons(actual)[0] == Reject.TOO_LONG_FOR_TRANSLATOR
    special = 1 if family == "marian" else 2
    texts = [" ".join(SOURCES)[:size] for size in range(600)]
    sizes = [len(cut) + special for cut in translator._pieces.cut(texts)]
    for size in (64, 65):
        text = texts[sizes.index(size)]
        over = (
            reasons(translator.translate([text], "en", "de"))[0] == Reject.TOO_LONG_FOR_TRANSLATOR
        )
        assert over == (size > 64)
    scores = translator.score(["a " * 500, SOURCES[0]], ["a", "a " * 500], "en", "de")
    assert np.isnan(scores).all()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_translation_that_goes_on_is_rejected(load, family, backend):
    translator = load(family, backend)
    source = SOURCES[0]
    before, prefix = translator._languages.prefixes("en", "de")
    (pieces,) = translator._pieces.cut([source])
    (actual,) = translator._engine.search([[*before, *pieces, "</s>"]], prefix, 1, 60)
    size = len(actual.pieces)
    assert actual.ended
    whole = load(family, backend, max_translation_tokens=size).translate([source], "en", "de")
    assert whole == [translator._pieces.join(actual.pieces)]
    short = load(family, backend, max_translation_tokens=size - 1).translate([source], "en", "de")
    detail = f"not finished after {size - 1} pieces, the limit"
    assert short == [Rejection(Reject.UNFINISHED_TRANSLATION, detail)]


def test_the_longest_translation_fills_all_positions(directory, tmp_path):
    # A model that never ends: its end costs too much.
    shutil.copytree(directory / "marian", tmp_path / "endless")
    from safetensors.torch import load_file, save_file

    weights = load_file(tmp_path / "endless" / "model.safetensors")
    weights["final_logits_bias"][0, 0] = -1e4
    save_file(weights, tmp_path / "endless" / "model.safetensors", metadata={"format": "pt"})
    translators.convert(
        tmp_path / "endless", tmp_path / "endless-ctranslate2", FAMILIES["marian"][1]
    )
    for backend, name in (("transformers", "endless"), ("ctranslate2", "endless-ctranslate2")):
        config = TranslatorConfig(
            backend, str(tmp_path / name), beam_size=1, max_translation_tokens=4_096
        )
        actual = BACKENDS[backend].load(config).translate(SOURCES[:2], "en", "de")
        assert reasons(actual) == [Reject.UNFINISHED_TRANSLATION] * 2
        assert actual[0].detail == "not finished after 63 pieces, the limit"


def test_a_source_that_the_library_ends_is_not_ended_twice(directory, load, tmp_path):
    shutil.copytree(directory / "marian-ctranslate2", tmp_path / "m")
    path = tmp_path / "m" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "add_source_eos": True}))
    config = TranslatorConfig(
        "ctranslate2", str(tmp_path / "m"), beam_size=1, max_translation_tokens=60
    )
    actual = translator_ctranslate2.load(config)
    assert actual.source_limit == 63
    wanted = load("marian", "ctranslate2")
    assert actual.translate(SOURCES, "en", "de") == wanted.translate(SOURCES, "en", "de")


@pytest.mark.parametrize("backend", BACKENDS)
def test_memory_that_runs_out_halves_the_batch(load, backend, monkeypatch):
    translator = load("marian", backend, translator_batch_tokens=2_000)
    wanted = translator.translate(SOURCES, "en", "de")
    search, sizes = translator._engine.search, []

    def scarce(sources, *rest):
        sizes.append(len(sources))
        if len(sources) > 5:
            raise translator._engine.out_of_memory[0]("out of memory")
        return search(sources, *rest)

    monkeypatch.setattr(translator._engine, "search", scarce)
    monkeypatch.setattr(translator, "budget", Budget(2_000, translator._engine.out_of_memory))
    assert translator.translate(SOURCES, "en", "de") == wanted
    assert max(sizes) > 5
    assert translator.budget.halvings > 0


def test_the_library_s_words_for_memory_are_understood(load, monkeypatch):
    translator = load("marian", "ctranslate2")

    class Full:
        def translate_batch(self, *_arguments, **_settings):
            raise RuntimeError("CUDA failed with error out of memory")

    monkeypatch.setattr(translator._engine, "_translator", Full())
    with pytest.raises(translator_ctranslate2.OutOfMemoryError):
        translator.translate(SOURCES[:1], "en", "de")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_text_that_looks_like_a_special_token_is_text(load, family, backend):
    translator = load(family, backend)
    for text in (">>fra<< a", "</s>", "<pad>", "__de__ a", "deu_Latn"):
        (pieces,) = translator._pieces.cut([text])
        assert not {">>fra<<", "</s>", "<pad>", "__de__", "deu_Latn"} & set(pieces)


def test_a_multilingual_opus_model_is_told_its_target(tmp_path):
    translators.write_marian(tmp_path / "m", PAIRS, languages=("deu", "fra"), steps=60)
    translators.convert(tmp_path / "m", tmp_path / "c", FAMILIES["marian"][1])
    actual = []
    for backend, name in (("transformers", "m"), ("ctranslate2", "c")):
        config = TranslatorConfig(
            backend, str(tmp_path / name), beam_size=1, max_translation_tokens=60
        )
        translator = BACKENDS[backend].load(config)
        actual.append(translator.translate(SOURCES[:10], "en", "de"))
        german, french = (
            translator.score(SOURCES[:10], TARGETS[:10], "en", tag) for tag in ("de", "fr")
        )
        assert (german != french).all()
        with pytest.raises(ConfigError, match="--target_lang sw: the translator does not know"):
            translator.translate(SOURCES[:1], "en", "sw")
    assert actual[0] == actual[1]


def test_the_digest_names_what_decides_translations_and_no_place(directory, tmp_path):
    for backend, name in (("transformers", "marian"), ("ctranslate2", "marian-ctranslate2")):
        inspect = BACKENDS[backend].inspect
        config = TranslatorConfig(backend, str(directory / name))
        shutil.copytree(directory / name, tmp_path / name)
        moved = TranslatorConfig(
            backend, str(tmp_path / name), translator_batch_tokens=7, device="cpu"
        )
        assert inspect(config).digest == inspect(moved).digest
        others = [
            TranslatorConfig(backend, str(directory / name), **{key: value})
            for key, value in (
                *(("beam_size", 5), ("max_translation_tokens", 9), ("translator_source_tokens", 9)),
                ("translator_precision", "bf16"),
            )
        ]
        assert len({inspect(one).digest for one in (config, *others)}) == 5
        with (tmp_path / name / "source.spm").open("ab") as file:
            file.write(b"")
        (tmp_path / name / "tokenizer_config.json").write_text('{"source_lang": "en"}')
        assert inspect(moved).digest != inspect(config).digest


def test_another_precision_is_another_arithmetic(load):
    # int8 needs no GPU. Which words survive it depends on the CPU's own int8 arithmetic, which on
    # some CPUs saturates; the shape of a sentence survives it everywhere.
    exact = load("marian", "ctranslate2").translate(SOURCES, "en", "de")
    rough = load("marian", "ctranslate2", translator_precision="int8").translate(
        SOURCES, "en", "de"
    )
    assert rough != exact
    assert sum(str(text).endswith("Mal.") for text in rough) > 30
    first_words = (
        str(one).split()[:2] == str(other).split()[:2]
        for one, other in zip(exact, rough, strict=True)
    )
    assert sum(first_words) > 30
    with pytest.raises(ConfigError, match="fp16"):
        load("marian", "transformers", translator_precision="fp16", device="cpu")
    with pytest.raises(ConfigError, match="--translator_precision fp16: this cpu has fp32"):
        load("marian", "ctranslate2", translator_precision="fp16", device="cpu")
    assert (
        len(
            load("marian", "transformers", translator_precision="bf16").translate(
                SOURCES, "en", "de"
            )
        )
        == 50
    )


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: (path / "model.bin").unlink(), "not a CTranslate2 model"),
        (lambda path: (path / "source.spm").unlink(), "no tokenizer for the model's pieces"),
        (lambda path: (path / "source.spm").write_bytes(b"x"), "not a SentencePiece model"),
        (lambda path: (path / "shared_vocabulary.json").unlink(), "no vocabulary"),
        (lambda path: (path / "shared_vocabulary.json").write_text("{"), "no vocabulary"),
        (lambda path: (path / "config.json").write_text("[]"), "expected a JSON object"),
        (lambda path: (path / "model.bin").write_bytes(b"PK"), "or a damaged one"),
        (
            lambda path: (path / "model.bin").write_bytes(struct.pack("<I", 2)),
            "made by an old version of CTranslate2",
        ),
        (
            lambda path: (path / "model.bin").write_bytes(
                (path / "model.bin").read_bytes()[:5_000]
            ),
            "cut off inside",
        ),
    ],
)
def test_a_broken_model_of_ctranslate2_is_refused_by_name(directory, tmp_path, spoil, message):
    shutil.copytree(directory / "marian-ctranslate2", tmp_path / "m")
    spoil(tmp_path / "m")
    config = TranslatorConfig("ctranslate2", str(tmp_path / "m"))
    with pytest.raises(ConfigError, match=message):
        translator_reference.find(config, [("en", "de")])


def test_only_safe_weights_of_known_families_are_read(directory, tmp_path):
    shutil.copytree(directory / "marian", tmp_path / "m")
    config = TranslatorConfig("transformers", str(tmp_path / "m"))
    (tmp_path / "m" / "model.safetensors").rename(tmp_path / "m" / "pytorch_model.bin")
    with pytest.raises(ConfigError, match="pairweave reads safetensors only"):
        translator_reference.find(config, [])
    (tmp_path / "m" / "pytorch_model.bin").rename(tmp_path / "m" / "model.safetensors")
    settings = json.loads((tmp_path / "m" / "config.json").read_text())
    (tmp_path / "m" / "config.json").write_text(json.dumps({**settings, "model_type": "t5"}))
    with pytest.raises(ConfigError, match="a t5 model; translators are MarianMT, M2M-100 and NLLB"):
        translator_reference.find(config, [])


def test_weights_that_do_not_fit_are_refused(directory, tmp_path):
    shutil.copytree(directory / "marian", tmp_path / "m")
    settings = json.loads((tmp_path / "m" / "config.json").read_text())
    (tmp_path / "m" / "config.json").write_text(json.dumps({**settings, "encoder_layers": 3}))
    with pytest.raises(ConfigError, match=r"do not fit config.json: \d+ missing"):
        translator_transformers.load(TranslatorConfig("transformers", str(tmp_path / "m")))


def test_a_translator_is_loaded_once_and_must_be_the_planned_one(directory, monkeypatch):
    monkeypatch.setattr(translator_reference.STORE, "held", LoadedOnce())
    path = directory / "marian-ctranslate2"
    reference = translator_reference.find(
        TranslatorConfig("ctranslate2", str(path)), [("en", "de")]
    )
    first = translator_reference.translate(reference, SOURCES[:2], "en", "de")
    (loaded,) = translator_reference.STORE.held.values()
    assert loaded.digest == reference.digest
    assert translator_reference.translate(reference, SOURCES[:2], "en", "de") == first
    assert translator_reference.score(reference, SOURCES[:2], first, "en", "de").shape == (2,)
    assert list(translator_reference.STORE.held.values()) == [loaded]
    other = translator_reference.TranslatorReference(reference.config, "0" * 64)
    with pytest.raises(ConfigError, match="not the translator that the run was planned with"):
        translator_reference.translate(other, SOURCES[:2], "en", "de")


def test_the_model_s_own_settings_of_a_search_are_not_taken(directory, tmp_path):
    shutil.copytree(directory / "marian", tmp_path / "m")
    path = tmp_path / "m" / "generation_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "max_length": 3, "num_beams": 2}))
    config = TranslatorConfig(
        "transformers", str(tmp_path / "m"), beam_size=1, max_translation_tokens=60
    )
    same = TranslatorConfig(
        "transformers", str(directory / "marian"), beam_size=1, max_translation_tokens=60
    )
    actual, wanted = (
        translator_transformers.load(one).translate(SOURCES[:5], "en", "de")
        for one in (config, same)
    )
    assert actual == wanted
