"""The images and Deployments of the examples, checked as text, without docker."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"

#: The container's part of the restricted Pod Security standard; the rest belongs to the pod.
RESTRICTED = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


@dataclass
class Stage:
    """A stage of a Dockerfile: its base and its instructions."""

    name: str
    origin: str
    instructions: list[tuple[str, str]] = field(default_factory=list)

    def last(self, instruction: str) -> str:
        return next((text for name, text in reversed(self.instructions) if name == instruction), "")


def stages() -> dict[str, Stage]:
    """Read the Dockerfile; a stage includes the instructions of its base stage."""
    found: dict[str, Stage] = {}
    for line in (EXAMPLES / "Dockerfile").read_text().splitlines():
        name, _, text = line.partition(" ")
        if name == "FROM":
            origin, _, alias = text.partition(" AS ")
            inherited = found[origin].instructions if origin in found else []
            found[alias] = Stage(alias, origin, list(inherited))
        elif name and not name.startswith("#"):
            found[next(reversed(found))].instructions.append((name, text))
    return found


def shipped() -> list[str]:
    """Return the names of the runnable examples."""
    return sorted(path.parent.name for path in EXAMPLES.glob("*/__main__.py"))


def requirements(name: str) -> dict[str, str]:
    """Read a lock file: versions by name."""
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", (EXAMPLES / name).read_text(), re.MULTILINE))


def deployments() -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in EXAMPLES.glob("*/config/**/*.yaml"):
        for document in yaml.safe_load_all(path.read_text()):
            if document["kind"] == "Deployment":
                yield path, document


def example_of(path: Path) -> str:
    """Return the name of the example that a file belongs to."""
    return path.relative_to(EXAMPLES).parts[0]


def test_every_image_is_made_of_a_version_that_is_named() -> None:
    """Every base image has a version, never `latest`, so that builds are repeatable."""
    found = stages()
    outside = {stage.origin for stage in found.values() if stage.origin not in found}
    assert outside
    assert all(re.fullmatch(r"python:\d+\.\d+\.\d+-slim-\w+", origin) for origin in outside), outside


@pytest.mark.parametrize("example", shipped())
def test_each_example_has_an_image_that_runs_it(example: str) -> None:
    """The image target of an example runs its module without a shell, as a user that is not root."""
    stage = stages()[example]
    assert json.loads(stage.last("ENTRYPOINT")) == ["python", "-m", f"examples.{example}"]
    assert stage.last("COPY") == f"examples/{example} examples/{example}"
    assert stage.last("USER") == "65532:65532"
    assert find_spec(f"examples.{example}.__main__") is not None
    assert all(name in ("ENV", "COPY", "WORKDIR", "USER", "ENTRYPOINT") for name, _ in stage.instructions)


def test_commands_of_the_build_have_no_shell() -> None:
    """Each command is a list of words, so that no shell expands it."""
    commands = [text for name, text in stages()["build"].instructions if name == "RUN"]
    assert len(commands) == 3
    assert all(isinstance(json.loads(command), list) for command in commands)


def test_what_is_copied_into_images_is_there() -> None:
    """Every COPY from the repository names existing files that .dockerignore does not exclude."""
    ignored = (ROOT / ".dockerignore").read_text().split()
    for stage in stages().values():
        for name, text in stage.instructions:
            if name == "COPY" and not text.startswith("--from"):
                sources = text.split()[:-1]
                assert all((ROOT / source).exists() for source in sources), text
                assert not {source.split("/")[0] for source in sources} & set(ignored)


@pytest.mark.parametrize("name", ["requirements.txt", "build-requirements.txt"])
def test_what_is_installed_is_known_by_version_and_hash(name: str) -> None:
    """Each line of a lock file is an exact version with hashes, for --require-hashes."""
    entries = re.split(r"\n(?=\S)", (EXAMPLES / name).read_text().strip())
    assert all(
        re.match(r"#|[\w.-]+==[\w.]+( ; [^\\\n]+)? \\\n(    --hash=sha256:[0-9a-f]{64}( \\\n|$))+", entry)
        for entry in entries
    )


def test_lock_files_have_what_the_package_asks_for() -> None:
    """The lock file satisfies every dependency of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for asked, name in (
        (project["project"]["dependencies"], "requirements.txt"),
        (project["project"]["optional-dependencies"]["metrics"], "requirements.txt"),  # enabled by the programs
        (project["project"]["optional-dependencies"]["webhook"], "requirements.txt"),  # for metrics over TLS
        (project["build-system"]["requires"], "build-requirements.txt"),
    ):
        locked = requirements(name)
        for requirement in map(Requirement, asked):
            assert Version(locked[requirement.name]) in requirement.specifier, f"{requirement} is not in {name}"


def test_each_deployment_has_an_account_of_its_own() -> None:
    """A Deployment names a ServiceAccount from its own manifests, never `default`."""
    found = list(deployments())
    assert found
    for path, deployment in found:
        pod = deployment["spec"]["template"]["spec"]
        accounts = {
            (document["metadata"]["namespace"], document["metadata"]["name"])
            for file in (EXAMPLES / example_of(path)).glob("config/**/*.yaml")
            for document in yaml.safe_load_all(file.read_text())
            if document["kind"] == "ServiceAccount"
        }
        assert (deployment["metadata"]["namespace"], pod["serviceAccountName"]) in accounts


def test_each_deployment_is_as_restricted_as_pods_can_be() -> None:
    """A Deployment is not root, has a read-only root, no capabilities, a memory limit and an image version."""
    for path, deployment in deployments():
        pod = deployment["spec"]["template"]["spec"]
        assert pod["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
        for container in pod["containers"]:
            assert container["securityContext"] == RESTRICTED
            assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
            assert "memory" in container["resources"]["limits"]
            assert re.fullmatch(r"\w+:\d+\.\d+\.\d+", container["image"])
            if example_of(path) in shipped():  # `pyctrl image build` builds the other images
                assert container["image"].split(":")[0] in stages()


def test_kubelet_asks_each_deployment_how_it_is() -> None:
    """Both probes use a declared container port; those of a manager use its paths and default port."""
    for path, deployment in deployments():
        for container in deployment["spec"]["template"]["spec"]["containers"]:
            ports = {port["name"]: port["containerPort"] for port in container["ports"]}
            probes = [container[name]["httpGet"] for name in ("livenessProbe", "readinessProbe")]
            assert all(probe["port"] in ports for probe in probes), path
            if example_of(path) not in shipped():
                continue  # run by `pyctrl run`
            program = import_module(f"examples.{example_of(path)}.__main__")
            if not hasattr(program, "parser"):
                continue  # not a manager
            defaults = program.parser().parse_args([])
            assert [probe["path"] for probe in probes] == ["/healthz", "/readyz"]
            assert f":{ports['health']}" == defaults.health_probe_bind_address
            assert f":{ports['metrics']}" == defaults.metrics_bind_address
