"""The built-in kinds of Kubernetes 1.36, a package for each API group and a module for each version.

    from pyctrl.kinds.apps.v1 import Deployment
    from pyctrl.kinds.core.v1 import Container, Pod

Importing a group costs time only for that group, and pydantic builds a class when it is first used. The classes are
generated from the server's own schemas and mirror its objects:

- Fields are snake_case in Python, camelCase on the wire. A name that Python or pydantic reserves gets a trailing
  underscore: `from_`, `schema_`, `int_`.
- Absent lists and maps read as empty. Fields that the server always sets (`deployment.spec`, its `template`,
  `container.resources`, `container.name`) read as their zero value when absent, so that no check for None is needed
  on the path to a field. All other absent fields are None. None of these defaults is written unless it is changed.
- No field is required when reading, and enumerations are plain `str`: an object of an older or newer server always
  decodes. The server reports missing fields on writes.
- `bytes` of the schema, such as `Secret.data`, are the base64 text of the wire.
- There are no classes for lists; the client has one for all kinds.

For code that handles kinds chosen at run time, `builtin_scheme()` imports groups on demand, and `BUILTIN_KINDS` has the
plural and the scope of each kind without importing any group.
"""

from __future__ import annotations

from pyctrl.kinds._scheme import BUILTIN_KINDS, BuiltinKind, builtin_scheme

__all__ = ["BUILTIN_KINDS", "BuiltinKind", "builtin_scheme"]
