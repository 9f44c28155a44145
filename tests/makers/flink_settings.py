"""Settings of Flink clusters whose jobs are meant to fail."""

RESTART_ONCE = """
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: 1
restart-strategy.fixed-delay.delay: 1 s
"""


def restart_once(directory):
    """Write settings with which a failed job is restarted once, after a second.

    Returns:
        Their directory, for `--flink_conf_dir`.
    """
    directory.mkdir()
    (directory / "flink-conf.yaml").write_text(RESTART_ONCE)
    return directory
