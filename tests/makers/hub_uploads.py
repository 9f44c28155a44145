"""The upload side of the imitated hub (`tests.makers.hub`): new data sets, large files, commits.

Files that the real hub keeps as large files, such as Parquet, are uploaded by the Git LFS protocol,
which `huggingface_hub` speaks where Xet is disabled (``HF_HUB_DISABLE_XET=1``); others are part of
the commit. Xet, uploads in several parts, branches, pull requests and permissions are not imitated.
A commit replaces the files of its data set, but the number of the commit stays the same.
"""

import base64
import hashlib
import json
import re

TOKEN = "hf_of_a_test"
"""What may write; every other request to write is refused."""

_LARGE = (".parquet",)
_REPO = re.compile(r"/api/datasets/(?P<repo>[^/]+/[^/]+)/(?P<what>preupload|commit)/main")
_BATCH = re.compile(r"/datasets/(?P<repo>[^/]+/[^/]+)\.git/info/lfs/objects/batch")
_OBJECT = re.compile(r"/lfs/(?P<oid>[0-9a-f]{64})")


def answer(server, method, path, token, sent, commit):
    """Answer a request that writes.

    Args:
        server: Its ``data_sets`` and ``large`` files, by their hashes, change.
        method: Of the request.
        path: Of the request.
        token: The token of the request, or None.
        sent: Its body.
        commit: The commit of every data set.

    Returns:
        Status and body; None if the request writes nothing.
    """
    stored = _OBJECT.fullmatch(path)
    if method == "PUT" and stored:  # a signed address: needs no token
        whole = hashlib.sha256(sent).hexdigest() == stored["oid"]
        if whole:
            server.large[stored["oid"]] = sent
        return (200 if whole else 400), b""
    if method != "POST":
        return None
    named, batch = _REPO.fullmatch(path), _BATCH.fullmatch(path)
    if path not in ("/api/repos/create", "/api/validate-yaml") and not named and not batch:
        return None
    if token != TOKEN:
        return 401, b'{"error": "Invalid username or password."}'
    if path == "/api/validate-yaml":
        return _body({"errors": [], "warnings": []})
    if path == "/api/repos/create":
        asked = json.loads(sent)
        name = f"{asked['organization']}/{asked['name']}"
        if asked["type"] != "dataset" or name in server.data_sets:
            return 409, b'{"error": "You already created this dataset repo"}'
        server.data_sets[name] = {".gitattributes": b"*.parquet filter=lfs\n"}
        return _body({"url": f"{server.url}/datasets/{name}", "id": name})
    if (named or batch)["repo"] not in server.data_sets:
        return 404, b""
    if batch:
        return _body({"objects": [_place(server, each) for each in json.loads(sent)["objects"]]})
    if named["what"] == "preupload":
        return _body({"files": [_kind(each) for each in json.loads(sent)["files"]]})
    return _commit(server, named["repo"], [*map(json.loads, sent.splitlines())], commit)


def _body(value):
    return 200, json.dumps(value).encode()


def _kind(file):
    mode = "lfs" if file["path"].endswith(_LARGE) else "regular"
    return {"path": file["path"], "uploadMode": mode, "shouldIgnore": False}


def _place(server, entry):
    upload = {"href": f"{server.url}/lfs/{entry['oid']}"}
    return {**entry, "actions": {"upload": upload}}


def _commit(server, repo, lines, commit):
    files = dict(server.data_sets[repo])
    for line in lines:
        value = line["value"]
        if line["key"] == "header":
            if value.get("parentCommit", commit) != commit:
                return 412, b""
        elif line["key"] == "file":
            if value["path"].endswith(_LARGE):
                return 400, b'{"error": "a large file belongs to LFS"}'
            files[value["path"]] = base64.b64decode(value["content"])
        elif line["key"] == "lfsFile":
            if value["oid"] not in server.large:
                return 400, b'{"error": "LFS pointer to a file that does not exist"}'
            files[value["path"]] = server.large[value["oid"]]
        elif line["key"] == "deletedFile":
            del files[value["path"]]
        else:
            return 400, b""
    server.data_sets[repo] = files
    url = f"{server.url}/datasets/{repo}/commit/{commit}"
    return _body({"commitUrl": url, "commitOid": commit, "success": True})
