"""`pyctrl apiserver`: an in-process cluster, served over HTTPS."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from pyctrl.cli._apiserver.flags import WebhookFlags, modes, plugin_names
from pyctrl.cli._apiserver.front_proxy import FrontProxyFlags
from pyctrl.cli._command_line import NEGATABLE, CommandLine, epilogue
from pyctrl.cli._pod_script import PodScript
from pyctrl.cli._shared_flags import NodeCount, ServerLogLevel

__all__ = ["app"]

SERVING = Group("Serving", sort_key=1)
USERS = Group("Users and permissions", sort_key=2)
CONTENT = Group("Cluster", sort_key=3)
STORAGE = Group("Storage", sort_key=3.5)
WATCHING = Group("Logs", sort_key=4)

HISTORY = 10_000  # as in ApiServer, which is imported only to serve
START_SECONDS = 2.0  # scheduling, image pull and start on an idle node; long enough to see a pod Pending

EPILOGUE = epilogue(
    """\
pyctrl apiserver --write-kubeconfig dev.kubeconfig
kubectl --kubeconfig dev.kubeconfig get namespaces

# with CRDs and objects
pyctrl apiserver --apply config/crd --apply config/samples

# with users, roles and an audit log
pyctrl apiserver --token-auth-file tokens.csv --audit audit.log

# keep everything for the next run
pyctrl apiserver --data dev-cluster --port 6443 --write-kubeconfig dev.kubeconfig

