"""Neural scores of pairs: YiSi-2, its idf and projection, a language model, margins."""
