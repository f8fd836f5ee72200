"""The pydantic base of typed objects: lazily decoded fields, and the fields that are written."""
