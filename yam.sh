. /tmp/hc/env.sh
t() { printf '%s\n' "$2" > "y.yaml"; echo "--- $1"; timeout 100 nice -n 10 /work/wt/hc/.venv/bin/python -m pairweave.pipelines.cli refresh --config y.yaml --output ty --plan_only 2>&1 | tail -4 | cut -c1-400; }
cd /tmp/hc
B='job: augment
source_lang: en
target_lang: de'
C='corpora:
- {corpus: news, source_input: in/a*.en, target_input: in/a*.de}'
t no "job: augment
source_lang: en
target_lang: no
$C"
t no-quoted "job: augment
source_lang: en
target_lang: 'no'
$C"
t dates "$B
corpora:
- {corpus: 2024-01-01, source_input: in/a*.en, target_input: in/a*.de}"
t licence_num "$B
corpora:
- {corpus: news, licence: 1.0, source_input: in/a*.en, target_input: in/a*.de}"
t corpus_octal "$B
corpora:
- {corpus: 012, source_input: in/a*.en, target_input: in/a*.de}"
t corpus_on "$B
corpora:
- {corpus: on, source_input: in/a*.en, target_input: in/a*.de}"
t nokey "$B
no: 1
$C"
t intkey "$B
1: 1
$C"
t corpusintkey "$B
corpora:
- {1: news, source_input: in/a*.en, target_input: in/a*.de}"
t emptycorpora "$B
corpora: []"
t nullcorpora "$B
corpora:"
t strcorpora "$B
corpora: news"
t dictcorpora "$B
corpora: {news: {source_input: x}}"
t strcorpus "$B
corpora: [news]"
t emptyinput "$B
corpora:
- {corpus: news, source_input: [], target_input: []}"
t gates_list "$B
gates: []
$C"
t gates_no "$B
gates: {max_rejected: no}
$C"
t gates_str "$B
gates: {max_rejected: '0.4'}
$C"
t gates_sexa "$B
gates: {min_pairs: 1:30}
$C"
t gates_nan "$B
gates: {max_rejected: .nan, max_drift: .nan, min_tags: .nan, max_count_factor: .nan}
$C"
t gates_intkey "$B
gates: {1: 2}
$C"
t gates_reason_intkey "$B
gates: {max_reason: {1: 0.2}}
$C"
t gates_empty "$B
gates:
$C"
t refit0 "$B
refit_growth: 0
$C"
t refitstr "$B
refit_growth: yes
$C"
t refitnan "$B
refit_growth: .nan
$C"
t job_list "job: [augment]
$C"
t tab "$B
	gates: {}
$C"
t dupcorpus "$B
corpora:
- {corpus: news, source_input: in/a*.en, target_input: in/a*.de}
- {corpus: news, source_input: in/b*.en, target_input: in/b*.de}"
t dupcorpus_lic "$B
corpora:
- {corpus: news, licence: a, source_input: in/a*.en, target_input: in/a*.de}
- {corpus: news, licence: b, source_input: in/b*.en, target_input: in/b*.de}"
t merge "$B
x: &x {source_input: in/a*.en, target_input: in/a*.de}
corpora:
- {<<: *x, corpus: news}"
t anchor "$B
corpora:
- &x {corpus: news, source_input: in/a*.en, target_input: in/a*.de}
- {<<: *x, corpus: help}"
t multi "$B
---
$C"
