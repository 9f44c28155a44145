"""The order of words by dictionaries: a class trigram model, discounted by 1 and interpolated."""

import math
from collections import Counter

FREQUENT, LETTERS = 300, 2
BEGIN, END = "<", ">"


def class_of(word, frequent):
    """Return the class of a folded word."""
    if word in frequent:
        return "word", word
    return "digits" if "0" <= word[0] <= "9" else word[-LETTERS:]


class SlowOrder:
    """Counts of n-grams, as tuples of classes."""

    def __init__(self, texts, frequent):
        """Count texts, lists of folded words."""
        self._frequent = frequent
        self._grams = [Counter(), Counter(), Counter()]
        for text in texts:
            classes = self._classes(text)
            for place in range(2, len(classes)):
                for order in range(3):
                    self._grams[order][tuple(classes[place - order : place + 1])] += 1
        self._contexts = [Counter(), Counter(), Counter()]
        self._kinds = [Counter(), Counter(), Counter()]
        for order in range(3):
            for gram, count in self._grams[order].items():
                self._contexts[order][gram[:-1]] += count
                self._kinds[order][gram[:-1]] += 1

    def _classes(self, text):
        return [BEGIN, BEGIN, *(class_of(word, self._frequent) for word in text), END]

    def chance(self, gram):
        """Return the probability of the last class of a gram after those before it."""
        order, before = len(gram) - 1, gram[:-1]
        total = self._contexts[order][before] + 1
        own = max(self._grams[order][gram] - 1, 0) / total
        if not order:
            return max(self._grams[0][gram], 1) / total
        return own + (self._kinds[order][before] + 1) / total * self.chance(gram[1:])

    def roughness(self, text):
        """Return how unusual the order of a text's words is."""
        classes = self._classes(text)
        lost = [
            math.log(self.chance((classes[place],)) / self.chance(tuple(classes[place - 2 :][:3])))
            for place in range(2, len(classes))
        ]
        return sum(max(each, 0) for each in lost) / len(lost)
