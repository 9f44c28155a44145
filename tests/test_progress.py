import logging
import time

from pipelines.progress import Progress
from transforms import files
from transforms.write import shard_receipt_name, unit_receipt_name


def test_a_log_tells_units_shards_speed_and_time_left(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("pipelines.progress.LOCAL_SECONDS", 0.01)
    monkeypatch.setattr("pipelines.progress.LOG_SECONDS", 0.0)
    caplog.set_level(logging.INFO, logger="pairweave")
    output = str(tmp_path)
    model = files.join(output, "about.json")
    with Progress(output, units=2, shards=4, pairs=4000, model=model):
        time.sleep(0.1)
        for unit in range(2):
            files.write_bytes(files.join(output, unit_receipt_name(unit)), b"{}")
        time.sleep(0.1)
        files.write_bytes(model, b"{}")
        time.sleep(0.1)
        files.write_bytes(files.join(output, shard_receipt_name(0, 4)), b"{}")
        time.sleep(0.1)
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0] == "0 of 2 units read, shards 0 of 4, reading"
    assert "2 of 2 units read, shards 0 of 4, fitting the aligner" in lines
    assert "2 of 2 units read, shards 0 of 4" in lines
    assert lines[-1].startswith("2 of 2 units read, shards 1 of 4, ")
    assert lines[-1].endswith(" left")
    assert "pairs/s" in lines[-1]


def test_shards_of_an_earlier_attempt_do_not_count_as_speed(tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="pairweave")
    output = str(tmp_path)
    files.write_bytes(files.join(output, unit_receipt_name(0)), b"{}")
    files.write_bytes(files.join(output, shard_receipt_name(0, 2)), b"{}")
    with Progress(output, units=1, shards=2, pairs=100):
        pass
    assert caplog.records[-1].getMessage() == "1 of 1 units read, shards 1 of 2"
