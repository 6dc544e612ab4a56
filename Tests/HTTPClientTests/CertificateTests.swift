import Foundation
import HTTPClient
import HTTPTypes
import Subprocess
import TestSupport
import Testing

@Suite("HTTP client with certificates", .timeLimit(.minutes(1)))
struct CertificateTests {
    /// Runs OpenSSL's test server with a self-signed certificate for `localhost`.
    private func withServer(
        _ body: (_ port: Int, _ certificate: String) async throws -> Void
    ) async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let (certificate, key) = (scratch.path("certificate.pem"), scratch.path("key.pem"))
        let made = try await run(
            .name("openssl"),
            arguments: [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key,
                "-out", certificate,
            ], output: .discarded, error: .string(limit: 1 << 16))
        try #require(made.terminationStatus.isSuccess, "\(made.standardError)")
        _ = try await run(
            .name("openssl"),
            arguments: ["s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www"],
            input: .none, output: .sequence, error: .discarded
        ) { execution in
            defer { try? execution.send(signal: .kill) }
            for try await line in execution.standardOutput.strings() {
                // The first line of its output is `ACCEPT 127.0.0.1:41234`.
                guard let port = line.firstMatch(of: #/^ACCEPT .*:(\d+)/#).flatMap({ Int($0.1) }) else { continue }
                try await body(port, certificate)
                return
            }
        }
    }

    private func status(_ url: String, trusting authorities: String? = nil) async throws -> Int {
        try await HTTPClient.with(authorities: authorities) { client in
            try await client.send(HTTPClient.Request(.get, url), deadline: .seconds(30), maximumBody: 1 << 20)
        }.status.code
    }

    @Test("An answer over TLS is accepted only from a server with a trusted certificate for its name")
    func certificates() async throws {
        try await withServer { port, certificate in
            let status = try await status("https://localhost:\(port)/", trusting: certificate)
            #expect(status == 200)

            let untrusted = await #expect(throws: HTTPClient.Failure.self) {
                try await self.status("https://localhost:\(port)/")
            }
            #expect(untrusted?.code == .certificate)

            let misnamed = await #expect(throws: HTTPClient.Failure.self) {
                try await self.status("https://127.0.0.1:\(port)/", trusting: certificate)
            }
            #expect(misnamed?.code == .certificate)
        }
    }
}
