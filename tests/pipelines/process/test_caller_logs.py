import logging

from pairweave.pipelines.process import caller_logs

ROOT = logging.getLogger()


def test_a_record_in_a_block_sets_up_nothing(monkeypatch, capsys):
    monkeypatch.setattr(ROOT, "handlers", [])
    with caller_logs.not_set_up():
        logging.warning("from a library")
    assert ROOT.handlers == []
    assert capsys.readouterr().err == ""


def test_blocks_that_overlap_set_up_nothing_until_the_last_one_ends(monkeypatch):
    monkeypatch.setattr(ROOT, "handlers", [])
    first, second = caller_logs.not_set_up(), caller_logs.not_set_up()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    logging.warning("from a library")
    second.__exit__(None, None, None)
    assert ROOT.handlers == []
