"""Small ablations: files, configurations, and units as if they had been trained."""

import yaml

from pairweave.pipelines.ablation.ablation_files import write_packed
from pairweave.pipelines.ablation.units import facts, scores, unit_path
from pairweave.transforms.formats.wets import NOTHING
from pairweave.transforms.symbols.mask import MASK

WORDS = ("tree", "house", "river", "stone", "cloud", "bird", "road", "wall", "lamp", "field")
GERMAN = ("Baum", "Haus", "Fluss", "Stein", "Wolke", "Vogel", "Weg", "Wand", "Lampe", "Feld")

SIZE = {
    "like": "toy",
    "dimension": 16,
    "heads": 2,
    "feed_forward": 32,
    "steps": 30,
    "batch_tokens": 200,
    "warmup_steps": 5,
    "checkpoint_steps": 5,
}


def sentence(number, words, *, tagged=False):
    """Return a sentence that belongs to a number."""
    chosen = [words[number // 10**place % 10] for place in range(4)]
    if tagged:
        chosen[1] = f"<b>{chosen[1]}</b>"
    return " ".join([*chosen, str(number)])


def write_pairs(directory, name, numbers, *, tagged=True):
    """Write line-parallel text, every second segment with a tag, and return its two paths."""
    paths = []
    for language, words in (("en", WORDS), ("de", GERMAN)):
        lines = [sentence(n, words, tagged=tagged and n % 2 == 0) for n in numbers]
        path = directory / f"{name}.{language}"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        paths.append(str(path))
    return {"source": paths[0], "target": paths[1], "syntax": "xml"}


def configuration(directory, **changed):
    """Return a configuration of two arms, whose files are written."""
    train = write_pairs(directory, "train", range(1_000, 1_060))
    return {
        "source_lang": "en",
        "target_lang": "de",
        "size": SIZE,
        "vocabulary": 120,
        "seeds": [1, 2],
        "baseline": "plain",
        "arms": {"plain": {"data": [{**train, "tags": "strip"}]}, "own": {"data": [train]}},
        "tests": {"help": write_pairs(directory, "test", range(2_000, 2_010))},
        **changed,
    }


def write_configuration(directory, made=configuration, **changed):
    """Write a configuration, of translations or of suggestions, and return its path."""
    path = directory / "ablation.yaml"
    path.write_text(yaml.safe_dump(made(directory, **changed), sort_keys=False), encoding="utf-8")
    return path


def write_unit(prepared, arm, seed, **changed):
    """Write a finished unit whose translations are the references, less a word for each seed."""
    translations = {
        name: [" ".join(line.split()[: -seed or None]) for line in test.references]
        for name, test in prepared.tests.items()
    }
    unit = {
        **facts(prepared, arm),
        "arm": arm,
        "seed": seed,
        "device": "cpu x86_64 AVX2 fp32",
        "start_weights": None,
        "packages": {"torch": "1"},
        "translations": translations,
        "scores": scores(prepared, translations),
        "losses": {"train": [3.0, 2.0], "dev": []},
        "run": {"seconds": 1.0, "resumed_at": 0},
        **changed,
    }
    path = unit_path(prepared.directory, arm, seed)
    path.parent.mkdir(exist_ok=True)
    write_packed(path, unit)
    return path


def write_golden(directory, name, numbers, *, empty=()):
    """Write suggestions in the format of WeTS for the second word, and return their paths.

    The suggestion for a number in ``empty`` is the symbol of an empty one.
    """
    sides = {"src": [], "mask": [], "tgt": []}
    for number in numbers:
        first, second, *others = sentence(number, GERMAN).split()
        sides["src"].append(sentence(number, WORDS))
        sides["mask"].append(" ".join([first, f" {MASK} ", *others]))
        sides["tgt"].append(NOTHING if number in empty else second)
    for ending, lines in sides.items():
        text = "".join(f"{line}\n" for line in lines)
        (directory / f"{name}.{ending}").write_text(text, encoding="utf-8")
    names = {"source": "src", "masked": "mask", "target": "tgt"}
    return {key: str(directory / f"{name}.{ending}") for key, ending in names.items()}


def suggestion_configuration(directory, **changed):
    """Return a configuration of an arm of golden suggestions and one that goes on to them."""
    train = write_pairs(directory, "train", range(1_000, 1_060), tagged=False)
    golden = write_golden(directory, "golden", range(3_000, 3_040))
    made = {
        "source_input": [train["source"]],
        "target_input": [train["target"]],
        "methods": "random,parallel",
    }
    return {
        "task": "suggestion",
        "source_lang": "en",
        "target_lang": "de",
        "size": SIZE,
        "vocabulary": 120,
        "seeds": [1, 2],
        "baseline": "golden",
        "arms": {
            "golden": {"data": [golden]},
            "made": {
                "data": [{"job": "suggest", "options": made}],
                "then": [{"data": [golden], "steps": 10}],
            },
        },
        "tests": {"wets": write_golden(directory, "test", range(2_000, 2_010), empty=(2_003,))},
        **changed,
    }
