"""Does a running OpenAI-compatible server sample as it should? Sequential tests over HTTP."""
