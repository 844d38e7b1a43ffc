"""An emulator of the OpenAI API on the wire: real MiniLM embeddings, extractive chat, no account."""
