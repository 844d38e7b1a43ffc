"""The authorizer that API Gateway asks who a request comes from."""
