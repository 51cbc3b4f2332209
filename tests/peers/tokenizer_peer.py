#!/usr/bin/env python3
"""The Rust `tokenizers` peer of our WordPiece: one launch over whole files, on one thread.

Loads a vocabulary, reads the files into memory, then times encode_batch alone. Prints one JSON line with the rate and a
digest of all ids, which holds both sides to equal ids on every line. Needs tokenizers (scripts/install-deps peers).

The digest is FNV-1a (64 bit) over 32-bit words: for each line that is not empty, its ids and then 0xffffffff.
"""

import argparse
import gzip
import json
import os
import pathlib
import resource
import sys
import time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import tokenizers  # pylint: disable=wrong-import-position
from tokenizers import models, normalizers, pre_tokenizers  # pylint: disable=wrong-import-position

LINES_A_CALL = 1000


def wordpiece(vocabulary, lowercase):
    """BERT's tokenizer without special tokens."""
    model = models.WordPiece.from_file(str(vocabulary), unk_token="[UNK]", max_input_chars_per_word=100)
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def lines_of(paths):
    """Every line that is not empty, in order, without its line break; .gz files are unpacked."""
    found = []
    for path in paths:
        for file in sorted(path.glob("*.txt*")) if path.is_dir() else [path]:
            opener = gzip.open if file.suffix == ".gz" else open
            with opener(file, "rt", encoding="utf-8", newline="\n") as text:
                found += [line for line in text.read().split("\n") if line]
    if not found:
        sys.exit(f"tokenizer_peer: no text in {', '.join(map(str, paths))}")
    return found


def digest_of(encodings):
    """The digest that the module's docstring describes, as 16 hex digits."""
    value = 0xCBF29CE484222325
    for ids in encodings:
        for word in (*ids, 0xFFFFFFFF):
            value = ((value ^ word) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocab", type=pathlib.Path, required=True, help="vocab.txt of a BERT model")
    parser.add_argument("--cased", action="store_true")
    parser.add_argument("--ids", type=pathlib.Path, help="also write the ids, one line of text each, to this file")
    parser.add_argument("text", type=pathlib.Path, nargs="+", help="text files (.gz too), or folders of them")
    arguments = parser.parse_args()
    tokenizer = wordpiece(arguments.vocab, lowercase=not arguments.cased)
    lines = lines_of(arguments.text)
    size = sum(len(line.encode()) + 1 for line in lines)
    ids, seconds = [], 0.0
    for at in range(0, len(lines), LINES_A_CALL):
        chunk = lines[at : at + LINES_A_CALL]
        begin = time.perf_counter()
        encoded = tokenizer.encode_batch(chunk, add_special_tokens=False)
        seconds += time.perf_counter() - begin
        ids += [encoding.ids for encoding in encoded]
    if arguments.ids:
        arguments.ids.write_text("".join(" ".join(map(str, line)) + "\n" for line in ids))
    tokens = sum(map(len, ids))
    result = {
        "tokens_per_second": tokens / seconds,
        "megabytes_per_second": size / seconds / 1e6,
        "seconds": seconds,
        "lines": len(lines),
        "tokens": tokens,
        "digest": digest_of(ids),
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "version": f"tokenizers {tokenizers.__version__}",
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
