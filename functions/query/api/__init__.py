"""The HTTP surface: routes, schemas, problem details, server-sent events, the request deadline."""
