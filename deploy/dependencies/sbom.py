"""Write a software bill of materials of this Python environment, as CycloneDX 1.6 in JSON.

python deploy/dependencies/sbom.py > sbom.cdx.json

It lists each installed package with its version, licence and package URL; the hashes of their files
are in ``requirements.lock``. The same environment gives the same bytes.
"""

import json
import sys
import uuid
from typing import Any

import licences


def bill() -> dict[str, Any]:
    """Return the bill of this environment."""
    packages = [
        _component(name, each.version, licences.licence_of(each.metadata))
        for name, each in licences.installed().items()
        if name != "pairweave"
    ]
    own = licences.installed().get("pairweave")
    version = own.version if own else "0"
    text = json.dumps(packages, sort_keys=True)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, text)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "pairweave",
                "name": "pairweave",
                "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": packages,
    }


def _component(name: str, version: str, licence: str) -> dict[str, Any]:
    url = f"pkg:pypi/{name}@{version}"
    stated = {"expression": licence}
    if licence == licences.UNKNOWN:
        stated = {"license": {"name": "not stated in the metadata of the package"}}
    return {
        "type": "library",
        "bom-ref": url,
        "name": name,
        "version": version,
        "purl": url,
        "licenses": [stated],
    }


if __name__ == "__main__":
    json.dump(bill(), sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")
