"""Rows of a recording, and the last best prices of each token: load_recording.py FILE

FILE is a .rec or .jsonl, read by Python alone, or a .npz, which needs numpy. Parquet is a call of pandas:
pandas.read_parquet(FILE). `npm run cli -- record convert IN OUT` writes one as another.
"""
import gzip, json, sys
from pathlib import Path

def load(path):
    """Yields (arrival, time, kind, token, side, price, size): unix milliseconds; kind is clear, level or trade."""
    if path.suffix == ".npz":
        import numpy
        for ev, time, arrival, price, size, *_ in numpy.load(path)["data"].tolist():
            kind, side = [None, "level", "trade", "clear", "level"][ev & 255], "BUY" if ev & 1 << 29 else "SELL"
            yield arrival // 10**6, time // 10**6, kind, path.stem, side, price, size
        return
    for line in gzip.open(path, "rt") if path.read_bytes()[:2] == b"\x1f\x8b" else path.open():
        entry = json.loads(line)
        message = entry.get("message", entry)
        of = entry.get("at", message.get("timestamp")), int(message.get("timestamp", 0))
        kind, token = message.get("event_type"), message.get("asset_id")
        number = lambda level: (float(level["price"]), float(level["size"]))
        if kind == "book":
            for side, levels in (("BUY", message["bids"]), ("SELL", message["asks"])):
                yield (*of, "clear", token, side, 0.0, 0.0)
                yield from ((*of, "level", token, side, *number(level)) for level in levels)
        if kind == "last_trade_price":
            yield (*of, "trade", token, message["side"], *number(message))
        for c in message.get("price_changes") or message.get("changes") or []:
            yield (*of, "level", c.get("asset_id", token), c["side"], *number(c))

books, trades = {}, 0
for _, _, kind, token, side, price, size in load(Path(sys.argv[1])):
    book = books.setdefault(token, {"BUY": {}, "SELL": {}})
    trades += kind == "trade"
    if kind == "clear":
        book[side].clear()
    elif kind == "level":
        book[side].update({price: size}) if size else book[side].pop(price, None)
for token, book in sorted(books.items()):
    print(token, "bid", max(book["BUY"], default="-"), "ask", min(book["SELL"], default="-"))
print("trades", trades)
