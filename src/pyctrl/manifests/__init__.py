"""From types to manifests: definitions, made from the classes of their kinds.

`definition` makes the CustomResourceDefinition of a kind. The classes are the only source.
"""

from ._definition import definition

__all__ = ["definition"]
