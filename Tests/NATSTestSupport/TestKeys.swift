internal import Foundation
package import NATS
internal import Sodium
package import TestSupport

/// A folder with certificates of a new authority for `localhost` and for a client, and the seeds of users.
package struct TestKeys: Sendable {
    package let folder: ScratchFolder
    private let users: [String: String]

    package init(users names: [String]) async throws {
        let folder = try ScratchFolder()
        self.folder = folder
        var users: [String: String] = [:]
        for name in names {
            let nkey = NKey()
            users[name] = nkey.publicKey
            try "# a comment\n\(nkey.seed)\n".write(
                toFile: folder.path("\(name).nk"), atomically: true, encoding: .utf8)
        }
        self.users = users
        let script = """
            set -e
            cd "$1"
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem \
                -days 2 -subj /CN=authority
            for name in server client; do
                openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $name.key -out $name.csr \
                    -subj /CN=$name
                echo subjectAltName=DNS:localhost >$name.ext
                openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
                    -extfile $name.ext -out $name.pem
            done
            """
        try await TestProgram("/bin/sh", ["-c", script, "sh", folder.path]).output()
    }

    /// The public nkey of a user.
    package func key(of user: String) -> String { users[user] ?? "" }

    /// The file with a user's seed.
    package func seedFile(of user: String) -> String { folder.path("\(user).nk") }

    package var authorityFile: String { folder.path("ca.pem") }
    package var certificateFile: String { folder.path("client.pem") }
    package var keyFile: String { folder.path("client.key") }

    /// The lines of a server's configuration that require certificates of the authority.
    package var tls: String {
        """
        tls {
          cert_file: "\(folder.path("server.pem"))", key_file: "\(folder.path("server.key"))"
          ca_file: "\(authorityFile)", verify: true
        }
        """
    }

    package func options(of user: String, _ server: NATSServer) -> NATSOptions {
        var options = NATSOptions(servers: ["tls://localhost:\(server.port)"], name: "test")
        options.authorityFile = authorityFile
        options.certificateFile = certificateFile
        options.keyFile = keyFile
        options.nkeyFile = seedFile(of: user)
        return options
    }
}
