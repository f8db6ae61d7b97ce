"""Places, reads and cancels an order with py-clob-client: python3 py_clob_client.py [URL]. PRIVATE_KEY=0x.. is the wallet.
Package: py-clob-client. No test runs this file. The node: CLIENT_PROFILE=polymarket npm start"""
import json, os, secrets, sys, urllib.request
from py_clob_client.client import ClobClient
from py_clob_client.clob_types import OrderArgs

url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:3000"
key = os.environ.get("PRIVATE_KEY", "0x" + secrets.token_hex(32))

def read(path):
    with urllib.request.urlopen(url + path, timeout=30) as answer:
        return json.load(answer)

client = ClobClient(url, key=key, chain_id=read("/exchange-info")["chain_id"])
client.set_api_creds(client.create_or_derive_api_creds())
listed = read("/gamma/markets?active=true&closed=false&limit=100")
# It knows ticks that are powers of ten, and signs no orders of version 3, which markets of positions ask for.
known = [each for each in listed if each.get("version") != "v2"]
market = next(each for each in known if each["orderPriceMinTickSize"] in (0.01, 0.001))
token = json.loads(market["clobTokenIds"])[0]
terms = OrderArgs(token_id=token, price=float(market["orderPriceMinTickSize"]), size=10, side="BUY")
placed = client.create_and_post_order(terms)
print("order:", placed["status"])
print("open:", len(client.get_orders()))
print("canceled:", client.cancel(placed["orderID"])["canceled"] == [placed["orderID"]])
