"""Three sample PDFs of our own making, the texts they are made from, and questions about them."""
