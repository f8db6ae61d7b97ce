# A strategy for `backtest day.rec --command "python3 backtest_strategy.py"`: joins the best bid of each book once.
import json, sys
def say(**line): print(json.dumps(line), flush=True)
say(type="strategy", name="joiner", parameters={"size": 10}, events=["book"])
for line in sys.stdin:
    event = json.loads(line)
    if event["type"] == "start": size, placed = event["parameters"]["size"], set()
    elif event["bid"] is not None and event["token"] not in placed:
        placed.add(event["token"])
        say(type="place", token=event["token"], side="BUY", price=event["bid"], size=size)
    say(type="done")
