"""The counters and histograms of receipts and manifests, declared with their meanings."""
