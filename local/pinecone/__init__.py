"""An emulator of Pinecone on the wire: control plane and data plane (vectors API, 2026-07) on one port.

    python -m local.pinecone --port 5081 --state .state/pinecone [--visibility-delay-s 2]

`app` routes, `operations/` holds one file per operation family (its fields, its rules, its answer), `database` keeps
the indexes and orders writes, `namespace` searches one namespace in memory, `storage` is the SQLite file below.
Exact search; durable over kill -9; error bodies, limits and headers as the vendor has them.
"""
