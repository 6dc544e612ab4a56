package import TestSupport

/// The credentials of a user, and the settings of a server that knows its account: an operator, an account with
/// JetStream and the system's account, all new. `nsc` makes the same files.
package struct TestCredentials: Sendable {
    package let folder: ScratchFolder
    /// The lines of the server's configuration.
    package let settings: String

    /// The file with the user's JWT and seed. The user may not publish to `forbidden`.
    package var file: String { folder.path("user.creds") }

    package init() async throws {
        folder = try ScratchFolder()
        settings = try await TestProgram("python3", ["-c", Self.script, folder.path]).output()
    }

    /// Writes the user's file, and prints the settings.
    private static let script = #"""
        import base64, json, os, subprocess, sys, time

        folder = sys.argv[1]

        def crc16(data):
            crc = 0
            for byte in data:
                crc ^= byte << 8
                for _ in range(8):
                    crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xffff
            return crc

        def encode(data):
            return base64.b32encode(data + crc16(data).to_bytes(2, "little")).decode().rstrip("=")

        class Key:
            """An nkey, whose public text begins with `letter`."""
            def __init__(self, letter):
                prefix = {"O": 14, "A": 0, "U": 20}[letter] << 3
                self.raw = os.urandom(32)
                # RFC 8410: the private key of Ed25519.
                self.der = bytes.fromhex("302e020100300506032b657004220420") + self.raw
                point = self.openssl("pkey", "-inform", "DER", "-pubout", "-outform", "DER", input=self.der)[-32:]
                self.public = encode(bytes([prefix]) + point)
                self.seed = encode(bytes([18 << 3 | prefix >> 5, (prefix & 31) << 3]) + self.raw)

            def openssl(self, *arguments, input=None):
                return subprocess.run(["openssl", *arguments], input=input, check=True, stdout=subprocess.PIPE).stdout

            def token(self, subject, **nats):
                """A JWT that this key signs."""
                def text(value):
                    return base64.urlsafe_b64encode(value).rstrip(b"=")
                claims = {"jti": "test", "iat": int(time.time()), "iss": self.public, "name": "test", "sub": subject.public,
                          "nats": {"version": 2, **nats}}
                content = text(b'{"typ":"JWT","alg":"ed25519-nkey"}') + b"." + text(json.dumps(claims).encode())
                files = [os.path.join(folder, name) for name in ("content", "key.der")]
                for path, data in zip(files, [content, self.der]):
                    with open(path, "wb") as file:
                        file.write(data)
                signature = self.openssl("pkeyutl", "-sign", "-rawin", "-in", files[0], "-keyform", "DER", "-inkey", files[1])
                return (content + b"." + text(signature)).decode()

        operator, account, system, user = Key("O"), Key("A"), Key("A"), Key("U")
        limits = {name: -1 for name in ("subs", "data", "payload", "imports", "exports", "conn", "leaf")}
        # The system account must not have JetStream.
        storage = {name: -1 for name in ("mem_storage", "disk_storage", "streams", "consumer")}
        accounts = {
            account.public: operator.token(account, type="account", limits={**limits, "wildcards": True, **storage}),
            system.public: operator.token(system, type="account", limits={**limits, "wildcards": True}),
        }
        rights = {"pub": {"deny": ["forbidden"]}, "sub": {}}
        with open(os.path.join(folder, "user.creds"), "w") as file:
            file.write("-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n"
                       "-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n"
                       % (account.token(user, type="user", subs=-1, data=-1, payload=-1, **rights), user.seed))
        print("operator: %s\nresolver: MEMORY\nsystem_account: %s" % (operator.token(operator, type="operator"), system.public))
        print("resolver_preload: {%s}" % ", ".join('%s: "%s"' % item for item in accounts.items()))
        """#
}
