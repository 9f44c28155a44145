"""The Dataflow service on this machine: takes jobs and answers questions about them."""

import contextlib
import hashlib
import http.server
import json
import re
import threading

from apache_beam.portability.api import beam_runner_api_pb2

PROJECT, REGION = "a-project", "europe-west4"
IMAGE = "europe-west4-docker.pkg.dev/a-project/images/pairweave:0.1.0"
_JOBS = re.compile(r"/v1b3/projects/([^/]+)/locations/([^/]+)/jobs(?:/([^/?]+))?(/\w+)?(?:\?|$)")


class Dataflow(http.server.ThreadingHTTPServer):
    """The part of the service that a launcher sees.

    Attributes:
        address: Its address.
        jobs: The jobs that it accepted, as they were sent, by id.
        states: The state of each.
        messages: What it says of a job, as pairs of importance and text.
        refusal: Status and message of its answer to a job; None accepts it.
        ends_as: The state of jobs when they are asked for again.
        requests: Method and path of every request.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("localhost", 0), _Answers)
        self.address = f"http://localhost:{self.server_address[1]}"
        self.jobs = {}
        self.states = {}
        self.messages = []
        self.refusal = None
        self.ends_as = "JOB_STATE_DONE"
        self.requests = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def flags(self):
        """Return the flags of Beam with which a command uses it."""
        return ("--dataflow_endpoint", self.address, "--no_auth", "--project", PROJECT)


class _Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        service = self.server
        service.requests.append(("GET", self.path))
        place = self._place()
        if place is None:
            return
        job, more = place
        if job is None:
            self._answer(200, {"jobs": []})
        elif job not in service.jobs:
            self._refuse(404, f"(5f): Information about job {job} could not be found.")
        elif more == "/messages":
            told = [
                {
                    "id": str(number),
                    "time": "2026-01-01T00:00:00Z",
                    "messageText": text,
                    "messageImportance": f"JOB_MESSAGE_{importance}",
                }
                for number, (importance, text) in enumerate(service.messages)
            ]
            self._answer(200, {"jobMessages": told})
        elif more == "/metrics":
            self._answer(200, {"metrics": []})
        else:
            service.states[job] = service.ends_as
            self._answer(200, self._described(job))

    def do_POST(self):
        service = self.server
        service.requests.append(("POST", self.path))
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._place() is None:
            return
        if service.refusal is not None:
            self._refuse(*service.refusal)
            return
        for job, known in service.jobs.items():  # as the service does with names in use
            if known["name"] == body["name"] and service.states[job] == "JOB_STATE_RUNNING":
                self._answer(200, self._described(job))
                return
        job = f"2026-01-01_00_00_00-{len(service.jobs)}"
        service.jobs[job] = body
        service.states[job] = "JOB_STATE_RUNNING"
        self._answer(200, self._described(job))

    def _place(self):
        """Return the job and the part of it that are asked for; None after a refusal."""
        match = _JOBS.match(self.path)
        if match is None:
            self._refuse(404, "no such method")
            return None
        project, region, job, more = match.groups()
        if project != PROJECT:
            self._refuse(403, f"(3a): Could not find project {project}, or no permission for it.")
            return None
        if region != REGION:
            self._refuse(400, f"(7b): The region {region} is not one of Dataflow's.")
            return None
        return job, more

    def _described(self, job):
        known = self.server.jobs[job]
        return {
            "id": job,
            "projectId": PROJECT,
            "location": REGION,
            "name": known["name"],
            "clientRequestId": known.get("clientRequestId", ""),
            "currentState": self.server.states[job],
            "currentStateTime": "2026-01-01T00:00:00Z",
            "createTime": "2026-01-01T00:00:00Z",
        }

    def _refuse(self, status, reason):
        self._answer(status, {"error": {"code": status, "message": reason}})

    def _answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Say nothing."""


@contextlib.contextmanager
def running():
    """Yield a service that has no job."""
    service = Dataflow()
    try:
        yield service
    finally:
        service.shutdown()
        service.server_close()


def graph_of(job, store):
    """Return the pipeline that a job names, from a store where it was staged."""
    options = job["environment"]["sdkPipelineOptions"]["options"]
    bucket, _, name = options["pipelineUrl"].removeprefix("gs://").partition("/")
    assert bucket
    data = store.objects(name)[name]
    assert hashlib.sha256(data).hexdigest() == options["pipelineProtoHash"]
    return beam_runner_api_pb2.Pipeline.FromString(data)


def environments_of(graph):
    """Return the image and the resource hints of each environment of a graph, by its id."""
    environments = {}
    for name, environment in graph.components.environments.items():
        payload = beam_runner_api_pb2.DockerPayload.FromString(environment.payload)
        hints = {urn.split(":")[2]: value for urn, value in environment.resource_hints.items()}
        environments[name] = (payload.container_image, hints)
    return environments


def steps_with_hint(graph, hint):
    """Return the names of the steps whose environment has a resource hint."""
    hinted = {name for name, (_, hints) in environments_of(graph).items() if hint in hints}
    return {
        step.unique_name
        for step in graph.components.transforms.values()
        if step.environment_id in hinted and not step.subtransforms
    }
