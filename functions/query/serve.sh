#!/bin/sh
# Start-up command of the streaming function: the Lambda Web Adapter runs this and forwards each request to the port.
# Lambda's own runtime finds a layer's packages in /opt/python by itself; this one is told.
export PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}/opt/python"
exec python3 -m uvicorn functions.query.streaming_app:app --host 127.0.0.1 --port "${AWS_LWA_PORT:-8080}" \
  --log-level warning --no-access-log --timeout-keep-alive 75
