#!/bin/sh
# New tags in every epoch, piped into Marian: source, target and links with tabs between.
# usage: examples/marian_tsv.sh tagged/ [epochs]
# TRAINER is the command that reads the lines.
set -eu
run=$1 epochs=${2:-10}
"${PAIRWEAVE:-pairweave}" stream "$run" --epochs "$epochs" --alignment whitespace | ${TRAINER:-marian \
  --tsv --tsv-fields 3 -t stdin --guided-alignment 2 --no-shuffle --after-epochs 1 \
  --vocabs model.spm model.spm --model model.npz}