# an API server and nothing else
pyctrl apiserver --insecure-http --no-controllers
""",
    {
        0: "stopped by a signal",
        1: "could not start",
        130: "interrupted by Ctrl-C before it was ready (SIGTERM: 143)",
    },
)

app = CommandLine("apiserver", help_epilogue=EPILOGUE)


@app.default
def apiserver(
    *,
    port: Annotated[int, Parameter(group=SERVING, metavar="PORT", validator=Number(gte=0, lte=65535))] = 0,
    bind_address: Annotated[str, Parameter(group=SERVING, metavar="ADDRESS")] = "127.0.0.1",
    write_kubeconfig: Annotated[
        Path | None,
        Parameter(name=("--write-kubeconfig", "--kubeconfig-out"), group=SERVING, metavar="FILE"),
    ] = None,
    force: Annotated[bool, Parameter(group=SERVING)] = False,
    cert_dir: Annotated[Path | None, Parameter(group=SERVING, metavar="DIR")] = None,
    insecure_http: Annotated[bool, Parameter(group=SERVING)] = False,
    allowed_host: Annotated[tuple[str, ...], Parameter(group=SERVING, metavar="NAME")] = (),
    token_auth_file: Annotated[Path | None, Parameter(group=USERS, metavar="FILE")] = None,
    client_ca_file: Annotated[Path | None, Parameter(group=USERS, metavar="FILE")] = None,
    authorization_mode: Annotated[
        tuple[Literal["Node", "RBAC", "AlwaysAllow", "Webhook"], ...] | None,
        Parameter(group=USERS, metavar="MODE[,MODE]", converter=modes, n_tokens=1),
    ] = None,
    enable_admission_plugins: Annotated[
        tuple[str, ...], Parameter(group=USERS, metavar="NAME[,NAME]", converter=plugin_names)
    ] = (),
    disable_admission_plugins: Annotated[
        tuple[str, ...], Parameter(group=USERS, metavar="NAME[,NAME]", converter=plugin_names)
    ] = (),
    admission_control_config_file: Annotated[Path | None, Parameter(group=USERS, metavar="FILE")] = None,
    feature_gates: Annotated[
        tuple[str, ...], Parameter(group=CONTENT, metavar="NAME=true|false[,...]", converter=plugin_names)
    ] = (),
    webhooks: WebhookFlags = WebhookFlags(),  # noqa: B008 (a value)
    front_proxy: FrontProxyFlags = FrontProxyFlags(),  # noqa: B008 (a value)
    apply: Annotated[tuple[Path, ...], Parameter(name=("--apply", "--load"), group=CONTENT, metavar="FILE|DIR")] = (),
    controllers: Annotated[bool, Parameter(group=CONTENT, negative_bool=NEGATABLE)] = True,
    controller_name: Annotated[tuple[str, ...], Parameter(group=CONTENT, metavar="NAME")] = (),
    kubelet: Annotated[bool, Parameter(group=CONTENT, negative_bool=NEGATABLE)] = True,
    nodes: Annotated[NodeCount, Parameter(group=CONTENT)] = 1,
    kubelet_port: Annotated[
        int | None, Parameter(group=CONTENT, metavar="PORT", validator=Number(gte=0, lte=65535))
    ] = None,
    pod_start_seconds: Annotated[
        float, Parameter(group=CONTENT, metavar="SECONDS", validator=Number(gte=0))
    ] = START_SECONDS,
    pod_script: Annotated[PodScript, Parameter(group=CONTENT)] = None,
    data: Annotated[Path | None, Parameter(group=STORAGE, metavar="DIR")] = None,
    fsync: Annotated[bool, Parameter(group=STORAGE)] = False,
    history: Annotated[int, Parameter(group=STORAGE, metavar="EVENTS", validator=Number(gte=1))] = HISTORY,
    audit: Annotated[
        Path | None, Parameter(name=("--audit", "--audit-log-path"), group=WATCHING, metavar="FILE")
    ] = None,
    audit_policy_file: Annotated[Path | None, Parameter(group=WATCHING, metavar="FILE")] = None,
    audit_log_format: Annotated[Literal["json", "legacy"], Parameter(group=WATCHING, metavar="FORMAT")] = "json",
    audit_level: Annotated[
        Literal["Metadata", "Request", "RequestResponse"], Parameter(group=WATCHING, metavar="LEVEL")
    ] = "Metadata",
    log_level: Annotated[ServerLogLevel, Parameter(group=WATCHING)] = None,
) -> int:
    """Serve a Kubernetes API server.

    The controllers of a cluster and a simulated node run beside it. When it is ready it prints one line, `ready URL`,
    and nothing else to stdout. Ctrl-C or SIGTERM stops it. Without `--data`, all objects are in memory and lost then.

    Parameters
    ----------
    port
        The port of the API server; 0 picks a free one.
    bind_address
        The address to listen on.
    write_kubeconfig
        Where to write the kubeconfig of an administrator. Not written by default.
    force
        Overwrite the file of `--write-kubeconfig` even if pyctrl did not write it.
    cert_dir
        The directory of the certificate authority (ca.crt, ca.key), which is reused in the next run. Defaults to that
        of `--data`.
    insecure_http
        Serve HTTP instead of HTTPS. Requests from web pages are rejected.
    allowed_host
        With `--insecure-http`, a name that clients call the server by. Addresses, `localhost` and the `--bind-address`
        need none. May be repeated.
    token_auth_file
        Static tokens in kube-apiserver's format: `token,user,uid,"group1,group2"`. Without it, a client CA file or a
        webhook, every client is an administrator.
    client_ca_file
        Accept client certificates signed by these authorities, besides the server's own.
    authorization_mode
        Node, RBAC, AlwaysAllow or Webhook (`--authorization-webhook-config-file`), or several in order, separated by
        commas.
        Defaults to RBAC if clients authenticate, else AlwaysAllow. If clients authenticate, AlwaysAllow refuses
        requests without credentials.
    enable_admission_plugins
        Enable admission plugins that are off by default, by kube-apiserver's names, separated by commas. May be
        repeated.
    disable_admission_plugins
        Disable admission plugins that are on by default. May be repeated.
    admission_control_config_file
        An AdmissionConfiguration, with the configurations of admission plugins.
    feature_gates
        Enable features that are alpha in 1.36, by kube-apiserver's names, separated by commas: ShardedListAndWatch.
    apply
        Apply these objects at start: CRDs first, then namespaces. May be repeated.
    controllers
        Run the controllers of a cluster: garbage collection, Deployments, Jobs and so on.
    controller_name
        Run this controller, by kube-controller-manager's name, and no others. May be repeated.
    kubelet
        Run pods on simulated nodes. No container is started.
    nodes
        How many nodes there are: `node-1` and so on, among which the scheduler distributes pods.
    kubelet_port
        Also serve the API of the first node's kubelet at this port, usually 10250. That of each is always below the
        proxy of its node.
    pod_start_seconds
        How long a pod stays Pending before it is bound to the node.
    pod_script
        A Python function that says what the containers do: the commands of `kubectl exec`, the ports of `kubectl
        port-forward`. `pyctrl.cluster:host_script` runs the commands on this machine.
    data
        Keep all objects, signing keys and the certificate authority in this directory, for the next run.
    fsync
        With `--data`, wait for the disk at each write, so that it survives a power failure. Without it, it survives the
        end of the process.
    history
        How many events of each resource to keep, for watches and lists at older versions.
    audit
        Append an `audit.k8s.io/v1` Event per request to this file, one JSON object per line. A new file is readable by
        its owner only.
    audit_policy_file
        The audit policy, in kube-apiserver's format, that selects requests, levels and stages. Without it, the
        response of every request is logged at `--audit-level`.
    audit_log_format
        json, or legacy for kube-apiserver's lines of text.
    audit_level
        How much of each request to audit. Only RequestResponse logs Secrets, ConfigMaps and tokens.
    """
    from pyctrl.cli._apiserver.runner import ApiServerRunner  # here: help and completion need none of it

    return ApiServerRunner(
        port=port,
        bind_address=bind_address,
        kubeconfig_out=write_kubeconfig,
        force=force,
        cert_dir=cert_dir,
        insecure_http=insecure_http,
        allowed_host=allowed_host,
        token_auth_file=token_auth_file,
        client_ca_file=client_ca_file,
        authorization_mode=authorization_mode,
        enable_admission_plugins=enable_admission_plugins,
        disable_admission_plugins=disable_admission_plugins,
        admission_control_config_file=admission_control_config_file,
        feature_gates=feature_gates,
        webhooks=webhooks,
        front_proxy=front_proxy,
        load=apply,
        controllers=controllers,
        controller_name=controller_name,
        kubelet=kubelet,
        nodes=nodes,
        kubelet_port=kubelet_port,
        pod_start_seconds=pod_start_seconds,
        pod_script=pod_script,
        data=data,
        fsync=fsync,
        history=history,
        audit=audit,
        audit_policy_file=audit_policy_file,
        audit_log_format=audit_log_format,
        audit_level=audit_level,
        log_level=log_level or "warn",
    ).main()
