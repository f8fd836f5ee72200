"""Built-in kinds: one file for each kind or family of kinds, with all that the server knows about it.

A file ends in `RESOURCES`, which declares its kinds: strategy (defaults, validation, preparation, deletion, field
labels, reset fields), table cells, subresources, conversions between versions, and deprecation. The registry collects
the declarations of all files in this package, so a new kind is one new file. A kind without a declaration is stored
and served by its schema alone.

What a kube-apiserver publishes about a kind is data in `pyctrl._schemas`, written by a tool from a running server:
plural, short names, verbs, versions and names of subresources (discovery), fields (OpenAPI), and table columns.

Kinds with more code than fits one file keep the parts in a private sub-package (`_pods`, `_services`), and the
declaration in the file of the kind.
"""
