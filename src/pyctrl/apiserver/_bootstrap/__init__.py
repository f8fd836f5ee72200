"""Objects that a new API server creates: system namespaces, priority classes, RBAC policy, APIServices."""
