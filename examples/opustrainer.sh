#!/bin/sh
# An export with links, read by OpusTrainer: its modifier Tags turns one linked word in two into a hint.
# usage: examples/opustrainer.sh tagged/ work/ [options of opustrainer-train, such as --do-not-resume]
# OPUSTRAINER is the program; TRAINER is the command that it feeds, such as "tee fed.tsv" for a look at the lines.
# Run again with the same work/, it goes on where training was stopped; after its end only --do-not-resume starts it anew.
set -eu
run=$1 work=$2
shift 2
mkdir -p "$work"
work=$(cd "$work" && pwd)  # OpusTrainer looks for files beside the YAML file
[ -e "$work/data" ] || "${PAIRWEAVE:-pairweave}" export "$run" --format opustrainer --alignment whitespace \
  --kinds tagged --shuffle true --output "$work/data"
cat >"$work/stages.yml" <<YAML
datasets:
  tagged: $work/data/tagged.opustrainer.tsv
stages: [start]
start:
- tagged 1.0
- until tagged 1
modifiers:
- Tags: 0.5
seed: 1
num_fields: 3
trainer: ${TRAINER:-marian --tsv --tsv-fields 2 -t stdin}
YAML
"${OPUSTRAINER:-opustrainer-train}" --config "$work/stages.yml" --sync --temporary-directory "$work" "$@"
