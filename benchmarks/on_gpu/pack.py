"""Packs a trained pair into files that may be copied, and joins them.

    python -m benchmarks.on_gpu.pack PAIR OUT     # OUT/pair.0, OUT/pair.1, ...
    python -m benchmarks.on_gpu.pack --join OUT PAIR

The files of the pair are put into one archive, in which the low bytes of the 16-bit weights stand before
the high bytes: the high bytes hold the exponents and become a third as large. Packing fails if the pair is
not finished, or if it needs more than four files of 14 MiB, and then leaves none.
"""

import argparse
import io
import json
import lzma
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.on_gpu.stages import finished

PIECE = 14 * 2**20
"""Bytes of the largest file."""

PIECES = 4
"""Number of files at most."""

BLOCK = 8 * 2**20
"""Bytes that are compressed at once, so that several processors take part."""


def packed(data: bytes) -> bytes:
    """The archive, compressed.

    >>> unpacked(packed(b"abcde")) == b"abcde"
    True
    """
    pairs = np.frombuffer(data + b"\0" * (len(data) % 2), dtype=np.uint8).reshape(-1, 2)
    turned = pairs.T.tobytes()
    blocks = [turned[start : start + BLOCK] for start in range(0, len(turned), BLOCK)]
    with ThreadPoolExecutor() as threads:  # lzma lets other threads run
        made = threads.map(lambda block: lzma.compress(block, preset=1), blocks)
        return len(data).to_bytes(8, "big") + b"".join(made)


def unpacked(data: bytes) -> bytes:
    """The inverse of `packed`."""
    turned = np.frombuffer(lzma.decompress(data[8:]), dtype=np.uint8).reshape(2, -1)
    return turned.T.tobytes()[: int.from_bytes(data[:8], "big")]


def pack(pair: Path, out: Path) -> list[Path]:
    """Writes pair.0, pair.1, ... into `out`; ValueError if the pair is not finished or too large."""
    if not finished(pair):
        raise ValueError(f"{pair}: no finished pair")
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for path in sorted(path for path in pair.rglob("*") if path.is_file()):
            tar.add(path, path.relative_to(pair).as_posix())
    data = packed(archive.getvalue())
    pieces = [data[start : start + PIECE] for start in range(0, len(data), PIECE)]
    if len(pieces) > PIECES:
        raise ValueError(f"{pair}: {len(data):,} bytes compressed, more than {PIECES} files of {PIECE:,}")
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("pair.*"):
        old.unlink()
    files = [out / f"pair.{number}" for number in range(len(pieces))]
    for file, piece in zip(files, pieces, strict=True):
        file.write_bytes(piece)
    return files


def join(out: Path, pair: Path) -> None:
    """Makes the folder of the pair from the files in `out`; ValueError if they are not whole."""
    if pair.exists() and any(pair.iterdir()):
        raise ValueError(f"{pair}: is not empty")
    files = [out / f"pair.{number}" for number in range(len([*out.glob("pair.*")]))]
    try:
        data = unpacked(b"".join(file.read_bytes() for file in files))
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            tar.extractall(pair, filter="data")
    except (OSError, EOFError, lzma.LZMAError, tarfile.TarError, ValueError) as error:
        raise ValueError(f"{out}: pair.0, pair.1, ... are not whole: {error}") from None


def main() -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.on_gpu.pack", description=__doc__, formatter_class=plain
    )
    parser.add_argument("--join", action="store_true", help="join instead of packing")
    parser.add_argument("source", type=Path)
    parser.add_argument("into", type=Path)
    options = parser.parse_args()
    try:
        if options.join:
            join(options.source, options.into)
            return 0
        files = pack(options.source, options.into)
    except ValueError as error:
        parser.error(str(error))
    print(json.dumps({"files": {file.name: file.stat().st_size for file in files}}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
