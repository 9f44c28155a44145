"""The engine `flink`: workers for a cluster."""
