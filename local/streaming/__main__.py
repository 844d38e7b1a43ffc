"""Serve the query application with streaming: `python -m local.streaming --port 8082 …`.

The function's own environment (RECTO_…) is expected, as the laptop stack sets it.
"""

import argparse

import uvicorn

from local.streaming.authorizer import Authorized, Tokens


def main() -> None:
    """Read the command line and serve until stopped."""
    parser = argparse.ArgumentParser(prog="python -m local.streaming", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--aws-url", required=True, help="where the user pool publishes its keys")
    parser.add_argument("--pool", required=True, help="id of the user pool")
    parser.add_argument("--client", required=True, help="id of the pool's client")
    arguments = parser.parse_args()

    from functions.query.bootstrap import warm
    from functions.query.streaming_app import app

    warm()
    tokens = Tokens(
        keys_url=f"{arguments.aws_url}/{arguments.pool}/.well-known/jwks.json",
        pool=arguments.pool,
        client_id=arguments.client,
    )
    uvicorn.run(
        Authorized(app, tokens),
        host=arguments.host,
        port=arguments.port,
        log_level="warning",
        timeout_graceful_shutdown=2,
        timeout_keep_alive=75,
    )


if __name__ == "__main__":
    main()
