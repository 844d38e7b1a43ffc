"""Word lists for LlamaIndex's sentence splitter."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path


def give_nltk_its_data(folder: Path) -> None:
    """Copy the word lists LlamaIndex ships, because NLTK refuses hard links and uv installs by hard links."""
    spec = find_spec("llama_index.core") if find_spec("llama_index") else None
    if spec is None or spec.origin is None:
        return
    shipped = Path(spec.origin).parent / "_static" / "nltk_cache"
    for part in ("corpora/stopwords", "tokenizers/punkt_tab"):
        if (shipped / part).is_dir() and not (folder / part).is_dir():
            shutil.copytree(shipped / part, folder / part)
    os.environ["NLTK_DATA"] = str(folder.resolve())
