"""Places an order, reads it back and cancels it: python3 place_order.py [URL]. PRIVATE_KEY=0x.. is the wallet.
Packages: ecdsa, pycryptodomex, requests (Debian: python3-ecdsa, python3-pycryptodome, python3-requests)."""
import base64, decimal, hashlib, hmac, json, os, secrets, sys, time, requests
from Cryptodome.Hash import keccak
from ecdsa import SECP256k1, SigningKey, VerifyingKey
from ecdsa.util import sigencode_string_canonize

url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:3000"
key = SigningKey.from_string(bytes.fromhex(os.environ.get("PRIVATE_KEY", secrets.token_hex(32))[-64:]), SECP256k1)

def k256(data):
    return keccak.new(digest_bits=256, data=data if isinstance(data, bytes) else data.encode()).digest()

def struct(kind, *values):  # hashes of texts are words already; numbers and hex texts are padded to 32 bytes
    numbers = [int(v, 0) if isinstance(v, str) else v for v in values]
    return k256(k256(kind) + b"".join(v if isinstance(v, bytes) else v.to_bytes(32, "big") for v in numbers))

def sign(domain, message):  # the digest, which is the id of an order, and r, s, v with the smaller s
    digest = k256(b"\x19\x01" + domain + message)
    rs = key.sign_digest_deterministic(digest, hashlib.sha256, sigencode_string_canonize)
    signers = VerifyingKey.from_public_key_recovery_with_digest(rs, digest, SECP256k1, hashlib.sha256)
    return "0x" + digest.hex(), f"0x{rs.hex()}{27 + signers.index(key.verifying_key):02x}"

def call(method, path, body="", **credentials):
    headers = {f"{info['credential_prefix']}_{name}": value for name, value in credentials.items()}
    answer = requests.request(method, url + path, data=body, headers=headers, timeout=30)
    return answer.json() if answer.ok else sys.exit(f"{method} {path}: {answer.status_code} {answer.text}")

def level2(method, path, body=""):  # signs the body as it is sent, byte for byte
    now = str(int(time.time()))
    mac = hmac.new(base64.urlsafe_b64decode(trio["secret"]), (now + method + path + body).encode(), "sha256")
    own = {"ADDRESS": address, "API_KEY": trio["apiKey"], "PASSPHRASE": trio["passphrase"]}
    return call(method, path, body, TIMESTAMP=now, SIGNATURE=mac.hexdigest(), **own)

DOMAIN = "EIP712Domain(string name,string version,uint256 chainId"
address, now = "0x" + k256(key.verifying_key.to_string())[-20:].hex(), str(int(time.time()))
info = requests.get(url + "/exchange-info", timeout=30).json()
domain = struct(DOMAIN + ")", k256("ClobAuthDomain"), k256("1"), info["chain_id"])
proof = struct("ClobAuth(address address,string timestamp,uint256 nonce,string message)", address, k256(now), 0,
               k256("This message attests that I control the given wallet"))
trio = call("POST", "/auth/api-key", ADDRESS=address, SIGNATURE=sign(domain, proof)[1], TIMESTAMP=now, NONCE="0")
listed = call("GET", "/gamma/markets?active=true&closed=false&limit=100")  # those of version v2 take other orders
token = next(json.loads(each["clobTokenIds"])[0] for each in listed if each.get("version") != "v2")
book, fee = call("GET", f"/book?token_id={token}"), call("GET", f"/fee-rate?token_id={token}")
shares = int(decimal.Decimal(book["min_order_size"]) * 10**6)  # all amounts in millionths
cost = int(decimal.Decimal(book["tick_size"]) * shares)  # a bid of one tick
order = {"salt": secrets.randbits(48), "maker": address, "signer": address, "taker": "0x" + "0" * 40,
         "tokenId": token, "makerAmount": cost, "takerAmount": shares, "expiration": 0, "nonce": 0,
         "feeRateBps": fee["base_fee"], "side": 0, "signatureType": 0}
kind = ("Order(uint256 salt,address maker,address signer,address taker,uint256 tokenId,uint256 makerAmount,"
        "uint256 takerAmount,uint256 expiration,uint256 nonce,uint256 feeRateBps,uint8 side,uint8 signatureType)")
contract = info["neg_risk_exchange_address" if book["neg_risk"] else "exchange_address"]
domain = [k256(info["domain"]["name"]), k256(info["domain"]["version"]), info["chain_id"], contract]
digest, signature = sign(struct(DOMAIN + ",address verifyingContract)", *domain), struct(kind, *order.values()))
sent = {name: str(value) for name, value in order.items()} | {"side": "BUY", "signatureType": 0, "signature": signature}
item = {"order": sent | {"conditionId": book["market"]}, "orderType": "GTC", "owner": trio["apiKey"]}
placed = level2("POST", "/order", json.dumps(item))
print("order:", placed["status"] if placed["orderID"] == digest else placed)
print("open:", [(each["original_size"], each["price"]) for each in level2("GET", "/data/orders")["data"]])
print("canceled:", level2("DELETE", "/order", json.dumps({"orderID": digest}))["canceled"] == [digest])
