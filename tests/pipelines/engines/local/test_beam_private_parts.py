"""Undocumented behaviour of Beam that the engines need: an upgrade of Beam fails here first."""

import ast
import importlib
import inspect
import re

import pytest

from tests.makers import runs

WATERMARKS = "apache_beam.runners.portability.fn_api_runner.watermark_manager"

# Each object, and the attributes, methods or parameters of it that are used.
PRIVATE_PARTS = {
    "apache_beam.runners.portability.fn_api_runner.fn_runner:FnApiRunner": [
        "run_via_runner_api",
        "_execute_bundle",
        "_get_bundle_manager",
        "get_cache_token_generator",
    ],
    "apache_beam.runners.portability.fn_api_runner.fn_runner:BundleManager": ["process_bundle"],
    "apache_beam.runners.portability.fn_api_runner.fn_runner:BundleManager.process_bundle": [
        "(inputs)",
        "(expected_outputs)",
        "(fired_timers)",
        "(expected_output_timers)",
        "(dry_run)",
    ],
    "apache_beam.runners.portability.fn_api_runner.fn_runner:consolidate_monitoring_infos": [],
    "apache_beam.runners.portability.fn_api_runner.execution:GroupingBuffer": [
        "append",
        "extend",
        "copy",
        "partition",
        "clear",
        "reset",
        "= _pre_grouped_coder",
        "= _post_grouped_coder",
        "= _key_coder",
        "= _windowing",
        "= _table",
    ],
    "apache_beam.runners.portability.fn_api_runner.execution:BundleContextManager": [
        "worker_handlers",
        "get_buffer",
        "= _worker_handlers",
    ],
    f"{WATERMARKS}:WatermarkManager": [
        "get_stage_node",
        "= _pcollections_by_name",
    ],
    f"{WATERMARKS}:WatermarkManager.PCollectionNode": [
        "set_produced_watermark",
        "upstream_watermark",
        "= producers",
        "= _produced_watermark",
    ],
    "apache_beam.runners.portability.fn_api_runner.worker_handlers": ["DATA_BUFFER_TIME_LIMIT_MS"],
    "apache_beam.runners.portability.fn_api_runner.worker_handlers:WorkerHandler": [
        "register_environment",
        "start_worker",
        "stop_worker",
        "close",
    ],
    "apache_beam.runners.portability.fn_api_runner.worker_handlers:GrpcWorkerHandler": [
        "port_from_worker",
        "= control_conn",
        "= data_conn",
        "= control_address",
    ],
    "apache_beam.runners.portability.fn_api_runner.worker_handlers:ControlConnection": [
        "push",
        "= _futures_by_id",
    ],
    "apache_beam.runners.portability.fn_api_runner.worker_handlers:ControlFuture": ["abort"],
    "apache_beam.runners.worker.data_plane:_GrpcDataChannel": ["= _exception"],
    "apache_beam.runners.worker.sdk_worker_main:main": [],
    "apache_beam.runners.worker.channel_factory:GRPCChannelFactory": ["insecure_channel"],
    "apache_beam.portability.python_urns": ["SUBPROCESS_SDK"],
    "apache_beam.utils.multi_process_shared": ["AUTH_KEY"],
    "apache_beam.transforms.core": ["_DoFnParam"],
    "apache_beam.transforms.ptransform": ["_NamedPTransform"],
}

# Where each part of Beam that is not for users may be imported.
FENCED = {
    "apache_beam.runners": ["pipelines/engines/"],
    "apache_beam.portability": ["pipelines/engines/"],
    "apache_beam.utils.multi_process_shared": ["models/encoder/hosting/shared_key.py"],
}
OPEN = {"apache_beam.runners.create_runner"}


def find(path):
    module, _, names = path.partition(":")
    result = importlib.import_module(module)
    for name in filter(None, names.split(".")):
        result = getattr(result, name)
    return result


@pytest.mark.parametrize("path", PRIVATE_PARTS)
def test_beam_has_what_the_local_engine_needs(path):
    actual = find(path)
    for need in PRIVATE_PARTS[path]:
        if need.startswith("("):
            assert need.strip("()") in inspect.signature(actual).parameters, need
        elif need.startswith("= "):
            # An attribute that a constructor sets, of this class or of one that it is made of.
            sources = "".join(inspect.getsource(base) for base in actual.__mro__[:-1])
            assert re.search(rf"self\.{need[2:]}(: [^=]+)? = ", sources), need
        else:
            assert hasattr(actual, need), need


def imported(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_private_parts_of_beam_are_imported_by_the_engines_alone():
    seen = set()
    for folder in ("pipelines", "transforms", "models"):
        for path in (runs.ROOT / folder).rglob("*.py"):
            name = str(path.relative_to(runs.ROOT))
            source = path.read_text(encoding="utf-8")
            if "apache_beam" not in source:
                continue
            for module in set(imported(source)) - OPEN:
                for fenced, places in FENCED.items():
                    if module == fenced or module.startswith(f"{fenced}."):
                        assert name.startswith(tuple(places)), f"{name} imports {module}"
                        seen.add(fenced)
    assert seen == set(FENCED)


def test_every_private_name_that_is_used_is_listed():
    listed = {need.strip("=() ") for needs in PRIVATE_PARTS.values() for need in needs}
    folder = runs.ROOT / "pipelines" / "engines" / "local"
    used = set()
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.Attribute) and node.attr.startswith("_")
            if named and not node.attr.startswith("__"):
                owner = node.value
                ours = isinstance(owner, ast.Name) and owner.id in ("self", "os")
                if not ours:
                    used.add(node.attr)
    assert used
    assert used <= listed, used - listed
