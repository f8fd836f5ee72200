"""`pyctrl apiserver`: a cluster in this process, served for kubectl and everybody else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Group, Parameter
from cyclopts.validators import Number

from ._webhook_flags import WebhookFlags, modes

SERVING = Group("Serving", sort_key=1)
USERS = Group("Who may", sort_key=2)
CONTENT = Group("What is in it", sort_key=3)
WATCHING = Group("Looking on", sort_key=4)

START_SECONDS = 2.0  # a scheduler, an image and a start on an idle node; enough to see a pod Pending

EPILOGUE = """\
Prints one line, `ready URL`, when it serves, and nothing else on stdout. Everything is in memory, and gone at the end.
Ctrl-C or SIGTERM end it with exit code 0; 1 means that it could not start, 2 that the flags were not understood.

Examples:

```
pyctrl apiserver --kubeconfig-out dev.kubeconfig
kubectl --kubeconfig dev.kubeconfig get namespaces

# your definitions and objects
pyctrl apiserver --load config/crd --load config/samples

# users with roles, and a log of who did what
pyctrl apiserver --token-auth-file tokens.csv --audit audit.log

# an API server and nothing else
pyctrl apiserver --insecure-http --no-controllers
```
"""

app = App(name="apiserver", help_epilogue=EPILOGUE)


@app.default
def apiserver(
    *,
    port: Annotated[int, Parameter(group=SERVING, validator=Number(gte=0, lte=65535))] = 0,
    bind_address: Annotated[str, Parameter(group=SERVING)] = "127.0.0.1",
    kubeconfig_out: Annotated[Path | None, Parameter(group=SERVING, metavar="FILE")] = None,
    force: Annotated[bool, Parameter(group=SERVING, negative="", show_default=False)] = False,
    cert_dir: Annotated[Path | None, Parameter(group=SERVING, metavar="DIR")] = None,
    insecure_http: Annotated[bool, Parameter(group=SERVING, negative="", show_default=False)] = False,
    token_auth_file: Annotated[Path | None, Parameter(group=USERS, metavar="FILE")] = None,
    client_ca_file: Annotated[Path | None, Parameter(group=USERS, metavar="FILE")] = None,
    authorization_mode: Annotated[
        tuple[Literal["RBAC", "AlwaysAllow", "Webhook"], ...] | None,
        Parameter(group=USERS, metavar="MODE,…", converter=modes, n_tokens=1, negative="", show_default=False),
    ] = None,
    enable_admission_plugins: Annotated[
        tuple[Literal["OwnerReferencesPermissionEnforcement"], ...],
        Parameter(group=USERS, metavar="NAME", negative="", show_default=False),
    ] = (),
    webhooks: WebhookFlags = WebhookFlags(),  # noqa: B008 (a value)
    load: Annotated[
        tuple[Path, ...], Parameter(group=CONTENT, metavar="FILE|DIR", negative="", show_default=False)
    ] = (),
    controllers: Annotated[bool, Parameter(group=CONTENT)] = True,
    kubelet: Annotated[bool, Parameter(group=CONTENT)] = True,
    pod_start_seconds: Annotated[
        float, Parameter(group=CONTENT, metavar="SECONDS", validator=Number(gte=0))
    ] = START_SECONDS,
    audit: Annotated[Path | None, Parameter(group=WATCHING, metavar="FILE")] = None,
    audit_level: Annotated[Literal["Metadata", "Request", "RequestResponse"], Parameter(group=WATCHING)] = "Metadata",
    log_level: Annotated[Literal["debug", "info", "warning", "error"], Parameter(group=WATCHING)] = "warning",
) -> int:
    """Serve a Kubernetes API server, with the controllers of a cluster, from memory.

    Parameters
    ----------
    port
        The port to listen at; 0 takes one that is free.
    bind_address
        The address to listen at.
    kubeconfig_out
        Write a kubeconfig of an administrator. A file that was not written by this command stays as it is.
    force
        Let --kubeconfig-out replace any file.
    cert_dir
        Keep the certificate authority there (ca.crt, ca.key), so that the next run has the same one.
    insecure_http
        Serve HTTP instead of HTTPS.
    token_auth_file
        Users and their tokens, in kube-apiserver's format: token,user,uid,"group1,group2". Without it everybody is
        an administrator.
    client_ca_file
        Take client certificates of these authorities too, besides those of the server's own.
    authorization_mode
        RBAC asks the roles and bindings, which begin as those of every cluster; AlwaysAllow lets everybody do
        everything; Webhook asks that of --authorization-webhook-config-file. Several, with commas between, are asked
        in their order. By default RBAC where users can be told apart, else AlwaysAllow.
    enable_admission_plugins
        Have an admission plugin check writes that is off by default, as in kube-apiserver. May be repeated.
    load
        Apply the objects of a YAML or JSON file, or of those in a directory, before it is ready: definitions first,
        then namespaces, then the others. May be repeated.
    controllers
        Run what a controller manager does: garbage collection, namespaces, Deployments, Jobs, claims and so on.
    kubelet
        Run pods on a pretend node; nothing is executed. Without it they stay Pending.
    pod_start_seconds
        How long a pod is Pending before it is bound to the pretend node.
    audit
        Append an audit.k8s.io/v1 Event for each request to a file, one JSON object a line.
    audit_level
        How much of a request the audit log has.
    log_level
        What is logged to stderr.
    """
    from ._serving import Serving  # here: help and completion need none of it

    return Serving(
        port=port,
        bind_address=bind_address,
        kubeconfig_out=kubeconfig_out,
        force=force,
        cert_dir=cert_dir,
        insecure_http=insecure_http,
        token_auth_file=token_auth_file,
        client_ca_file=client_ca_file,
        authorization_mode=authorization_mode,
        enable_admission_plugins=enable_admission_plugins,
        webhooks=webhooks,
        load=load,
        controllers=controllers,
        kubelet=kubelet,
        pod_start_seconds=pod_start_seconds,
        audit=audit,
        audit_level=audit_level,
        log_level=log_level,
    ).main()
