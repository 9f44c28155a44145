"""What each engine needs of Beam."""


def beam_options(engine, workers, job_name, extra, scratch):
    if engine == "local":
        base = ["--runner=FnApiRunner", f"--direct_num_workers={workers}"]
        if workers > 1:
            base.append("--direct_running_mode=multi_processing")
    elif engine == "prism":
        base = [
            "--runner=PrismRunner",
            "--prism_location=/work/main/.tools/prism",
            "--environment_type=LOOPBACK",
        ]
    else:
        base = [
            "--runner=FlinkRunner",
            "--flink_master=[local]",
            "--flink_version=1.19",
            "--flink_job_server_jar=/work/main/deploy/flink/target/pairweave-flink-job-server.jar",
            f"--parallelism={workers}",
            "--environment_type=LOOPBACK",
        ]
    return [*base, *extra]


def failure_message(error):
    return str(error)
