"""Values of the histograms of a shard, pair by pair (`transforms.output.shard_histograms`)."""

from collections import Counter, defaultdict

from pairweave.transforms.counts.histograms import HISTOGRAMS


def histograms(kept, table, data):
    """Return by facet and corpus how many values are in each bar, as a dictionary of dictionaries.

    Args:
        kept: Rows with ``corpus``, ``source`` and ``target``.
        table: Rows with tokens and links, or none.
        data: Rows with tags, or none.
    """
    bars = defaultdict(lambda: defaultdict(Counter))

    def add(facet, corpus, value):
        bar = 0
        while bar < len(HISTOGRAMS[facet].edges) and value >= HISTOGRAMS[facet].edges[bar]:
            bar += 1
        bars[facet][corpus][bar] += 1

    for row in kept:
        sizes = len(row["source"]), len(row["target"])
        add("source_length", row["corpus"], sizes[0])
        add("target_length", row["corpus"], sizes[1])
        add("ratio", row["corpus"], 100 * sizes[1] // max(1, sizes[0]))
    tables = {row["id"]: row for row in table}
    for row in kept:
        if row["id"] in tables:
            add_links(add, tables[row["id"]])
    for row in data:
        if row["tags"]:
            add_tags(add, row, tables[row["id"]])
    return {
        facet: {corpus: dict(counts) for corpus, counts in corpora.items()}
        for facet, corpora in bars.items()
    }


def add_links(add, row):
    """Add the confidence and the coverage of a pair."""
    links = row["links"]
    if links:
        millionths = sum(round(link["probability"] * 1e6) for link in links)
        add("confidence", row["corpus"], millionths // (10_000 * len(links)))
    sides = ("source", "target")
    tokens = sum(len(row[f"{side}_tokens"]) for side in sides)
    linked = sum(len({link[side] for link in links}) for side in sides)
    if tokens:
        add("coverage", row["corpus"], 100 * linked // tokens)


def add_tags(add, row, pair):
    """Add the tags of a row: their number, their spans and how deep they lie."""
    tags = row["tags"]
    add("tags", row["corpus"], len({tag["index"] for tag in tags}))
    around = [
        range(tag["source_start"], tag["source_end"])
        for tag in tags
        if tag["source_start"] < tag["source_end"]
    ]
    depth = Counter(place for span in around for place in span)
    add("depth", row["corpus"], max(depth.values(), default=0))
    for span in around:
        inside = [
            token
            for token in pair["source_tokens"]
            if token["start"] in span and token["start"] < token["end"]
        ]
        add("span", row["corpus"], len(inside))
