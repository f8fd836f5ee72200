"""The built-in kinds of Kubernetes 1.36, a package for each API group and a module for each version.

    from pyctrl.kinds.apps.v1 import Deployment
    from pyctrl.kinds.core.v1 import Container, Pod

Only the groups that are imported cost anything, and a class is built for pydantic when it is first used. The classes
are generated from the server's own schemas and mirror what its objects hold:

- Fields are snake_case, camelCase on the wire. A name that Python or pydantic has gets an underscore behind it:
  `from_`, `schema_`, `int_`.
- Lists and maps that are absent read as empty. Whatever the server always writes (`deployment.spec`, its `template`,
  `container.resources`, `container.name`) reads as its zero value when absent, so that no None needs checking on the
  way down; all else that is absent is None. None of these defaults is written unless it is changed.
- Nothing is required when reading, and words of an enumeration are plain `str`: an object of an older or newer server
  is never refused. The server says what it misses.
- `bytes` of the schema, such as `Secret.data`, are the base64 text of the wire.
- There are no classes for lists; the client has one for all kinds.

For code that meets kinds only at run time, `builtin_scheme()` imports groups as they are asked for, and `BUILTIN_KINDS`
tells plural and scope without importing any.
"""

from __future__ import annotations

from pyctrl.kinds._scheme import BUILTIN_KINDS, BuiltinKind, builtin_scheme

__all__ = ["BUILTIN_KINDS", "BuiltinKind", "builtin_scheme"]
