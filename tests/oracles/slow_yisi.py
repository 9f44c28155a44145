"""YiSi-2, the left-to-right language model and the projection, one pair and one piece at a time."""

import math

import numpy as np
import torch
import transformers


class SlowYisi:
    """An encoder that transformers runs on one sentence at a time."""

    def __init__(self, directory, layer, masked=False):
        kind = transformers.AutoModelForMaskedLM if masked else transformers.AutoModel
        self.model = kind.from_pretrained(directory, attn_implementation="eager").eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
        self.layer = layer

    def pieces(self, text):
        """Return the pieces of a text, without special ones."""
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def vectors(self, text):
        """Return the vector of each piece: hidden state number ``layer``, 0 the embeddings."""
        given = self.tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            states = self.model(**given, output_hidden_states=True).hidden_states[self.layer]
        return states[0, 1:-1].double().numpy()  # one special piece at either end

    def first(self, text):
        """Return the vector of the special piece before a text."""
        given = self.tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            states = self.model(**given, output_hidden_states=True).hidden_states[self.layer]
        return states[0, 0].double().numpy()

    def idf(self, texts):
        """Return a function that gives the weight of a piece."""
        sets = [set(self.pieces(text)) for text in texts]

        def weight(piece):
            return math.log(1 + (len(sets) + 1) / (sum(piece in one for one in sets) + 1))

        return weight

    def score(self, source, target, source_idf, target_idf, alpha=0.5, matrix=None):
        """Return F, precision and recall of a pair."""
        rows, columns = self.vectors(source), self.vectors(target)
        if matrix is not None:
            rows = rows @ matrix
        weights = [source_idf(p) for p in self.pieces(source)]
        others = [target_idf(p) for p in self.pieces(target)]
        return score_of_vectors(rows, columns, weights, others, alpha)

    def mean_log_probability(self, text):
        """Return what the head says of each piece at a mask behind the pieces before it."""
        begin = self.tokenizer("")["input_ids"][:1]
        pieces = self.pieces(text)
        total = 0.0
        for place, piece in enumerate(pieces):
            given = torch.tensor([[*begin, *pieces[:place], self.tokenizer.mask_token_id]])
            width = given.shape[1]
            seen = torch.ones(width, width).tril()[None, None].bool()
            blocked = torch.zeros(seen.shape).masked_fill(~seen, torch.finfo(torch.float32).min)
            with torch.no_grad():
                logits = self.model(input_ids=given, attention_mask=blocked).logits[0, -1]
            total += float(logits.double().log_softmax(0)[piece])
        return total / len(pieces)


def score_of_vectors(rows, columns, weights, others, alpha=0.5):
    """Return F, precision and recall, given the vectors and weights of the pieces of both sides."""
    cosine = np.array([[_cosine(row, column) for column in columns] for row in rows])
    precision = _mean(cosine.max(axis=0), others)
    recall = _mean(cosine.max(axis=1), weights)
    if precision <= 0 or recall <= 0:
        return 0.0, precision, recall
    return precision * recall / (alpha * precision + (1 - alpha) * recall), precision, recall


def _cosine(one, other):
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))


def _mean(values, weights):
    return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)


def counterparts(rows, columns):
    """Return pairs of places that are each other's most similar, the first of equal ones."""
    cosine = [[_cosine(row, column) for column in columns] for row in rows]
    best_column = [max(range(len(columns)), key=lambda j: cosine[i][j]) for i in range(len(rows))]
    best_row = [max(range(len(rows)), key=lambda i: cosine[i][j]) for j in range(len(columns))]
    return [(i, j) for i, j in enumerate(best_column) if best_row[j] == i]
