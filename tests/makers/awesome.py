"""awesome-align 0.1.7's own model and extraction, driven on weights of ours."""

import itertools

import pytest
import torch
from safetensors.torch import load_file
from torch.nn.utils.rnn import pad_sequence


class AwesomeAlign:
    """Aligns white-space tokens as its command does, in batches of 32 in the given order."""

    def __init__(self, directory, device="cpu"):
        """Load a BERT that transformers saved."""
        self.device = torch.device(device)
        reason = "needs the extra `awesome`"
        self.modeling = pytest.importorskip("awesome_align.modeling", reason=reason)
        from awesome_align.configuration_bert import BertConfig
        from awesome_align.tokenization_bert import BertTokenizer

        self.tokenizer = BertTokenizer(str(directory / "vocab.txt"), do_lower_case=False)
        config = BertConfig.from_json_file(str(directory / "config.json"))
        self.model = self.modeling.BertForMaskedLM(config)
        report = self.model.bert.load_state_dict(
            load_file(directory / "model.safetensors"), strict=False
        )
        assert not report.missing_keys
        self.model.eval().to(self.device)

    def prepare(self, text):
        """Return a sentence's pieces with the special ones, and the word of each piece."""
        cut = [self.tokenizer.tokenize(word) for word in text.split()]
        ids = self.tokenizer.convert_tokens_to_ids(list(itertools.chain(*cut)))
        dressed = [self.tokenizer.cls_token_id, *ids, self.tokenizer.sep_token_id]
        return torch.tensor(dressed), [word for word, pieces in enumerate(cut) for _ in pieces]

    def links(self, pairs, layer, extraction, batch=32):
        """Return the links of each pair, as sets."""
        padding = self.tokenizer.pad_token_id
        self.modeling.PAD_ID = padding
        self.modeling.CLS_ID = self.tokenizer.cls_token_id
        self.modeling.SEP_ID = self.tokenizer.sep_token_id
        links_of_pairs = []
        for start in range(0, len(pairs), batch):
            sides = zip(*pairs[start : start + batch], strict=True)
            (source, source_words), (target, target_words) = (
                zip(*map(self.prepare, side), strict=True) for side in sides
            )
            with torch.no_grad():
                links_of_pairs += self.model.get_aligned_word(
                    pad_sequence(source, batch_first=True, padding_value=padding),
                    pad_sequence(target, batch_first=True, padding_value=padding),
                    source_words,
                    target_words,
                    self.device,
                    0,
                    0,
                    align_layer=layer,
                    extraction=extraction,
                    softmax_threshold=0.001,
                    test=True,
                )
        return [{(int(i), int(j)) for i, j in links} for links in links_of_pairs]
