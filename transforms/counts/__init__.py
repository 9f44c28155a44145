"""The counters and histograms of receipts and manifests, declared with what they mean."""
