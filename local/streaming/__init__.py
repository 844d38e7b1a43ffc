"""The laptop's streaming port: the query application under uvicorn, behind an authorizer like API Gateway's."""
