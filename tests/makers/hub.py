"""An imitation of the Hugging Face hub on this machine: data sets in a dictionary, over HTTP.

It answers what `huggingface_hub` and `datasets` ask of the real one to find and fetch the files of
a data set: what a revision is, which files it has, their sizes, and their bytes; and, in
`hub_uploads`, to upload them. Nothing else of the hub is there: no accounts, no search, no
conversion of files, no caches in front of it.
"""

import contextlib
import hashlib
import http.server
import json
import re
import threading
import urllib.parse

from tests.makers import hub_uploads

COMMIT = "c0ffee" * 6 + "c0ff"
"""The commit of the branch ``main`` of every data set."""

_API = re.compile(r"/api/datasets/(?P<repo>[^/]+/[^/]+)(?:/(?P<what>[a-z-]+)/(?P<rest>.*))?")
_FILE = re.compile(r"/datasets/(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<file>.+)")
_REVISIONS = ("main", COMMIT)


@contextlib.contextmanager
def running(data_sets):
    """Serve data sets, by their names maps from names of files to bytes; yield the address.

    The list of requests is the attribute ``asked`` of the yielded server, whose ``url`` is the
    value for ``HF_ENDPOINT``; ``data_sets`` has what is uploaded to it.
    """
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.data_sets, server.asked, server.large = data_sets, [], {}
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_arguments):
        """Print nothing."""

    def do_GET(self):
        """Answer a question about a data set, or send a file."""
        self._answer()

    do_HEAD = do_POST = do_PUT = do_GET  # noqa: N815

    def _answer(self):
        sent = self._sent()
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        self.server.asked.append((self.command, path))
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        written = hub_uploads.answer(self.server, self.command, path, token, sent, COMMIT)
        if written is not None:
            self._send(*written)
            return
        file, api = _FILE.fullmatch(path), _API.fullmatch(path)
        named = file or api
        files = self.server.data_sets.get(named["repo"]) if named else None
        if files is None:
            self._send(404, b"", {"X-Error-Code": "RepoNotFound"})
        elif file:
            self._file(files, file["revision"], file["file"])
        else:
            self._json(named["repo"], files, api["what"], api["rest"] or "", sent.decode())

    def _sent(self):
        """Return the body of the request, which may come in chunks."""
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = bytearray()
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return bytes(body)

    def _file(self, files, revision, name):
        if revision not in _REVISIONS:
            self._send(404, b"", {"X-Error-Code": "RevisionNotFound"})
        elif name not in files:
            self._send(404, b"", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT})
        else:
            tag = hashlib.sha1(files[name]).hexdigest()
            self._send(200, files[name], {"ETag": f'"{tag}"', "X-Repo-Commit": COMMIT})

    def _json(self, repo, files, what, rest, sent):
        revision, _, below = rest.partition("/")
        if what in ("revision", "tree", "paths-info") and revision not in _REVISIONS:
            self._send(404, b"", {"X-Error-Code": "RevisionNotFound"})
        elif what in (None, "revision"):
            siblings = [{"rfilename": name} for name in files]
            facts = {"id": repo, "sha": COMMIT, "siblings": siblings, "tags": [], "private": False}
            self._send(200, json.dumps(facts).encode())
        elif what == "tree":
            entries = _entries(files)
            inside = [
                entry for entry in entries if entry["path"].startswith(f"{below}/" * bool(below))
            ]
            if "recursive=true" not in self.path.lower():
                depth = below.count("/") + 1 if below else 0
                inside = [entry for entry in inside if entry["path"].count("/") == depth]
            if inside or not below:
                self._send(200, json.dumps(inside).encode())
            else:
                self._send(404, b"", {"X-Error-Code": "EntryNotFound"})
        elif what == "paths-info":
            wanted = urllib.parse.parse_qs(sent).get("paths", [])
            if sent.startswith("{"):
                wanted = json.loads(sent)["paths"]
            entries = [entry for entry in _entries(files) if entry["path"] in wanted]
            self._send(200, json.dumps(entries).encode())
        else:
            self._send(404, b"", {"X-Error-Code": "EntryNotFound"})

    def _send(self, status, body, headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _entries(files):
    """Return the files of a data set and the folders that they lie in, as the hub lists them."""
    folders = {name.rpartition("/")[0] for name in files if "/" in name}
    folders |= {outer.rpartition("/")[0] for outer in folders if "/" in outer}
    return [
        *({"type": "directory", "path": name, "oid": "0" * 40, "size": 0} for name in folders),
        *(
            {
                "type": "file",
                "path": name,
                "oid": hashlib.sha1(content).hexdigest(),
                "size": len(content),
            }
            for name, content in files.items()
        ),
    ]
