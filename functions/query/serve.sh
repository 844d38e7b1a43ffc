#!/bin/sh
# Start-up command of the streaming function: the Lambda Web Adapter runs this and forwards each request to the port.
exec python3 -m uvicorn functions.query.streaming_app:app --host 127.0.0.1 --port "${AWS_LWA_PORT:-8080}" \
  --log-level warning --no-access-log --timeout-keep-alive 75
