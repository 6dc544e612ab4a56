"""Prints the offset, topic, attributes and data of all messages in the journal of a bus on NATS, without Segue.

Arguments: host, port and stream. The stream has the name of the bus's namespace, such as SEGUE. Only clients of the bus
may write to it.

- A message of NATS under `NAME.m.>` is a batch. Its header `Segue-Batch` is the number of its messages, 0 to 1024. Its
  body has them as they are published (docs/wire-protocol.md): topic, subject, key, header, data.
- Message i of n has the offset sequence * 1024 + 1024 - n + i, from i = 0. The epoch is `segue-epoch` in the stream's
  metadata, hexadecimal.
- Messages under `NAME.k.>` are records of the bus. The streams NAME_DOC and NAME_DEAD are computed from the journal.
- Missing sequences are replaced records, batches that retention has removed, or damage.

The program asks the leading server. A pull consumer is faster, but reads any server.
"""

import base64, json, socket, struct, sys

host, port, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
server = socket.create_connection((host, port))
lines = server.makefile("rb")
server.sendall(b'CONNECT {"verbose":false}\r\nSUB replies 1\r\n')

def ask(operation, request):
    body = json.dumps(request).encode()
    server.sendall(b"PUB $JS.API.%s replies %d\r\n%s\r\n" % (operation.encode(), len(body), body))
    while True:
        line = lines.readline().split()
        if line[0] == b"MSG":
            return json.loads(lines.read(int(line[-1]) + 2))
        if line[0] == b"PING":
            server.sendall(b"PONG\r\n")

sequence = 0
while True:
    reply = ask("STREAM.MSG.GET." + name, {"seq": sequence + 1, "next_by_subj": name + ".m.>"})
    if reply.get("error", {}).get("err_code") == 10037:
        break  # no more messages
    stored = reply["message"]
    sequence = stored["seq"]
    text = base64.b64decode(stored["hdrs"]).decode()
    headers = dict(line.split(": ", 1) for line in text.split("\r\n") if ": " in line)
    body, at = base64.b64decode(stored.get("data", "")), 0
    count = int(headers["Segue-Batch"])
    for index in range(count):
        fields = []
        for length in (">H", ">H", ">H", ">I", ">I"):
            (size,) = struct.unpack_from(length, body, at)
            at += struct.calcsize(length) + size
            fields.append(body[at - size:at].decode())
        topic, subject, key, header, data = fields
        print(sequence * 1024 + 1024 - count + index, topic, header, data, sep="\t")
