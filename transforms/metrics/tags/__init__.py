"""Metrics of tags in translations: positions, spans, failures, XML, and sheets for judges."""
